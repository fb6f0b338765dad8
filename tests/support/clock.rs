//! A wall clock that the test sets. See `clock.c`.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use super::Home;
use super::preload::library;

/// The wall clock of one gateway, right until it is set.
pub(crate) struct WallClock {
    folder: TempDir,
    file: fs::File,
}

impl WallClock {
    pub(crate) fn right() -> WallClock {
        let folder = tempfile::Builder::new().prefix("clock-").tempdir().expect("a temporary folder");
        let file = fs::File::create_new(folder.path().join("offset")).expect("a file");
        let clock = WallClock { folder, file };
        clock.is_right();
        clock
    }

    /// Gives it to a gateway, before it starts.
    pub(crate) fn of(&self, home: Home) -> Home {
        let library = library("clock", include_str!("clock.c"));
        home.env("LD_PRELOAD", &library.to_string_lossy()).env("DOORBELL_TEST_CLOCK", &self.path().to_string_lossy())
    }

    pub(crate) fn goes_ahead(&self, by: Duration) {
        self.set(i64::try_from(by.as_millis()).expect("a short time"));
    }

    pub(crate) fn goes_back(&self, by: Duration) {
        self.set(-i64::try_from(by.as_millis()).expect("a short time"));
    }

    pub(crate) fn is_right(&self) {
        self.set(0);
    }

    fn set(&self, offset: i64) {
        self.file.write_all_at(&offset.to_ne_bytes(), 0).expect("the clock is set");
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("offset")
    }
}
