//! Reading beside the writer: a few read-only connections on blocking threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::files::Files;
use super::{connect, failed};
use crate::Error;

/// Listings are short; a handful of them at once keeps two cores busy without starving the gateway.
const CONNECTIONS: usize = 4;

/// A pool of read-only connections, opened when first needed.
#[derive(Clone)]
pub(super) struct Readers {
    path: PathBuf,
    files: Arc<Files>,
    idle: Arc<Mutex<Vec<Connection>>>,
    places: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, files: Arc<Files>) -> Readers {
        Readers { path, files, idle: Arc::default(), places: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Runs `work` in one read transaction, so that what it reads fits together.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| Error::Closed)?;
        let pool = self.clone();
        let job = move || {
            let _place = place;
            let idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = if let Some(connection) = idle {
                connection
            } else {
                // Another file in its place would be read as if it were this one.
                pool.files.check()?;
                connect(&pool.path, true)?
            };
            let transaction = connection.transaction().map_err(failed)?;
            let value = work(&transaction).inspect_err(|error| pool.files.note(error));
            transaction.finish().map_err(failed)?;
            let mut idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
            // Asked under the lock under which `close` takes what is idle, so that no connection outlives it.
            if !pool.places.is_closed() {
                idle.push(connection);
            }
            value
        };
        tokio::task::spawn_blocking(job)
            .await
            .map_err(|e| Error::Unavailable(format!("a reader of the ledger stopped: {e}")))?
    }

    /// Lets no further reader in and closes what is idle.
    pub(super) fn close(&self) {
        self.places.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
