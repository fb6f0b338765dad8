//! How much is measured, and with what.

use std::path::{Path, PathBuf};

use crate::gateway::Setup;

/// Bytes of a body, as webhooks of code hosts have.
pub(crate) const BODY_BYTES: usize = 8 << 10;

/// Requests over so many connections, in so many rounds between which the compared systems take turns.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    pub(crate) rounds: usize,
}

/// The counts of everything.
pub(crate) struct Scale {
    pub(crate) ingest: &'static [Load],
    pub(crate) wake_ups: usize,
    pub(crate) bursts: usize,
    pub(crate) claims: usize,
    /// Finished events of the smaller and of the larger ledger, and those that wait.
    pub(crate) some: u64,
    pub(crate) many: u64,
    pub(crate) waiting: u64,
    pub(crate) restarts: usize,
    /// Requests that are signed for the time of a prune.
    pub(crate) beside_prune: usize,
}

pub(crate) const FULL: Scale = Scale {
    ingest: &[
        Load { connections: 1, requests: 2_000, rounds: 5 },
        Load { connections: 16, requests: 15_000, rounds: 5 },
        Load { connections: 64, requests: 30_000, rounds: 5 },
        Load { connections: 256, requests: 30_000, rounds: 5 },
    ],
    wake_ups: 300,
    bursts: 5,
    claims: 500,
    some: 100_000,
    many: 1_000_000,
    waiting: 100_000,
    restarts: 7,
    beside_prune: 150_000,
};

/// So small that its figures say nothing: for a test that everything is measured.
pub(crate) const QUICK: Scale = Scale {
    ingest: &[
        Load { connections: 1, requests: 10, rounds: 2 },
        Load { connections: 16, requests: 64, rounds: 2 },
        Load { connections: 64, requests: 128, rounds: 2 },
        Load { connections: 256, requests: 256, rounds: 1 },
    ],
    wake_ups: 3,
    bursts: 1,
    claims: 5,
    some: 100,
    many: 1_000,
    waiting: 100,
    restarts: 1,
    beside_prune: 400,
};

/// What every measurement is given.
pub(crate) struct Bench {
    /// The `doorbell` that is measured.
    pub(crate) binary: PathBuf,
    /// Where homes are made.
    pub(crate) work: PathBuf,
    /// Where ledgers that took long to make are kept.
    pub(crate) keep: Option<PathBuf>,
    pub(crate) scale: Scale,
}

impl Bench {
    /// A new home with a configuration.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        let home = self.work.join(name);
        std::fs::create_dir_all(&home).expect("a home");
        Setup::default().write(&home);
        home
    }

    pub(crate) fn keep(&self) -> Option<&Path> {
        self.keep.as_deref()
    }
}
