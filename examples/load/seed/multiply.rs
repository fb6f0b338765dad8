//! One event's rows, in every table, as often as wanted.

use rusqlite::{Connection, params};

/// Events of one transaction.
const AT_ONCE: u64 = 100_000;

/// The numbers of an event that the store has written, and of what hangs on it.
#[derive(Clone, Copy)]
pub(super) struct Example {
    pub(super) event: i64,
    pub(super) run: Option<i64>,
    pub(super) delivery: Option<i64>,
}

/// A delivery id that no other event has. Spread over the index as providers' ids are, not in order of arrival.
const DELIVERY_ID: &str = "printf('%08x-%012x', ((?2 + n) * 2654435761) & 4294967295, ?2 + n)";

/// Adds `count` copies of an event. The first one is received at `time`, each further one a millisecond later.
pub(super) fn event(connection: &Connection, example: Example, count: u64, time: i64) {
    let mut made = 0;
    while made < count {
        let now = AT_ONCE.min(count - made);
        connection.execute_batch("BEGIN").expect("a transaction");
        let time = time + i64::try_from(made).expect("a count");
        Copying { connection, example, count: now, time }.all();
        connection.execute_batch("COMMIT").expect("a commit");
        made += now;
    }
}

/// Gives the example itself the time of those that were made of it.
pub(super) fn set_time(connection: &Connection, example: Example, time: i64) {
    connection
        .execute("UPDATE events SET received_at = ?2, finished_at = ?2 WHERE seq = ?1", params![example.event, time])
        .expect("a time");
}

struct Copying<'a> {
    connection: &'a Connection,
    example: Example,
    count: u64,
    time: i64,
}

impl Copying<'_> {
    fn all(&self) {
        let last = |table: &str| -> i64 {
            let sql = format!("SELECT coalesce(max(seq), 0) FROM {table}");
            self.connection.query_row(&sql, [], |row| row.get(0)).expect("the last number")
        };
        let (events, runs, deliveries) = (last("events"), last("runs"), last("deliveries"));
        let time = format!("{} + n", self.time);
        let (run_seq, delivery_seq) = (format!("{runs} + n"), format!("{deliveries} + n"));
        let (id, key) = (fresh_id("?2"), format!("replace(t.key, {}, {DELIVERY_ID})", self.delivery_id()));
        let route = "CASE WHEN t.route LIKE 'other-%' THEN 'other-' || (n % 10) ELSE t.route END";
        let at = [("seq", "?2 + n"), ("event_seq", "?2 + n"), ("run_seq", &run_seq), ("route", route)];
        let with = |more: &[(&'static str, &str)]| {
            at.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Vec<_>>()
        };
        let finished = format!("CASE WHEN t.finished_at IS NULL THEN NULL ELSE {time} END");
        // The store lets only the head of a line be ready.
        let ready = "CASE WHEN t.line IS NULL THEN t.ready ELSE 0 END";
        let columns = with(&[
            ("id", &id),
            ("delivery_id", DELIVERY_ID),
            ("key", &key),
            ("received_at", &time),
            ("finished_at", &finished),
            ("ready", ready),
        ]);
        self.copy("events", "seq = ?1", &columns, self.example.event, events);
        let headers = format!("replace(t.headers, {}, {DELIVERY_ID})", self.delivery_id());
        self.copy("requests", "event_seq = ?1", &with(&[("headers", &headers)]), self.example.event, events);
        self.copy("keys", "event_seq = ?1", &with(&[("key", &key)]), self.example.event, events);
        if let Some(run) = self.example.run {
            let times = [("started_at", time.as_str()), ("finished_at", &time)];
            let id = fresh_id(&runs.to_string());
            let columns = with(&[("seq", &run_seq), ("id", &id), times[0], times[1]]);
            self.copy("runs", "seq = ?1", &columns, run, events);
            self.copy("run_texts", "run_seq = ?1", &with(&[]), run, events);
        }
        if let Some(delivery) = self.example.delivery {
            let id = fresh_id(&deliveries.to_string());
            let times = [("created_at", time.as_str()), ("delivered_at", &time)];
            let columns = with(&[("seq", &delivery_seq), ("id", &id), times[0], times[1]]);
            self.copy("deliveries", "seq = ?1", &columns, delivery, events);
        }
    }

    /// The example's own delivery id, as SQL.
    fn delivery_id(&self) -> String {
        format!("(SELECT delivery_id FROM events WHERE seq = {})", self.example.event)
    }

    /// Copies the row that `wanted` finds, with `columns` of it made new; the later of two for one column counts.
    fn copy(&self, table: &str, wanted: &str, columns: &[(String, String)], example: i64, events: i64) {
        let names: Vec<String> = self
            .connection
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect())
            .expect("the table's columns");
        let value = |name: &String| {
            let new = columns.iter().rev().find(|(column, _)| column == name);
            new.map_or_else(|| format!("t.{name}"), |(_, value)| value.clone())
        };
        let values: Vec<String> = names.iter().map(value).collect();
        let sql = format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?3)
             INSERT INTO {table} ({}) SELECT {} FROM numbers, (SELECT * FROM {table} WHERE {wanted}) t WHERE ?2 = ?2",
            names.join(", "),
            values.join(", ")
        );
        let rows = self.connection.execute(&sql, params![example, events, self.count]);
        assert_eq!(rows.expect("copies") as u64, self.count, "rows of {table}");
    }
}

/// The example's id with another end: ids of one kind are in order of arrival, as those of the store are.
fn fresh_id(base: &str) -> String {
    format!("substr(t.id, 1, length(t.id) - 12) || printf('%012x', {base} + n)")
}
