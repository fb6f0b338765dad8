//! Many callers' steps in one commit.
//!
//! Each step runs in a savepoint of one transaction, so that a step that fails takes nothing of its neighbours with it. Some
//! errors (a full disk, an I/O error) make SQLite roll the whole transaction back by itself; a savepoint after that would
//! commit on its own. So after any error it is looked whether the transaction still stands, and when it has gone nothing
//! more of the batch is run and all of it is answered with the error.

use rusqlite::{Connection, ErrorCode};
use tokio::sync::mpsc::Receiver;

use super::step::{Flush, Step};
use super::{BATCH_STEPS, Message};
use crate::Error;
use crate::sqlite::failed;
use crate::sqlite::files::Files;

/// Bytes that one commit takes.
const BATCH_BYTES: usize = 4 << 20;

/// What one commit takes.
pub(super) struct Batch {
    steps: Vec<Box<dyn Step>>,
    /// Whether the store is to close after it.
    pub(super) last: bool,
    /// Whether the disk failed while it was to make the commit safe.
    pub(super) unsynced: bool,
}

impl Batch {
    /// Waits for a step and takes what waits behind it. `None`: the store is to close.
    pub(super) fn take(waiting: &mut Receiver<Message>) -> Option<Batch> {
        let Some(Message::Step(first)) = waiting.blocking_recv() else { return None };
        let mut bytes = first.bytes();
        let mut batch = Batch { steps: vec![first], last: false, unsynced: false };
        while batch.steps.len() < BATCH_STEPS && bytes < BATCH_BYTES {
            match waiting.try_recv() {
                Ok(Message::Step(step)) => {
                    bytes += step.bytes();
                    batch.steps.push(step);
                }
                Ok(Message::Close) => {
                    batch.last = true;
                    break;
                }
                Err(_) => break,
            }
        }
        Some(batch)
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether one of the callers waits for the disk.
    pub(super) fn durable(&self) -> bool {
        self.steps.iter().any(|step| step.flush() == Flush::Durable)
    }

    /// Commits all steps or, after an error, none of them.
    pub(super) fn commit(&mut self, connection: &Connection, files: &Files) -> Result<(), Error> {
        execute(connection, "BEGIN IMMEDIATE")?;
        let done = self.run(connection, files).and_then(|()| {
            run_cached(connection, "COMMIT").map_err(|error| {
                self.unsynced = error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
                failed(error)
            })
        });
        if done.is_err() && !connection.is_autocommit() {
            // Nothing of the batch may stay; when even this fails the next BEGIN says so.
            let _ = execute(connection, "ROLLBACK");
        }
        done
    }

    fn run(&mut self, connection: &Connection, files: &Files) -> Result<(), Error> {
        for step in &mut self.steps {
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
        points::reach("writer.before_commit");
        Ok(())
    }

    /// Answers all callers. Nobody is answered before COMMIT has returned.
    pub(super) fn answer(self, committed: &Result<(), Error>) {
        for step in self.steps {
            step.answer(committed.clone());
        }
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Error> {
    run_cached(connection, sql).map_err(failed)
}

fn run_cached(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop)
}
