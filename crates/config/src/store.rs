//! The ledger's store.

use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

use crate::path::Path;
use crate::raw::{self, Durability};
use crate::report::Report;

/// Where the ledger is and how careful it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The SQLite file.
    pub path: PathBuf,
    /// When an event counts as stored.
    pub durability: Durability,
    /// Free bytes on the disk below which no new events are taken.
    pub min_free: u64,
    /// How long finished events are kept.
    pub retention: Retention,
}

/// How long finished events are kept, by the state they ended in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Those that were answered.
    pub succeeded: Duration,
    /// Those whose retries were used up.
    pub exhausted: Duration,
    /// Those that somebody ended.
    pub cancelled: Duration,
    /// Those that a rule refused.
    pub ignored: Duration,
}

pub(crate) fn store(raw: &raw::Store, home: &FilePath, report: &mut Report) -> Store {
    let path = raw.url.as_deref().and_then(|url| sqlite_path(url, report));
    Store {
        path: home.join(path.as_deref().unwrap_or("doorbell.db")),
        durability: raw.durability,
        min_free: raw.min_free.0,
        retention: retention(raw.retention, report),
    }
}

/// The path of `sqlite:PATH` or `sqlite://PATH`. A URL may hold a password, so no message repeats it.
fn sqlite_path(url: &str, report: &mut Report) -> Option<String> {
    let at = Path::new(&["store", "url"]);
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    let path = rest.strip_prefix("//").unwrap_or(rest);
    match scheme.to_ascii_lowercase().as_str() {
        "sqlite" if !path.is_empty() => return Some(path.to_owned()),
        "sqlite" => report.fault(&at, "names no file", "write sqlite:PATH, or null for doorbell.db in the home"),
        "postgres" | "postgresql" => {
            report.fault(&at, "postgres://… is not supported by this version", "use null or sqlite:PATH");
        }
        _ => report.fault(&at, "not a store that is known", "use null or sqlite:PATH"),
    }
    None
}

/// No time at all would leave nothing to look at, and nothing to know a duplicate by.
fn retention(raw: raw::Retention, report: &mut Report) -> Retention {
    let each = raw.0;
    let at = Path::new(&["store", "retention"]);
    for (state, kept) in [("succeeded", each.succeeded), ("exhausted", each.exhausted), ("cancelled", each.cancelled)] {
        if kept.is_zero() {
            report.fault(&at, format!("{state} events would be removed as they end"), "keep them for an hour or more");
        }
    }
    Retention {
        succeeded: each.succeeded.0,
        exhausted: each.exhausted.0,
        cancelled: each.cancelled.0,
        ignored: each.ignored.0,
    }
}
