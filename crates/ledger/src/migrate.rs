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
use crate::sqlite::OpenError;

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
    Failed(#[from] Error),
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
    #[error("{place} holds {events} events already; a ledger is copied into an empty one")]
    NotEmpty {
        /// The destination.
        place: String,
        /// What it holds.
        events: i64,
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
    /// Rows behind `after` in the order of the table's key, at most `limit`.
    fn read(&mut self, table: &Table, after: Option<&Row>, limit: usize) -> Result<Vec<Row>, Error>;
    /// The note of an unfinished copy.
    fn note(&mut self) -> Result<Option<Note>, Error>;
    /// Stores rows and the note in one transaction.
    fn write(&mut self, table: &Table, rows: &[Row], note: &Note) -> Result<(), Error>;
    /// Begins: the first note.
    fn begin(&mut self, note: &Note) -> Result<(), Error>;
    /// The largest numbers given to events, runs, deliveries and lives.
    fn marks(&mut self) -> Result<[i64; 4], Error>;
    /// Facts of `meta` that go along.
    fn facts(&mut self) -> Result<Vec<(&'static str, i64)>, Error>;
    /// Sets the marks and the facts, and takes the note away.
    fn finish(&mut self, marks: [i64; 4], facts: &[(&'static str, i64)]) -> Result<(), Error>;
    /// How many events it holds.
    fn events(&mut self) -> Result<i64, Error>;
    /// The name of a life that goes on.
    fn alive(&mut self) -> Result<Option<String>, Error>;
    /// Whether a text with NUL is kept otherwise.
    fn replaces_nul(&self) -> bool;
}

/// Rows of a batch, of tables with small rows and of those with bodies and answers.
const SMALL_ROWS: usize = 1000;
const LARGE_ROWS: usize = 64;

fn batch(table: &Table) -> usize {
    if table.has_blobs() { LARGE_ROWS } else { SMALL_ROWS }
}

/// Copies `from` into `to`, or goes on with that. Blocks the thread. `progress` hears of each batch: the table, and the rows of it
/// that were copied by now. The source stays as it is, but for an upgrade of its schema.
pub fn copy(from: &At, to: &At, progress: &mut dyn FnMut(&str, u64)) -> Result<Vec<Copied>, MigrateError> {
    let mut source = from.open_source()?;
    let mut destination = to.open_destination()?;
    for (side, at) in [(&mut source, from), (&mut destination, to)] {
        if let Some(name) = side.alive()? {
            return Err(MigrateError::InUse { place: at.shown(), name });
        }
    }
    let outline = source.outline()?;
    let mut note = match destination.note()? {
        Some(note) if note.outline == outline => note,
        Some(_) => return Err(MigrateError::OtherCopy { place: to.shown() }),
        None => {
            let events = destination.events()?;
            if events > 0 {
                return Err(MigrateError::NotEmpty { place: to.shown(), events });
            }
            let note = Note::new(outline.clone());
            destination.begin(&note)?;
            note
        }
    };
    // One that began in between has not seen the note.
    if let Some(name) = destination.alive()? {
        return Err(MigrateError::InUse { place: to.shown(), name });
    }
    points::reach("copy.begun");
    for (number, table) in TABLES.iter().enumerate().skip(note.place.table) {
        let mut copied = 0;
        loop {
            let rows = source.read(table, note.place.after.as_ref(), batch(table))?;
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
    let (marks, facts) = (source.marks()?, source.facts()?);
    points::reach("copy.compared");
    destination.finish(marks, &facts)?;
    Ok(copied)
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
        let rows = side.read(table, after.as_ref(), batch(table))?;
        let Some(last) = rows.last() else { return Ok(digest) };
        after = Some(table.key_of(last));
        for row in &rows {
            digest.add(row, replace_nul);
        }
    }
}

impl At {
    fn open_source(&self) -> Result<Box<dyn Side>, MigrateError> {
        match self {
            At::File { home, path } => Ok(Box::new(file::File::source(home, path)?)),
            At::Database { url, .. } => Ok(Box::new(database::Database::connect(url)?)),
        }
    }

    fn open_destination(&self) -> Result<Box<dyn Side>, MigrateError> {
        match self {
            At::File { home, path } => Ok(Box::new(file::File::destination(home, path)?)),
            At::Database { url, .. } => Ok(Box::new(database::Database::connect(url)?)),
        }
    }

    fn shown(&self) -> String {
        match self {
            At::File { path, .. } => path.display().to_string(),
            At::Database { shown, .. } => shown.clone(),
        }
    }
}
