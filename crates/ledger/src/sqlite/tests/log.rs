//! How long the write-ahead log gets.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use tempfile::tempdir;
use tokio::task::JoinSet;

use super::{T0, admission, open};
use crate::sqlite::Store;
use crate::{Error, Ledger as _};

const MIB: u64 = 1 << 20;

fn log_size(home: &Path) -> u64 {
    std::fs::metadata(home.join("doorbell.db-wal")).map_or(0, |file| file.len())
}

/// 256 KiB that do not compress.
fn noise(number: u32) -> Vec<u8> {
    static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut state = 1_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        };
        (0..256 << 10).map(|_| next()).collect()
    });
    let mut bytes = NOISE.clone();
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// Admits events of 256 KiB, eight at a time, until `count` were taken or one is refused; how many were taken.
async fn fill(store: &Arc<Store>, prefix: &str, count: u32) -> (u32, Option<Error>) {
    let mut taken = 0;
    for first in (0..count).step_by(8) {
        let mut admissions = JoinSet::new();
        for number in first..first + 8 {
            let (store, id) = (Arc::clone(store), format!("ev_{prefix}{number}"));
            admissions.spawn(async move { store.admit(admission(&id, noise(number))).await });
        }
        let mut refused = None;
        for answer in admissions.join_all().await {
            match answer {
                Ok(_) => taken += 1,
                Err(error) => refused = Some(error),
            }
        }
        if refused.is_some() {
            return (taken, refused);
        }
    }
    (taken, None)
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
    let boot = store.begin_boot(T0).await.unwrap();
    assert_eq!(fill(&store, "a", 8).await, (8, None));
    let foreign = rusqlite::Connection::open(home.path().join("doorbell.db")).unwrap();
    foreign.execute_batch("BEGIN; SELECT count(*) FROM events;").unwrap();
    let (mut stored, refused) = fill(&store, "b", 800).await;
    assert_eq!(refused, Some(Error::Busy), "{stored} were taken");
    assert_eq!(store.probe().await, Err(Error::Busy), "it is not ready for events");
    assert!(log_size(home.path()) < 128 * MIB, "the log has {} MiB", log_size(home.path()) / MIB);
    // What is under way goes on.
    assert!(store.pause("elsewhere", T0).await.unwrap());
    assert!(store.begin_boot(T0).await.unwrap() > boot);
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
