//! The life that was in this home before: after a crash it need not wait for its lease to end, since who has the home's lock
//! knows that it is dead.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ledger::{Boot, Error, Ledger};
use serde::{Deserialize, Serialize};

use crate::Core;
use crate::process::{self, Mark, write_private};

/// A life as the home remembers it. The number alone would not do: another database has the same numbers for others.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    boot: Boot,
    name: String,
    started_at: i64,
}

fn file(home: &Path) -> PathBuf {
    home.join("node.json")
}

/// Keeps the number of a life that has begun.
pub(super) fn remember(home: &Path, boot: Boot, name: &str, started_at: i64) -> std::io::Result<()> {
    let text = serde_json::to_vec(&Remembered { boot, name: name.to_owned(), started_at })?;
    write_private(&file(home), &text)
}

/// Forgets a life that has said goodbye.
pub fn forget(home: &Path) {
    let _ = std::fs::remove_file(file(home));
}

/// What a life that did not say goodbye left in its home.
#[derive(Debug)]
pub struct Left {
    boot: Boot,
    /// The locks of what it had under way.
    under_way: Vec<(PathBuf, Mark)>,
}

impl Left {
    /// Looks whether there is such a life. To be asked before this one starts anything. A file that cannot be read is none:
    /// then its lease ends by itself.
    pub async fn find(home: &Path, ledger: &dyn Ledger) -> Result<Option<Left>, Error> {
        let remembered: Option<Remembered> =
            std::fs::read(file(home)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let (Some(old), Some(_)) = (remembered, ledger.lease()) else { return Ok(None) };
        let same = |n: &ledger::Node| (n.boot, n.started_at, &n.name) == (old.boot, old.started_at, &old.name);
        if !ledger.nodes().await?.iter().any(same) {
            return Ok(None);
        }
        Ok(Some(Left { boot: old.boot, under_way: locks(&home.join("runs")) }))
    }

    /// Waits until nothing of it runs any more, then ends it: from then on every node may run its events.
    pub async fn end(self, core: Arc<Core>) {
        let Left { boot, under_way } = self;
        let gone = tokio::task::spawn_blocking(move || {
            std::thread::scope(|scope| {
                for (lock, mark) in &under_way {
                    scope.spawn(move || {
                        if let Err(error) = process::wait_until_gone(lock, mark) {
                            tracing::warn!(%error, "cannot tell whether a process of an earlier life has ended; going on");
                        }
                    });
                }
            });
        });
        let _ = gone.await;
        // When the ledger is away the lease ends by itself.
        if core.ledger.end_boot(boot).await.is_ok() {
            core.lease_bell.notify_one();
        }
    }
}

/// The locks of runs and of deliveries that are told by a program.
fn locks(folder: &Path) -> Vec<(PathBuf, Mark)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let lock = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_suffix(".lock")?.to_owned();
        let mark = match id.split_once('_')?.0 {
            "run" if !id.contains('.') => Mark::run(&id),
            "dlv" => Mark::delivery(&id),
            _ => return None,
        };
        Some((path, mark))
    };
    entries.filter_map(|entry| lock(entry.path())).collect()
}
