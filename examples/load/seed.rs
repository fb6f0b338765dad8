//! Ledgers with many events, made fast: the store itself writes one event of a kind, and SQL multiplies all its rows.
//!
//! Rows of every table are those that the store wrote, with new numbers, ids, delivery ids and times; counters are kept by
//! the schema's own triggers; and the store's own counts are checked afterwards. Columns are copied by the schema's list, so
//! that one that a later version adds is copied too.

mod multiply;
pub(crate) mod one;
pub(crate) mod postgres;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ledger::Ledger as _;
use ledger::sqlite::{Durability, Options, Store};
use rules::states::EventState;
use rusqlite::Connection;

use crate::stub::now_ms;

/// Bytes of the body of a seeded event.
pub(crate) const BODY_BYTES: usize = 512;
const DAY_MS: i64 = 86_400_000;
/// The older half of the finished events ended so long ago, the younger one a day.
const OLD_MS: i64 = 400 * DAY_MS;
/// `store.retention` under which the older half goes, and under which nothing goes.
pub(crate) const RETENTION_OF_HALF: &str = "200d";
pub(crate) const RETENTION_OF_ALL: &str = "900d";

/// What a ledger holds.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Events that succeeded, each with a run and a delivery, on the other routes in turn.
    pub(crate) finished: u64,
    /// Events that wait on route `queue`.
    pub(crate) waiting: u64,
    /// Events that wait on route `line`, all in one serial line.
    pub(crate) in_line: u64,
}

pub(crate) fn options(home: &Path) -> Options {
    Options {
        home: home.to_owned(),
        path: home.join("doorbell.db"),
        durability: Durability::Full,
        min_free: 0,
        patience: Duration::from_secs(30),
    }
}

/// A home with a ledger of this content below `work`. With `keep` it is copied from there, and made there when it is not
/// there yet.
pub(crate) fn home(work: &Path, keep: Option<&Path>, content: Content) -> PathBuf {
    let name = format!("finished-{}-waiting-{}-line-{}", content.finished, content.waiting, content.in_line);
    let at = work.join(&name);
    std::fs::create_dir_all(&at).expect("a folder");
    let Some(keep) = keep else {
        make(&at, content);
        return at;
    };
    let kept = keep.join(&name);
    if !kept.join("complete").exists() {
        // One that was cut off is made anew.
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::create_dir_all(&kept).expect("a folder");
        make(&kept, content);
        std::fs::write(kept.join("complete"), "").expect("a mark");
    }
    std::fs::copy(kept.join("doorbell.db"), at.join("doorbell.db")).expect("a copy");
    settle(&at);
    at
}

/// Puts the content into a home. Adds to what is there.
pub(crate) fn make(home: &Path, content: Content) {
    let now = now_ms();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let before = runtime.block_on(counts(home));
    let examples = runtime.block_on(one::of_each(home, content));
    let path = options(home).path;
    let connection = Connection::open(&path).expect("the ledger's file");
    // Only while it is made: nothing of it is worth anything before it is complete.
    let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;";
    connection.execute_batch(settings).expect("settings");
    if let Some(example) = examples.finished {
        let old = content.finished / 2;
        multiply::event(&connection, example, old.saturating_sub(1), now - OLD_MS);
        multiply::event(&connection, example, content.finished - old, now - DAY_MS);
        multiply::set_time(&connection, example, now - OLD_MS);
    }
    for (example, count) in [(examples.waiting, content.waiting), (examples.in_line, content.in_line)] {
        if let Some(example) = example {
            multiply::event(&connection, example, count - 1, now);
        }
    }
    drop(connection);
    settle(home);
    let after = runtime.block_on(counts(home));
    let wanted = (before.0 + content.finished, before.1 + content.waiting + content.in_line);
    assert_eq!(after, wanted, "the store counts succeeded and queued events of {}", home.display());
}

/// Succeeded and queued events, as the store counts them.
async fn counts(home: &Path) -> (u64, u64) {
    let store = Store::open(&options(home)).expect("a ledger");
    let status = store.status().await.expect("its counts");
    store.close().await;
    let of = |state| status.events.get(&state).copied().unwrap_or(0);
    (of(EventState::Succeeded), of(EventState::Queued))
}

/// Lets the disk have all of it, so that nothing of the seeding is written while something is measured.
fn settle(home: &Path) {
    std::fs::File::open(home.join("doorbell.db")).and_then(|file| file.sync_all()).expect("a sync");
}
