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
    /// Starts the writer's thread on the database at `path`, and beside it the one that keeps `log` short. With `power_safe`
    /// false no commit waits for the disk (`durability: normal`). The thread owns the locks too, so that nobody else gets the
    /// file before the last commit is done.
    pub(super) fn start(
        path: PathBuf,
        log: Arc<Log>,
        locks: Vec<Lock>,
        power_safe: bool,
    ) -> Result<(Writer, JoinHandle<()>), Error> {
        let cannot = |e| Error::Unavailable(format!("cannot start the ledger's writer: {e}"));
        let (steps, mut waiting) = channel(WAITING);
        let connection = open(&path, &log)?;
        let copier = Copier::start(&path, Arc::clone(&log)).map_err(cannot)?;
        let mut desk = Desk { path, log, connection: Some(connection), full: None, power_safe, failing: false };
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

/// The write connection with the settings that only it needs.
fn open(path: &std::path::Path, log: &Arc<Log>) -> Result<Connection, Error> {
    let mut connection = connect(path, false)?;
    // The log is cut when it starts anew after it was long; 16 MiB of the busiest pages stay in memory.
    connection
        .execute_batch("PRAGMA journal_size_limit = 67108864; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -16384;")
        .map_err(failed)?;
    log.watch(&mut connection)?;
    Ok(connection)
}

/// The writer's own side.
struct Desk {
    path: PathBuf,
    log: Arc<Log>,
    /// `None` after a fault that left the connection in no state to go on with.
    connection: Option<Connection>,
    /// Whether commits of this connection wait for the disk now.
    full: Option<bool>,
    power_safe: bool,
    /// Whether the last commit failed: the first of a row is told, and the end of it.
    failing: bool,
}

impl Desk {
    /// Commits batch after batch until the store closes. A panic costs its batch and the connection, not the ledger.
    fn work(&mut self, waiting: &mut Receiver<Message>) {
        while catch_unwind(AssertUnwindSafe(|| self.commit_all(waiting))).is_err() {
            tracing::error!("the ledger's writer broke off in the middle of a step; it goes on with a new connection");
            self.connection = None;
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
            self.tell(&committed, batch.len());
            points::reach("writer.committed");
            let last = batch.last;
            batch.answer(&committed);
            if last {
                return;
            }
        }
    }

    fn commit(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let full = self.power_safe && batch.durable();
        if self.connection.is_none() {
            self.full = None;
        }
        let connection = match &self.connection {
            Some(connection) => connection,
            None => self.connection.insert(open(&self.path, &self.log)?),
        };
        self.log.finish(connection);
        if self.full != Some(full) {
            set_synchronous(connection, full)?;
            self.full = Some(full);
        }
        batch.commit(connection)
    }

    fn tell(&mut self, committed: &Result<(), Error>, steps: usize) {
        match committed {
            Err(error) if !self.failing => tracing::error!(
                %error, steps, "the ledger could not commit; what comes is refused until it can, and nothing is acknowledged"
            ),
            Ok(()) if self.failing => tracing::info!("the ledger commits again"),
            _ => {}
        }
        self.failing = committed.is_err();
    }
}

/// FULL waits for the disk at each commit, NORMAL at checkpoints only. It may change only between transactions.
fn set_synchronous(connection: &Connection, full: bool) -> Result<(), Error> {
    let mode = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
    connection.execute_batch(mode).map_err(failed)
}
