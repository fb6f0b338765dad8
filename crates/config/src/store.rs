//! The ledger's store.

use std::fmt;
use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

use crate::path::Path;
use crate::raw::{self, Durability};
use crate::report::Report;

/// Where the ledger is and how careful it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Where it is.
    pub at: Shelf,
    /// When an event counts as stored.
    pub durability: Durability,
    /// Free bytes on the disk below which no new events are taken.
    pub min_free: u64,
    /// How long finished events are kept.
    pub retention: Retention,
}

/// Where a ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// In a SQLite file, which one gateway uses.
    File(PathBuf),
    /// In a PostgreSQL database, which several share.
    Database(DatabaseUrl),
}

/// The URL of a PostgreSQL database. Printed without its user, password and settings.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl Shelf {
    /// What a URL names, relative files below `home`. The error says what is wrong and what to do, without the URL.
    pub fn read(url: &str, home: &FilePath) -> Result<Shelf, String> {
        shelf(url, home).map_err(|(message, help)| format!("{message}; {help}"))
    }
}

/// The place, for people.
impl fmt::Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shelf::File(path) => write!(f, "{}", path.display()),
            Shelf::Database(url) => write!(f, "{url}"),
        }
    }
}

impl DatabaseUrl {
    /// A `postgres://` or `postgresql://` URL. The error says what is wrong and what to do, without the URL: it may hold a
    /// password.
    fn read(url: &str) -> Result<DatabaseUrl, (&'static str, &'static str)> {
        let Some((scheme, rest)) = url.split_once("://") else { return Err(UNKNOWN) };
        if !["postgres", "postgresql"].contains(&scheme) {
            return Err(UNKNOWN);
        }
        // What comes before an `@` may be a password, so there must be no doubt about where that is.
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if rest.matches('@').count() > authority.matches('@').count().min(1) {
            return Err((
                "has an `@` in the wrong place",
                "in a user name or password write %40 for @, %2F for /, %3A for :, %3F for ? and %23 for #",
            ));
        }
        if authority.rsplit('@').next().is_none_or(str::is_empty) && !rest.contains("host=") {
            return Err(("names no server", "write it like postgres://user:password@host:5432/database"));
        }
        Ok(DatabaseUrl(url.to_owned()))
    }

    /// The whole of it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Server and database.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        let place = rest.split(['?', '#']).next().unwrap_or_default();
        write!(f, "{scheme}://{}", place.rsplit('@').next().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What is no store at all.
const UNKNOWN: (&str, &str) =
    ("not a store that is known", "use null, sqlite:PATH or postgres://user:password@host/database");

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
    let own = || Shelf::File(home.join("doorbell.db"));
    let at = raw.url.as_deref().map_or_else(own, |url| {
        shelf(url, home).unwrap_or_else(|(message, help)| {
            report.fault(&Path::new(&["store", "url"]), message, help);
            own()
        })
    });
    Store { at, durability: raw.durability, min_free: raw.min_free.0, retention: retention(raw.retention, report) }
}

/// What a URL names: `sqlite:PATH`, `sqlite://PATH` or a database. No message repeats it: it may hold a password.
fn shelf(url: &str, home: &FilePath) -> Result<Shelf, (&'static str, &'static str)> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    if !scheme.eq_ignore_ascii_case("sqlite") {
        return DatabaseUrl::read(url).map(Shelf::Database);
    }
    match rest.strip_prefix("//").unwrap_or(rest) {
        "" => Err(("names no file", "write sqlite:PATH, or null for doorbell.db in the home")),
        path => Ok(Shelf::File(home.join(path))),
    }
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
