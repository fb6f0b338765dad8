//! The files behind an open ledger: made whole, watched, and no longer trusted once they are damaged.
//!
//! A file that is removed or replaced stays open here and takes every write, and none of them is there at the next start.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{connect, schema};
use crate::Error;

/// What tells a file from every other one while it is open.
type Identity = (u64, u64);

/// The files of one open ledger.
#[derive(Debug)]
pub(super) struct Files {
    watched: Vec<(PathBuf, Identity)>,
    damaged: AtomicBool,
}

impl Files {
    /// Those of the database at `path`, which is open in write-ahead mode, and these locks.
    pub(super) fn watch<'a>(path: &Path, locks: impl Iterator<Item = &'a Path>) -> Files {
        // SQLite follows links before it puts its side files beside a database.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let all = [path.to_owned(), beside(&real, "-wal")].into_iter().chain(locks.map(Path::to_owned));
        let watched = all.filter_map(|path| identity(&path).ok().map(|identity| (path, identity))).collect();
        Files { watched, damaged: AtomicBool::new(false) }
    }

    /// [`Error::Unavailable`] when a file has gone from its place. One that is put back is good again.
    pub(super) fn check(&self) -> Result<(), Error> {
        for (path, was) in &self.watched {
            let gone = match identity(path) {
                Ok(is) => is != *was,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
            if gone {
                return Err(Error::Unavailable(format!(
                    "{} was removed or replaced while it was in use, and what is written now would be lost; put it back, \
                     or restart doorbell to go on with what is there",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    /// Remembers damage: nothing new is taken into a damaged file, since writing can spread it. What has been taken may
    /// still be ended, where the pages for that are sound.
    pub(super) fn note(&self, error: &Error) {
        if matches!(error, Error::Damaged(_)) {
            self.damaged.store(true, Ordering::Relaxed);
        }
    }

    /// [`Error::Damaged`] once damage was met.
    pub(super) fn check_sound(&self) -> Result<(), Error> {
        if self.damaged.load(Ordering::Relaxed) { Err(Error::Damaged("damage was met before".into())) } else { Ok(()) }
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Sees to it that there is a database, for its owner only; SQLite gives its side files the mode of the main one.
///
/// A new one is made under another name and comes to its place as a whole. So an empty file is none that a start left behind
/// when it was cut off: it was a ledger once, and is refused rather than begun anew without a word.
pub(super) fn prepare(path: &Path) -> Result<(), Error> {
    let length = match fs::metadata(path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return make(path),
        Err(error) => return Err(cannot_open(&error)),
    };
    if length == 0 {
        return Err(Error::Damaged("the file is empty".into()));
    }
    OpenOptions::new().write(true).open(path).map(drop).map_err(|error| cannot_open(&error))
}

fn make(path: &Path) -> Result<(), Error> {
    let log = beside(path, "-wal");
    if fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        return Err(Error::Damaged(format!("the file is gone, but {} with its last writes is there", log.display())));
    }
    let new = beside(path, ".new");
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(&new, suffix));
    }
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new).map_err(|error| cannot_open(&error))?;
    let mut connection = connect(&new, false)?;
    schema::migrate(&mut connection)?;
    // The last one out takes the side files with it.
    drop(connection);
    fs::rename(&new, path).and_then(|()| sync(path)).map_err(|error| cannot_open(&error))
}

/// Waits until a file is on the disk under its name: a power cut must not leave the name without the bytes, or neither.
fn sync(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}

fn cannot_open(error: &io::Error) -> Error {
    Error::Unavailable(format!("cannot be opened: {error}; the user that runs doorbell must be able to write it"))
}
