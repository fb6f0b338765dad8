//! How long the write-ahead log gets.

use std::path::Path;
use std::sync::Arc;

use tempfile::tempdir;

use super::{T0, fill, open};
use crate::{Error, Ledger as _};

const MIB: u64 = 1 << 20;

fn log_size(home: &Path) -> u64 {
    std::fs::metadata(home.join("doorbell.db-wal")).map_or(0, |file| file.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_stays_short_while_events_come() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    let mut longest = 0;
    for round in 0..8 {
        assert_eq!(fill(&store, &format!("r{round}_"), 80).await, (80, None));
        longest = longest.max(log_size(home.path()));
    }
    // 160 MiB were written.
    assert!(longest < 96 * MIB, "the log had {} MiB", longest / MIB);
    store.close().await;
    assert_eq!(log_size(home.path()), 0, "a close leaves no log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_somebody_keeps_from_ending_has_a_cap_and_runs_still_end() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    let boot = store.begin_boot("one", T0).await.unwrap();
    assert_eq!(fill(&store, "a", 8).await, (8, None));
    let foreign = rusqlite::Connection::open(home.path().join("doorbell.db")).unwrap();
    foreign.execute_batch("BEGIN; SELECT count(*) FROM events;").unwrap();
    let (mut stored, refused) = fill(&store, "b", 800).await;
    assert_eq!(refused, Some(Error::Busy), "{stored} were taken");
    assert_eq!(store.probe().await, Err(Error::Busy), "it is not ready for events");
    assert!(log_size(home.path()) < 128 * MIB, "the log has {} MiB", log_size(home.path()) / MIB);
    // What is under way goes on.
    assert!(store.pause("elsewhere", T0).await.unwrap());
    assert!(store.begin_boot("one", T0).await.unwrap() > boot);
    foreign.execute_batch("COMMIT").unwrap();
    // The copying is tried again by itself; nobody has to write for that.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while store.probe().await.is_err() {
        assert!(std::time::Instant::now() < end, "the log is never copied");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(fill(&store, "c", 80).await, (80, None));
    stored += 8 + 80;
    let counted: u64 = store.status().await.unwrap().events.values().sum();
    assert_eq!(counted, u64::from(stored));
    assert!(log_size(home.path()) < 128 * MIB);
    store.close().await;
}
