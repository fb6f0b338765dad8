//! The life that was in this home before. Whoever has the home's lock knows that it is dead, so that after a crash nobody need
//! wait until its lease has ended: what it left passes to the next life in the same home.

use std::path::{Path, PathBuf};

use ledger::{Boot, Error, Inheritance, Ledger};
use serde::{Deserialize, Serialize};

use crate::process::write_private;

/// A life as the home remembers it. The number alone would not do: another database has the same numbers for others.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remembered {
    pub(super) boot: Boot,
    pub(super) name: String,
    pub(super) started_at: i64,
}

fn file(home: &Path) -> PathBuf {
    home.join("node.json")
}

/// Keeps a life that has begun.
pub(super) fn remember(home: &Path, life: &Remembered) -> std::io::Result<()> {
    write_private(&file(home), &serde_json::to_vec(life)?)
}

/// Forgets a life that has said goodbye.
pub fn forget(home: &Path) {
    let _ = std::fs::remove_file(file(home));
}

/// Takes over what the life before left that did not say goodbye. A file that cannot be read names none: then its lease ends
/// by itself.
pub(super) async fn inherit(ledger: &dyn Ledger, home: &Path, heir: Boot) -> Result<Inheritance, Error> {
    let before: Option<Remembered> =
        std::fs::read(file(home)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(before) = before else { return Ok(Inheritance::default()) };
    let is_it = |n: &ledger::Node| (n.boot, n.started_at, &n.name) == (before.boot, before.started_at, &before.name);
    if ledger.nodes().await?.iter().any(is_it) {
        ledger.inherit(before.boot, heir).await
    } else {
        Ok(Inheritance::default())
    }
}
