//! One owner for a home: `doorbell.lock`.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// The lock of a home, held while this value lives. `serve` holds it for its life, a command for one operation.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// Why the lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody holds it.
    #[error(
        "{path} is held by another doorbell: only one may own a ledger; stop the other one, or give this one its own --home"
    )]
    Held {
        /// The lock's file.
        path: PathBuf,
    },
    /// The file cannot be opened or locked.
    #[error("cannot lock {path}: {source}")]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Lock {
    /// Takes the lock, waiting up to `patience` for a holder to let go. Blocks the thread.
    pub fn take(path: &Path, patience: Duration) -> Result<Lock, LockError> {
        let io = |source| LockError::Io { path: path.to_owned(), source };
        let mut file =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path).map_err(io)?;
        let end = Instant::now() + patience;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if Instant::now() < end => {
                    // flock has no deadline of its own; holders other than `serve` let go within milliseconds.
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(LockError::Held { path: path.to_owned() }),
                Err(errno) => return Err(io(errno.into())),
            }
        }
        // For people who look into the file; nothing reads it back.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Lock { path: path.to_owned(), _file: file })
    }

    /// The lock's file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
