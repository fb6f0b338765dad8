//! Copying a whole ledger into an empty one: a file into a database, the other way round, or between two of a kind.
//!
//! Rows keep their numbers, so that order, cursors and references stay. A copy goes table by table in the order of each
//! table's key, a batch at a time; the same transaction that stores a batch notes how far it came, so that a copy that was
//! cut off goes on where it was. While the note is there nobody opens the destination as a ledger. It goes once the
//! contents of both sides have been found to be the same.
//!
//! What a gateway had under way in the source is found by the next one in the destination: runs and deliveries keep the life
//! that they belong to, none of these lives is alive there, and new ones get larger numbers.

mod database;
mod digest;
mod file;
mod note;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::Error;
use crate::postgres::ConnectError;
use crate::sqlite::{OpenError, Owned};

use digest::Digest;
use note::{Note, Place};
use table::{Row, TABLES, Table};

/// What whoever opens an unfinished copy is told.
pub(crate) const UNFINISHED: &str =
    "it is an unfinished copy of another ledger; run the same `doorbell migrate` again to finish it, or empty it";

/// Where a ledger is.
#[derive(Debug, Clone)]
pub enum At {
    /// In a file of a home.
    File {
        /// The home, whose lock is taken.
        home: PathBuf,
        /// The file.
        path: PathBuf,
    },
    /// In a PostgreSQL database.
    Database {
        /// Its URL.
        url: String,
        /// The same for people, without what is secret.
        shown: String,
    },
}

/// Why a ledger was not copied.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A file cannot be had.
    #[error(transparent)]
    File(#[from] OpenError),
    /// A database cannot be had.
    #[error(transparent)]
    Database(#[from] ConnectError),
    /// A step failed; what is copied so far is kept.
    #[error("{0}; start it again to go on where it was")]
    Failed(Error),
    /// There is nothing to copy.
    #[error("there is no ledger in {place}; look at --from")]
    NoLedger {
        /// What was to be copied.
        place: String,
    },
    /// The source is the destination.
    #[error("{place} is both --from and --to: the same ledger; name another place for the copy")]
    Same {
        /// The ledger.
        place: String,
    },
    /// The source is half a copy itself.
    #[error(
        "{place} is an unfinished copy of another ledger and no source: finish it with its own `doorbell migrate` first"
    )]
    Unfinished {
        /// The source.
        place: String,
    },
    /// Another copy works on it.
    #[error(
        "{place} is in use by another `doorbell migrate`, or is the other side under another address; wait for its end, or name \
         another place"
    )]
    Busy {
        /// The ledger.
        place: String,
    },
    /// A gateway works on it.
    #[error(
        "{place} is in use by the gateway {name}: stop it first; when it was killed, its lease ends 30 s after it renewed it last"
    )]
    InUse {
        /// The ledger.
        place: String,
        /// The node's name.
        name: String,
    },
    /// There is something already.
    #[error("{place} holds {rows} {table} already; a ledger is copied into an empty one")]
    NotEmpty {
        /// The destination.
        place: String,
        /// What it holds: a table,
        table: &'static str,
        /// and its rows.
        rows: i64,
    },
    /// An unfinished copy of something else.
    #[error(
        "{place} holds an unfinished copy of another ledger, or of this one before it was changed; empty it (drop the schema \
         `doorbell`, or remove the file) and start again"
    )]
    OtherCopy {
        /// The destination.
        place: String,
    },
    /// The copy is not what the source is.
    #[error(
        "{place} is not the same as the source: {what}; empty it (drop the schema `doorbell`, or remove the file) and start again"
    )]
    Different {
        /// The destination.
        place: String,
        /// The first table in which they differ.
        what: String,
    },
}

impl From<Error> for MigrateError {
    fn from(error: Error) -> Self {
        MigrateError::Failed(error)
    }
}

/// What was copied, a table each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The table's name.
    pub table: &'static str,
    /// How many rows it has on both sides.
    pub rows: u64,
    /// What both sides' rows come to: SHA-256 of each, summed, in hexadecimal.
    pub checksum: String,
}

