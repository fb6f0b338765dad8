//! Looks at a gateway's memory and at the size of its write-ahead log while something else is measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Gateway, memory_kib};

const EVERY: Duration = Duration::from_millis(20);

/// The largest that was seen.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) resident_kib: u64,
    pub(crate) wal_bytes: u64,
}

pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

impl Watch {
    pub(crate) fn over(gateway: &Gateway) -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        let (told, pid, wal) = (Arc::clone(&stop), gateway.pid(), wal(&gateway.home));
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            while !told.load(Ordering::Relaxed) {
                seen.resident_kib = seen.resident_kib.max(memory_kib(pid, "VmRSS"));
                seen.wal_bytes = seen.wal_bytes.max(size(&wal));
                std::thread::sleep(EVERY);
            }
            seen
        });
        Watch { stop, thread }
    }

    pub(crate) fn end(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the watching thread")
    }
}

fn wal(home: &Path) -> PathBuf {
    home.join("doorbell.db-wal")
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |m| m.len())
}

impl Gateway {
    /// Bytes of its ledger's file and of the write-ahead log beside it.
    pub(crate) fn file_sizes(&self) -> (u64, u64) {
        (size(&self.home.join("doorbell.db")), size(&wal(&self.home)))
    }
}
