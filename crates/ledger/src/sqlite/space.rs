//! Whether there is room: free space, looked at no more than once a second, and a write on trial.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::failed;
use super::log::Log;
use crate::Error;

/// A look at a disk that is not repeated for a second.
#[derive(Debug)]
pub(super) struct Space {
    folder: PathBuf,
    wanted: u64,
    log: Arc<Log>,
    seen: Mutex<Option<(Instant, u64)>>,
}

impl Space {
    pub(super) fn new(folder: PathBuf, wanted: u64, log: Arc<Log>) -> Space {
        Space { folder, wanted, log, seen: Mutex::new(None) }
    }

    /// [`Error::DiskLow`] when less than the wanted bytes are free, [`Error::Busy`] when the write-ahead log is as long as it may
    /// get. A disk that cannot be asked counts as roomy: the write decides.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.log.full() {
            return Err(Error::Busy);
        }
        if self.wanted == 0 {
            return Ok(());
        }
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let free = match *seen {
            Some((at, free)) if at.elapsed() < Duration::from_secs(1) => free,
            _ => {
                let free =
                    rustix::fs::statvfs(&self.folder).map_or(u64::MAX, |s| s.f_bavail.saturating_mul(s.f_frsize));
                *seen = Some((Instant::now(), free));
                free
            }
        };
        if free < self.wanted { Err(Error::DiskLow { free, wanted: self.wanted }) } else { Ok(()) }
    }
}

/// A write that changes nothing that is shown. The value must be another one each time: SQLite writes no page whose bytes
/// stay the same.
pub(super) fn try_write(connection: &Connection) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO meta VALUES ('probes', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1")
        .and_then(|mut s| s.execute([]))
        .map_err(failed)?;
    points::reach("probe.written");
    Ok(())
}
