//! A power cut: of the ledger and of the file of answers stays what was synced, and some of the rest. See `power.c`.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Home;
use super::preload::library;

/// The files that a cut is about.
const FILES: [&str; 3] = ["doorbell.db", "doorbell.db-wal", "answers.jsonl"];
/// What a disk writes whole or not at all, for the most part.
const SECTOR: usize = 512;

/// The power under one home.
pub(crate) struct Power {
    folder: TempDir,
}

/// What of the writes that were not synced is on the disk after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// Some of their sectors.
    Sectors,
    /// The first of them, and of the next one a part.
    Torn,
}

/// A number from 0 up to, without, the limit.
pub(crate) type Dice<'a> = dyn FnMut(u64) -> u64 + 'a;

impl Power {
    pub(crate) fn new() -> Power {
        Power { folder: tempfile::Builder::new().prefix("power-").tempdir().expect("a temporary folder") }
    }

    /// Puts it under a home, before the gateway starts.
    pub(crate) fn under(&self, home: Home) -> Home {
        let library = library("power", include_str!("power.c"));
        home.env("LD_PRELOAD", &library.to_string_lossy())
            .env("DOORBELL_TEST_POWER", &self.folder.path().to_string_lossy())
    }

    /// Makes of the files what the disk has after a cut. The gateway is dead by now. Answers how many bytes were lost.
    pub(crate) fn cut(&self, home: &Path, rest: Rest, dice: &mut Dice<'_>) -> usize {
        let mut lost = 0;
        for name in FILES {
            let path = home.join(name);
            let now = fs::read(&path).ok();
            let left = self.left(name, &path, now.as_deref(), rest, dice);
            lost += missing(now.as_deref().unwrap_or_default(), left.as_deref().unwrap_or_default());
            let _ = fs::remove_file(&path);
            if let Some(bytes) = left {
                fs::write(&path, bytes).expect("the file is made anew");
            }
        }
        // Shared memory is no file of the disk's.
        let _ = fs::remove_file(home.join("doorbell.db-shm"));
        self.restored(home);
        lost
    }

    /// What is left of a file.
    fn left(&self, name: &str, path: &Path, now: Option<&[u8]>, rest: Rest, dice: &mut Dice<'_>) -> Option<Vec<u8>> {
        let (entry, inode) = (fs::read_link(self.folder.path().join(name)).ok(), inode_of(path));
        // Another file by this name, or none any more: its entry may have come to the disk by itself.
        let renewed = entry != inode && rest != Rest::Nothing && dice(2) == 0;
        let kept = if renewed { &inode } else { &entry };
        let durable = fs::read(self.folder.path().join(kept.as_ref()?)).unwrap_or_default();
        match now {
            Some(now) if rest != Rest::Nothing && *kept == inode => Some(mixed(durable, now, rest, dice)),
            _ => Some(durable),
        }
    }

    /// The disk has the files as they are.
    fn restored(&self, home: &Path) {
        for old in fs::read_dir(self.folder.path()).expect("a folder") {
            fs::remove_file(old.expect("an entry").path()).expect("it is removed");
        }
        for name in FILES {
            if let Some(inode) = inode_of(&home.join(name)) {
                fs::copy(home.join(name), self.folder.path().join(&inode)).expect("a copy");
                symlink(inode, self.folder.path().join(name)).expect("an entry");
            }
        }
    }
}

fn inode_of(path: &Path) -> Option<PathBuf> {
    fs::metadata(path).ok().map(|file| PathBuf::from(format!("i{}", file.ino())))
}

/// The durable bytes with some of the sectors that were written since.
fn mixed(mut durable: Vec<u8>, now: &[u8], rest: Rest, dice: &mut Dice<'_>) -> Vec<u8> {
    let old = durable.clone();
    if now.len() > durable.len() || dice(2) == 0 {
        // The length may be on the disk without the bytes, which are zeros then.
        durable.resize(now.len(), 0);
    }
    let changed = |at: &usize| old.get(*at..sector(*at, now)) != Some(&now[*at..sector(*at, now)]);
    let pending: Vec<usize> = (0..now.len()).step_by(SECTOR).filter(changed).collect();
    let torn = if pending.is_empty() { 0 } else { below(pending.len() + 1, dice) };
    for (number, at) in pending.into_iter().enumerate() {
        let end = match rest {
            Rest::Sectors if dice(2) == 0 => sector(at, now),
            Rest::Torn if number < torn => sector(at, now),
            Rest::Torn if number == torn => at + below(sector(at, now) - at, dice),
            _ => continue,
        };
        let end = end.min(durable.len());
        if at < end {
            durable[at..end].copy_from_slice(&now[at..end]);
        }
    }
    durable
}

/// Where the sector at a place ends.
fn sector(at: usize, bytes: &[u8]) -> usize {
    (at + SECTOR).min(bytes.len())
}

fn below(limit: usize, dice: &mut Dice<'_>) -> usize {
    usize::try_from(dice(limit as u64)).expect("a small number")
}

/// Bytes that are not what they were.
fn missing(now: &[u8], left: &[u8]) -> usize {
    let differ = |(place, sector): (usize, &[u8])| {
        let there = left.get(place * SECTOR..).unwrap_or_default();
        // Most sectors are the same, which is seen faster for all bytes at once.
        if there.starts_with(sector) {
            return 0;
        }
        sector.iter().enumerate().filter(|(at, byte)| there.get(*at) != Some(byte)).count()
    };
    now.chunks(SECTOR).enumerate().map(differ).sum()
}
