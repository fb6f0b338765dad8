//! Ids on the command line.

use rules::id::{self, Kind};

/// The id, when it can be one of `kind`. The error says what it is instead, and where the right one is found.
pub(super) fn of(kind: Kind, id: &str) -> anyhow::Result<&str> {
    match id::wrong_kind(id, kind) {
        None => Ok(id),
        Some(hint) => anyhow::bail!("{hint}"),
    }
}
