//! The one writer: a thread that owns the write connection and commits many callers' steps at once.
//!
//! Each step runs in a savepoint of one transaction, so that a step that fails takes nothing of its neighbours with it, and
//! nobody is answered before COMMIT has returned. Some errors (a full disk, an I/O error) make SQLite roll the whole transaction
//! back by itself; a savepoint after that would commit on its own. So after any error the writer looks whether its
//! transaction still stands, and when it has gone it runs nothing more of the batch and answers all of it with the error.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::files::Files;
use super::{Lock, failed};
use crate::Error;

/// Steps that one commit takes: past this a batch only adds latency.
const BATCH_STEPS: usize = 64;
/// Bytes that one commit takes.
const BATCH_BYTES: usize = 4 << 20;
/// Steps that wait for the writer: two batches, so that it never idles, and callers feel the pressure soon after.
const WAITING: usize = 2 * BATCH_STEPS;
/// How long a caller waits for a place before it is told that the ledger is behind.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a step needs of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    /// Answered when the commit would survive a power cut.
    Durable,
    /// Answered when the commit would survive the process.
    Relaxed,
}

/// A step on its way to the writer.
trait Step: Send {
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;
    fn answer(self: Box<Self>, committed: Result<(), Error>);
    fn flush(&self) -> Flush;
    fn bytes(&self) -> usize;
}

struct Task<T, F> {
    work: Option<F>,
    outcome: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
    flush: Flush,
    bytes: usize,
}

impl<T, F> Step for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Error> + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Error> {
        let Some(work) = self.work.take() else { return Ok(()) };
        match work(connection) {
            Ok(value) => {
                self.outcome = Some(Ok(value));
                Ok(())
            }
            Err(error) => {
                self.outcome = Some(Err(error.clone()));
                Err(error)
            }
        }
    }

    fn answer(self: Box<Self>, committed: Result<(), Error>) {
        let answer = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            // A step's own refusal stands whatever became of the commit: it has stored nothing.
            (Err(_), Some(Err(own))) if !matches!(own, Error::Unavailable(_) | Error::Damaged(_)) => Err(own),
            (Err(error), _) => Err(error),
            (Ok(()), None) => Err(Error::Closed),
        };
        // The caller may have gone; the step is committed all the same.
        let _ = self.reply.send(answer);
    }

    fn flush(&self) -> Flush {
        self.flush
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

enum Message {
    Step(Box<dyn Step>),
    Close,
}

/// The way to the writer.
#[derive(Clone)]
pub(super) struct Writer {
    steps: SyncSender<Message>,
}

impl Writer {
    /// Starts the writer's thread. With `power_safe` false no commit waits for the disk (`durability: normal`). The thread
    /// owns the locks too, so that nobody else gets the file before the last commit is done.
    pub(super) fn start(
        connection: Connection,
        locks: Vec<Lock>,
        files: Arc<Files>,
        power_safe: bool,
    ) -> Result<(Writer, JoinHandle<()>), Error> {
        let (steps, waiting) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("ledger-writer".into())
            .spawn(move || {
                serve(&connection, &waiting, &files, power_safe);
                drop(connection);
                drop(locks);
            })
            .map_err(|e| Error::Unavailable(format!("cannot start the ledger's writer: {e}")))?;
        Ok((Writer { steps }, thread))
    }

    /// Runs `work` in a savepoint and answers once it is committed. `bytes` is about what it writes.
    pub(super) async fn write<T, F>(&self, flush: Flush, bytes: usize, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Task { work: Some(work), outcome: None, reply, flush, bytes };
        let mut message = Message::Step(Box::new(task));
        let end = Instant::now() + PATIENCE;
        loop {
            match self.steps.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Disconnected(_)) => return Err(Error::Closed),
                Err(TrySendError::Full(back)) if Instant::now() < end => {
                    message = back;
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(TrySendError::Full(_)) => return Err(Error::Busy),
            }
        }
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Lets the thread end after what has been handed in.
    pub(super) fn close(&self) {
        let _ = self.steps.send(Message::Close);
    }
}

fn serve(connection: &Connection, waiting: &Receiver<Message>, files: &Files, power_safe: bool) {
    let mut synchronous = None;
    while let Ok(Message::Step(first)) = waiting.recv() {
        let mut bytes = first.bytes();
        let mut batch = vec![first];
        let mut closing = false;
        while batch.len() < BATCH_STEPS && bytes < BATCH_BYTES {
            match waiting.try_recv() {
                Ok(Message::Step(step)) => {
                    bytes += step.bytes();
                    batch.push(step);
                }
                Ok(Message::Close) => {
                    closing = true;
                    break;
                }
                Err(_) => break,
            }
        }
        let full = power_safe && batch.iter().any(|step| step.flush() == Flush::Durable);
        // Looked at before, so that nothing is done in vain, and after, so that nothing is acknowledged that went into a
        // file which is not there any more.
        let committed = files
            .check()
            .and_then(|()| set_synchronous(connection, &mut synchronous, full))
            .and_then(|()| commit(connection, &mut batch, files))
            .and_then(|()| files.check());
        if let Err(error) = &committed {
            files.note(error);
            // Said once for all who are told, by those who know what it means for them.
            tracing::debug!(%error, steps = batch.len(), "the ledger could not commit");
        }
        for step in batch {
            step.answer(committed.clone());
        }
        if closing {
            break;
        }
    }
}

/// FULL waits for the disk at each commit, NORMAL at checkpoints only. It may change only between transactions.
fn set_synchronous(connection: &Connection, now: &mut Option<bool>, full: bool) -> Result<(), Error> {
    if *now != Some(full) {
        let mode = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
        connection.execute_batch(mode).map_err(failed)?;
        *now = Some(full);
    }
    Ok(())
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Error> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).map_err(failed)
}

fn commit(connection: &Connection, batch: &mut [Box<dyn Step>], files: &Files) -> Result<(), Error> {
    execute(connection, "BEGIN IMMEDIATE")?;
    let done = run_all(connection, batch, files).and_then(|()| execute(connection, "COMMIT"));
    if done.is_err() && !connection.is_autocommit() {
        // Nothing of the batch may stay; when even this fails the next BEGIN says so.
        let _ = execute(connection, "ROLLBACK");
    }
    done
}

fn run_all(connection: &Connection, batch: &mut [Box<dyn Step>], files: &Files) -> Result<(), Error> {
    for step in batch {
        execute(connection, "SAVEPOINT step")?;
        if let Err(error) = step.run(connection) {
            files.note(&error);
            if connection.is_autocommit() {
                return Err(error);
            }
            execute(connection, "ROLLBACK TO step")?;
        }
        execute(connection, "RELEASE step")?;
    }
    Ok(())
}
