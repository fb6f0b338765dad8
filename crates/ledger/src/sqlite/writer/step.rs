//! A step on its way to the writer: what is to be done, and who waits for its answer.

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::Error;

/// What a step needs of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sqlite) enum Flush {
    /// Answered when the commit would survive a power cut.
    Durable,
    /// Answered when the commit would survive the process.
    Relaxed,
}

/// A step of any answer.
pub(super) trait Step: Send {
    /// Does the work. The error is the step's own refusal, or a fault of the database.
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;
    /// Tells the caller what became of it, given what became of the commit.
    fn answer(self: Box<Self>, committed: Result<(), Error>);
    fn flush(&self) -> Flush;
    /// About how many bytes it writes.
    fn bytes(&self) -> usize;
}

/// A step whose answer is a `T`.
pub(super) struct Task<T, F> {
    work: Option<F>,
    outcome: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
    flush: Flush,
    bytes: usize,
}

impl<T, F> Task<T, F> {
    pub(super) fn new(work: F, reply: oneshot::Sender<Result<T, Error>>, flush: Flush, bytes: usize) -> Task<T, F> {
        Task { work: Some(work), outcome: None, reply, flush, bytes }
    }
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
