//! A disk that is slow, or fails, for the files of the ledger alone. See `disk.c`.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::Home;
use super::preload::library;

/// The disk under one home. Sound until it is told otherwise.
pub(crate) struct Disk {
    folder: TempDir,
}

impl Disk {
    pub(crate) fn sound() -> Disk {
        Disk { folder: tempfile::Builder::new().prefix("disk-").tempdir().expect("a temporary folder") }
    }

    /// Puts it under a home, before the gateway starts.
    pub(crate) fn under(&self, home: Home) -> Home {
        let library = library("disk", include_str!("disk.c"));
        home.env("LD_PRELOAD", &library.to_string_lossy()).env("DOORBELL_TEST_DISK", &self.control().to_string_lossy())
    }

    /// From now on these lines of `disk.c` hold, and no others.
    pub(crate) fn does(&self, lines: &str) {
        let fresh = self.folder.path().join("control.new");
        fs::write(&fresh, format!("{lines}\n")).and_then(|()| fs::rename(&fresh, self.control())).expect("it is told");
    }

    /// From now on all is well.
    pub(crate) fn recovers(&self) {
        self.does("");
    }

    /// How many calls of a kind (`read`, `write`, `sync`, `truncate`) were made to fail.
    pub(crate) fn failures(&self, call: &str) -> usize {
        let hits = fs::read_to_string(self.folder.path().join("control.hits")).unwrap_or_default();
        hits.lines().filter(|line| *line == call).count()
    }

    fn control(&self) -> PathBuf {
        self.folder.path().join("control")
    }
}
