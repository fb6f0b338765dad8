//! The one writer: a thread that owns the write connection and commits many callers' steps at once.

mod batch;
mod step;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use self::batch::Batch;
pub(super) use self::step::Flush;
use self::step::{Step, Task};
use super::files::Files;
use super::log::{Copier, Log};
use super::{Lock, connect, failed};
use crate::Error;

/// Steps that one commit takes: past this a batch only adds latency.
const BATCH_STEPS: usize = 64;
/// Steps that wait for the writer: two batches, so that it never idles, and callers feel the pressure soon after.
const WAITING: usize = 2 * BATCH_STEPS;
/// How long a caller waits for a place before it is told that the ledger is behind.
const PATIENCE: Duration = Duration::from_secs(2);

enum Message {
    Step(Box<dyn Step>),
    Close,
}

/// The way to the writer.
#[derive(Clone)]
pub(super) struct Writer {
    steps: Sender<Message>,
}

impl Writer {
    /// Starts the writer's thread, and beside it the one that keeps the log short. With `power_safe` false no commit waits for
    /// the disk (`durability: normal`). The thread owns the locks too, so that nobody else gets the file before the last commit
    /// is done.
    pub(super) fn start(place: Place, locks: Vec<Lock>, power_safe: bool) -> Result<(Writer, JoinHandle<()>), Error> {
        let cannot = |e| Error::Unavailable(format!("cannot start the ledger's writer: {e}"));
        let (steps, mut waiting) = channel(WAITING);
        let connection = place.open()?;
        let copier = Copier::start(&place.path, Arc::clone(&place.log)).map_err(cannot)?;
        let mut desk = Desk { place, connection: Some(connection), full: None, power_safe, doubtful: false };
        let thread = std::thread::Builder::new()
            .name("ledger-writer".into())
            .spawn(move || {
                desk.work(&mut waiting);
                copier.stop();
                drop(desk);
                drop(locks);
            })
            .map_err(cannot)?;
        Ok((Writer { steps }, thread))
    }

    /// Runs `work` in a savepoint and answers once it is committed. `bytes` is about what it writes.
    pub(super) async fn write<T, F>(&self, flush: Flush, bytes: usize, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Task::new(work, reply, flush, bytes);
        match self.steps.send_timeout(Message::Step(Box::new(task)), PATIENCE).await {
            Ok(()) => {}
            Err(SendTimeoutError::Timeout(_)) => return Err(Error::Busy),
            Err(SendTimeoutError::Closed(_)) => return Err(Error::Closed),
        }
        // Whoever is not answered was in a batch that broke off.
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("its writer broke off in the middle of a step".into())))
    }

    /// Lets the thread end after what has been handed in. Blocks while the writer is behind.
    pub(super) fn close(&self) {
        // A writer that has ended already has nothing left to do.
        let _ = self.steps.blocking_send(Message::Close);
    }
}

/// What is written to.
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) files: Arc<Files>,
    pub(super) log: Arc<Log>,
}

impl Place {
    /// The write connection with the settings that only it needs.
    fn open(&self) -> Result<Connection, Error> {
        let mut connection = connect(&self.path, false)?;
        // The log is cut when it starts anew after it was long; 16 MiB of the busiest pages stay in memory.
        connection
            .execute_batch(
                "PRAGMA journal_size_limit = 67108864; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -16384;",
            )
            .map_err(failed)?;
        self.log.watch(&mut connection)?;
        Ok(connection)
    }
}

/// The writer's own side.
struct Desk {
    place: Place,
    /// `None` after a fault that left the connection in no state to go on with.
    connection: Option<Connection>,
    /// Whether commits of this connection wait for the disk now.
    full: Option<bool>,
    power_safe: bool,
    /// Whether the disk has failed to sync since the log was last known to be whole on it.
    doubtful: bool,
}

impl Desk {
    /// Commits batch after batch until the store closes. A panic costs its batch and the connection, not the ledger.
    fn work(&mut self, waiting: &mut Receiver<Message>) {
        while catch_unwind(AssertUnwindSafe(|| self.commit_all(waiting))).is_err() {
            tracing::error!("the ledger's writer broke off in the middle of a step; it goes on with a new connection");
            // The old one is let go of after the new one is there: the last to close takes the log's file with it.
            let fresh = self.place.open().ok();
            self.full = None;
            self.connection = fresh;
        }
        waiting.close();
        while let Ok(message) = waiting.try_recv() {
            if let Message::Step(step) = message {
                step.answer(Err(Error::Closed));
            }
        }
    }

    fn commit_all(&mut self, waiting: &mut Receiver<Message>) {
        while let Some(mut batch) = Batch::take(waiting) {
            let committed = self.commit(&mut batch);
            if let Err(error) = &committed {
                self.place.files.note(error);
                // Said once for all who are told, by those who know what it means for them.
                tracing::debug!(%error, steps = batch.len(), "the ledger could not commit");
            }
            points::reach("writer.committed");
            let last = batch.last;
            batch.answer(&committed);
            if last {
                return;
            }
        }
    }

    /// The files are looked at before, so that nothing is done in vain, and after, so that nothing is acknowledged that went
    /// into a file which is not there any more.
    fn commit(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let Place { files, log, .. } = &self.place;
        files.check()?;
        let full = self.power_safe && batch.durable();
        let connection = if let Some(connection) = &self.connection {
            connection
        } else {
            self.full = None;
            self.connection.insert(self.place.open()?)
        };
        log.finish(connection);
        if self.doubtful {
            settle(connection)?;
            self.doubtful = false;
        }
        if self.full != Some(full) {
            set_synchronous(connection, full)?;
            self.full = Some(full);
        }
        let committed = batch.commit(connection, files);
        self.doubtful = batch.unsynced;
        committed.and_then(|()| files.check())
    }
}

/// FULL waits for the disk at each commit, NORMAL at checkpoints only. It may change only between transactions.
fn set_synchronous(connection: &Connection, full: bool) -> Result<(), Error> {
    let mode = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
    connection.execute_batch(mode).map_err(failed)
}

/// Copies the log into the database, synced, and begins it anew. A disk that has failed to sync may have dropped what was
/// written before: a later commit that stands behind such a gap in the log would be lost with it by a power cut.
fn settle(connection: &Connection) -> Result<(), Error> {
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(failed)?;
    if busy {
        return Err(Error::Unavailable(
            "after a commit that failed its log must be begun anew, and another program keeps it open; end that program".into(),
        ));
    }
    Ok(())
}
