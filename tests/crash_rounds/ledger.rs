//! The ledger as it lies on the disk after a death, read from a copy: the next life is to find it as it was left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rusqlite::Connection;

/// What a dead gateway left.
pub(crate) struct Left {
    /// The events, with their place in the order of arrival.
    pub(crate) events: BTreeMap<String, i64>,
    /// All runs.
    pub(crate) runs: BTreeSet<String>,
    /// Those in flight.
    pub(crate) running: BTreeSet<String>,
    /// Deliveries under way, with their target.
    pub(crate) sending: BTreeMap<String, String>,
    /// Deliveries that were taken up at least once.
    pub(crate) tried: BTreeSet<String>,
    pub(crate) ignored: usize,
    /// The number of the last life that got as far as to count itself.
    pub(crate) boot: i64,
}

/// Reads what was left, and wants it sound: no page is damaged, and every counter is what it counts.
pub(crate) fn left(home: &Path) -> Left {
    let copy = tempfile::tempdir().unwrap();
    for name in ["doorbell.db", "doorbell.db-wal"] {
        if home.join(name).exists() {
            fs::copy(home.join(name), copy.path().join(name)).unwrap();
        }
    }
    let ledger = Connection::open(copy.path().join("doorbell.db")).unwrap();
    let verdict: String = ledger.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    for (table, noun) in [("events", "event"), ("deliveries", "delivery")] {
        let rows = counts(&ledger, &format!("SELECT '{noun}.' || state, count(*) FROM {table} GROUP BY state"));
        let counters =
            counts(&ledger, &format!("SELECT name, value FROM counters WHERE name LIKE '{noun}.%' AND value <> 0"));
        assert_eq!(counters, rows, "counters and rows differ");
    }
    let events: BTreeMap<String, i64> = rows(&ledger, "SELECT id, seq FROM events");
    let running: BTreeMap<String, i64> = rows(&ledger, "SELECT id, seq FROM runs WHERE state = 'running'");
    let sending = rows(&ledger, "SELECT id, target FROM deliveries WHERE state = 'sending'");
    let tried: BTreeMap<String, i64> = rows(&ledger, "SELECT id, attempts FROM deliveries WHERE attempts > 0");
    let ignored = counts(&ledger, "SELECT 'ignored', count(*) FROM events WHERE state = 'ignored'");
    let runs: BTreeMap<String, i64> = rows(&ledger, "SELECT id, seq FROM runs");
    Left {
        events,
        runs: runs.into_keys().collect(),
        running: running.into_keys().collect(),
        sending,
        tried: tried.into_keys().collect(),
        ignored: usize::try_from(ignored["ignored"]).unwrap(),
        boot: counts(&ledger, "SELECT name, value FROM meta WHERE name = 'boot'")["boot"],
    }
}

fn counts(ledger: &Connection, sql: &str) -> BTreeMap<String, i64> {
    rows(ledger, sql)
}

fn rows<T: rusqlite::types::FromSql>(ledger: &Connection, sql: &str) -> BTreeMap<String, T> {
    let mut statement = ledger.prepare(sql).unwrap();
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}
