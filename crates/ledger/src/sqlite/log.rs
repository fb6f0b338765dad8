//! Keeping the write-ahead log short without stopping the writer.
//!
//! SQLite by itself has the writer copy the log into the database every 1000 pages, in the middle of a commit that senders wait
//! for. A copy made beside the writer alone never ends, since the log starts anew only when a commit finds all of it copied. So
//! a thread of its own copies the bulk while the writer goes on, and the writer copies the few pages that came meanwhile,
//! between two batches.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::{connect, failed};
use crate::Error;

/// Pages (4 KiB) that the log may have before it is copied: 16 MiB. Fewer would copy busy pages too often; more would lengthen
/// the start after a crash.
const COPY_FROM: u32 = 4096;
/// Pages after which a copy is tried again that somebody's open snapshot has kept from being complete.
const COPY_AGAIN: u32 = 1024;
/// Pages at which new events are refused: 112 MiB, so that what is under way stays below 128 MiB.
const FULL_FROM: u32 = 28_672;
/// A log that has grown and rests is copied after so long, so that the next start has little to read.
const REST: Duration = Duration::from_secs(1);

/// What is known of the log. Counts are of this process.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Pages in the log after the last commit, those already copied included.
    pages: AtomicU32,
    commits: AtomicU64,
    /// At how many pages the copying thread is rung.
    ring_at: AtomicU32,
    /// Whether the bulk is copied and the writer is to copy the rest.
    rest_is_the_writers: AtomicBool,
    rung: Mutex<Rung>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Rung {
    wanted: bool,
    closing: bool,
}

impl Log {
    pub(super) fn new() -> Arc<Log> {
        Arc::new(Log { ring_at: AtomicU32::new(COPY_FROM), ..Log::default() })
    }

    /// Has the connection's commits counted. SQLite then copies nothing by itself on this connection.
    pub(super) fn watch(self: &Arc<Log>, connection: &mut Connection) -> Result<(), Error> {
        let log = Arc::clone(self);
        connection
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
                log.committed(u32::try_from(pages).unwrap_or(0));
                Ok(())
            }))
            .map_err(failed)
    }

    fn committed(&self, pages: u32) {
        self.pages.store(pages, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
        if pages >= self.ring_at.load(Ordering::Relaxed) {
            self.ring_at.store(u32::MAX, Ordering::Relaxed);
            self.rung.lock().unwrap_or_else(PoisonError::into_inner).wanted = true;
            self.bell.notify_one();
        }
    }

    /// Whether the log is as long as it may get: new events are to be refused.
    pub(super) fn full(&self) -> bool {
        self.pages.load(Ordering::Relaxed) >= FULL_FROM
    }

    /// The writer's part: copies what the thread has left, when there is such a rest. Called between transactions.
    pub(super) fn finish(&self, connection: &Connection) {
        if self.rest_is_the_writers.swap(false, Ordering::AcqRel) {
            // The next commit starts the log anew, when nobody reads in it; else the copy is tried again later.
            let pages = match copy(connection) {
                Ok(true) => COPY_FROM,
                Ok(false) | Err(_) => self.pages.load(Ordering::Relaxed).saturating_add(COPY_AGAIN),
            };
            points::reach("log.finished");
            self.ring_at.store(pages, Ordering::Relaxed);
        }
    }

    /// Waits until there is something to copy. `None`: the store closes.
    fn wait(&self) -> Option<()> {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if rung.closing {
                return None;
            }
            if std::mem::take(&mut rung.wanted) {
                return Some(());
            }
            let before = self.commits.load(Ordering::Relaxed);
            let (again, waited) = self.bell.wait_timeout(rung, REST).unwrap_or_else(PoisonError::into_inner);
            rung = again;
            let rests = before == self.commits.load(Ordering::Relaxed) && self.pages.load(Ordering::Relaxed) > 0;
            if waited.timed_out() && rests && !rung.closing {
                return Some(());
            }
        }
    }
}

/// Copies what it can of the log without waiting for anybody; whether that was all of it.
fn copy(connection: &Connection) -> Result<bool, Error> {
    connection
        .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)))
        .map(|(pages, copied)| copied >= pages)
        .map_err(failed)
}

/// The thread that copies.
pub(super) struct Copier {
    log: Arc<Log>,
    thread: JoinHandle<()>,
}

impl Copier {
    pub(super) fn start(path: &Path, log: Arc<Log>) -> std::io::Result<Copier> {
        let (path, shared) = (path.to_owned(), Arc::clone(&log));
        let thread = std::thread::Builder::new().name("ledger-log".into()).spawn(move || copy_all(&path, &shared))?;
        Ok(Copier { log, thread })
    }

    /// Ends the thread and waits for it.
    pub(super) fn stop(self) {
        self.log.rung.lock().unwrap_or_else(PoisonError::into_inner).closing = true;
        self.log.bell.notify_one();
        // It has nothing to tell; had it panicked, its message is in the log.
        let _ = self.thread.join();
    }
}

fn copy_all(path: &Path, log: &Log) {
    let mut connection = None;
    let mut trouble = Trouble::None;
    while log.wait().is_some() {
        let commits = log.commits.load(Ordering::Relaxed);
        let copied = match &connection {
            Some(connection) => copy(connection),
            None => connect(path, false).and_then(|fresh| copy(connection.insert(fresh))),
        };
        points::reach("log.copied");
        if matches!(copied, Ok(true)) && commits == log.commits.load(Ordering::Relaxed) {
            // Nobody has written meanwhile: the next commit starts the log anew.
            log.pages.store(0, Ordering::Relaxed);
            log.ring_at.store(COPY_FROM, Ordering::Relaxed);
        } else {
            log.rest_is_the_writers.store(true, Ordering::Release);
        }
        trouble = trouble.tell(&copied, log.full());
    }
}

/// What was told of copies that do not get on: each trouble is told when it begins, and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    Failing,
    Full,
}

impl Trouble {
    fn tell(self, copied: &Result<bool, Error>, full: bool) -> Trouble {
        let now = match copied {
            Err(_) => Trouble::Failing,
            Ok(_) if full => Trouble::Full,
            Ok(_) => Trouble::None,
        };
        match (copied, now) {
            _ if now == self => {}
            (Err(error), _) => tracing::warn!(%error, "the ledger's log could not be copied into the database"),
            (_, Trouble::Full) => tracing::error!(
                "the ledger's log has reached its limit, since another program keeps an old state of doorbell.db open; new \
                 events are refused until it lets go"
            ),
            _ => tracing::info!("the ledger's log is copied again"),
        }
        now
    }
}
