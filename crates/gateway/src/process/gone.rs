//! Jobs of an earlier life: waiting until nothing of one is left.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::GRACE;
use super::marked::{self, Mark};

/// How long a warden whose gateway has gone may take: its grace, and some more on a busy machine.
const BY_ITSELF: Duration = Duration::from_secs(12);
/// How often the lock is tried.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until nothing of a job of an earlier life runs any more, then removes its lock's file. Blocks the thread.
///
/// A warden whose gateway has gone ends its program within the grace of 5 s. One that does not, and what lost its warden
/// together with its gateway, is found by the mark and ended here. An error: something may still run.
pub fn wait_until_gone(lock: &Path, mark: &Mark) -> std::io::Result<()> {
    let file = match File::open(lock) {
        Ok(file) => file,
        // Nothing was started, or somebody has removed the file.
        Err(error) if error.kind() == ErrorKind::NotFound => return marked::sweep(mark, GRACE),
        Err(error) => return marked::sweep(mark, GRACE).and(Err(error)),
    };
    // A program can halt its warden, which would then hold its lock for ever.
    marked::wake(mark);
    let began = Instant::now();
    while !taken(&file)? && began.elapsed() < BY_ITSELF {
        thread::sleep(LOOK);
    }
    marked::sweep(mark, GRACE)?;
    if !taken(&file)? {
        return Err(std::io::Error::other(format!("another process holds the lock {}", lock.display())));
    }
    match std::fs::remove_file(lock) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file of a job, unless something of the job holds its lock. `false`: it is held.
pub fn remove_unless_held(path: &Path) -> std::io::Result<bool> {
    Ok(taken(&File::open(path)?)? && std::fs::remove_file(path).map(|()| true)?)
}

/// Takes the lock when it is free; taking it again is no error.
fn taken(file: &File) -> std::io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