/// One side of a copy.
trait Side {
    /// What a copy is told apart by: counts and high-water marks.
    fn outline(&mut self) -> Result<String, Error>;
    /// The next batch behind `after` in the order of the table's key; empty: there are no more rows.
    fn read(&mut self, table: &Table, after: Option<&Row>) -> Result<Vec<Row>, Error>;
    /// The note of an unfinished copy.
    fn note(&mut self) -> Result<Option<Note>, Error>;
    /// Stores rows and the note in one transaction.
    fn write(&mut self, table: &Table, rows: &[Row], note: &Note) -> Result<(), Error>;
    /// Begins with the first note, unless a life goes on there, whose name it answers then.
    fn begin(&mut self, note: &Note) -> Result<Option<String>, Error>;
    /// The largest numbers given to events, runs, deliveries and lives.
    fn marks(&mut self) -> Result<[i64; 4], Error>;
    /// Facts of `meta` that go along.
    fn facts(&mut self) -> Result<Vec<(&'static str, i64)>, Error>;
    /// Sets the marks and the facts, and takes the note away.
    fn finish(&mut self, marks: [i64; 4], facts: &[(&'static str, i64)]) -> Result<(), Error>;
    /// A table that holds what is not to be lost, and how many rows.
    fn filled(&mut self) -> Result<Option<(&'static str, i64)>, Error>;
    /// Takes it for this copy alone; `false`: another one has it.
    fn take(&mut self) -> Result<bool, Error>;
    /// The name of a life that goes on.
    fn alive(&mut self) -> Result<Option<String>, Error>;
    /// Whether a text with NUL is kept otherwise.
    fn replaces_nul(&self) -> bool;
    /// The locks of its files.
    fn owned(&self) -> Option<&Owned>;
}

/// A side that is open.
type Open = Box<dyn Side>;

/// Rows of a batch at most.
const BATCH_ROWS: usize = 1000;
/// Bytes with which a batch is full; its last row may go beyond them.
const BATCH_BYTES: usize = 4 << 20;

/// Copies `from` into `to`, or goes on with that. Blocks the thread. `progress` hears of each batch: the table, and the rows of it
/// that were copied by now. The source stays as it is, but for an upgrade of its schema.
pub fn copy(from: &At, to: &At, progress: &mut dyn FnMut(&str, u64)) -> Result<Vec<Copied>, MigrateError> {
    let (mut source, mut destination) = open(from, to)?;
    let outline = source.outline()?;
    let mut note = match destination.note()? {
        Some(note) if note.outline == outline => note,
        Some(_) => return Err(MigrateError::OtherCopy { place: to.shown() }),
        None => {
            if let Some((table, rows)) = destination.filled()? {
                return Err(MigrateError::NotEmpty { place: to.shown(), table, rows });
            }
            let note = Note::new(outline.clone());
            if let Some(name) = destination.begin(&note)? {
                return Err(MigrateError::InUse { place: to.shown(), name });
            }
            note
        }
    };
    points::reach("copy.begun");
    for (number, table) in TABLES.iter().enumerate().skip(note.place.table) {
        let mut copied = 0;
        loop {
            let rows = source.read(table, note.place.after.as_ref())?;
            let Some(last) = rows.last() else { break };
            note.place = Place { table: number, after: Some(table.key_of(last)) };
            destination.write(table, &rows, &note)?;
            points::reach("copy.batch");
            copied += u64::try_from(rows.len()).unwrap_or(0);
            progress(table.name, copied);
        }
        note.place = Place { table: number + 1, after: None };
    }
    let replace_nul = source.replaces_nul() || destination.replaces_nul();
    let copied = compare(&mut *source, &mut *destination, replace_nul, to)?;
    if source.outline()? != outline {
        let what = "the source was changed meanwhile".to_owned();
        return Err(MigrateError::Different { place: to.shown(), what });
    }
    // Lives and rows that are gone may have had larger numbers in the destination.
    let (theirs, own, facts) = (source.marks()?, destination.marks()?, source.facts()?);
    let marks = std::array::from_fn(|at| theirs[at].max(own[at]));
    points::reach("copy.compared");
    destination.finish(marks, &facts)?;
    Ok(copied)
}

/// Opens both sides, and makes sure that they are two, and that nobody else uses them.
fn open(from: &At, to: &At) -> Result<(Open, Open), MigrateError> {
    if from.is(to) {
        return Err(MigrateError::Same { place: from.shown() });
    }
    let mut source = from.open_source()?.ok_or_else(|| MigrateError::NoLedger { place: from.shown() })?;
    let mut destination = to.open_destination(source.owned())?;
    for (side, at) in [(&mut source, from), (&mut destination, to)] {
        if !side.take()? {
            return Err(MigrateError::Busy { place: at.shown() });
        }
        if let Some(name) = side.alive()? {
            return Err(MigrateError::InUse { place: at.shown(), name });
        }
    }
    if source.note()?.is_some() {
        return Err(MigrateError::Unfinished { place: from.shown() });
    }
    Ok((source, destination))
}

fn compare(
    source: &mut dyn Side,
    destination: &mut dyn Side,
    replace_nul: bool,
    to: &At,
) -> Result<Vec<Copied>, MigrateError> {
    let mut all = Vec::new();
    for table in &TABLES {
        let (one, other) = (digest(source, table, replace_nul)?, digest(destination, table, replace_nul)?);
        if one != other {
            let what =
                format!("table {} has {} rows there, {} here, or other contents", table.name, one.rows, other.rows);
            return Err(MigrateError::Different { place: to.shown(), what });
        }
        all.push(Copied { table: table.name, rows: one.rows, checksum: one.hex() });
    }
    Ok(all)
}

fn digest(side: &mut dyn Side, table: &Table, replace_nul: bool) -> Result<Digest, Error> {
    let mut digest = Digest::default();
    let mut after = None;
    loop {
        let rows = side.read(table, after.as_ref())?;
        let Some(last) = rows.last() else { return Ok(digest) };
        after = Some(table.key_of(last));
        for row in &rows {
            digest.add(row, replace_nul);
        }
    }
}

impl At {
    /// Whether it is surely the same place. One database has many addresses: that is found once both are open.
    fn is(&self, other: &At) -> bool {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        match (self, other) {
            (At::File { path, .. }, At::File { path: other, .. }) => real(path) == real(other),
            (At::Database { url, .. }, At::Database { url: other, .. }) => url == other,
            _ => false,
        }
    }

    fn open_source(&self) -> Result<Option<Open>, MigrateError> {
        Ok(match self {
            At::File { home, path } => file::File::source(home, path)?.map(|side| Box::new(side) as Open),
            At::Database { url, .. } => database::Database::source(url)?.map(|side| Box::new(side) as Open),
        })
    }

    fn open_destination(&self, source: Option<&Owned>) -> Result<Open, MigrateError> {
        Ok(match self {
            At::File { home, path } => Box::new(file::File::destination(home, path, source)?),
            At::Database { url, .. } => Box::new(database::Database::destination(url)?),
        })
    }

    fn shown(&self) -> String {
        match self {
            At::File { path, .. } => path.display().to_string(),
            At::Database { shown, .. } => shown.clone(),
        }
    }
}
