//! The side that is a PostgreSQL database.

use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row as DatabaseRow};

use super::note::Note;
use super::table::{Cell, Kind, META, NUMBERED, Row, TOLD_ANEW, Table};
use super::{BATCH_BYTES, BATCH_ROWS, MigrateError, Side};
use crate::Error;
use crate::postgres::{self, stored};
use crate::sqlite::Owned;

/// A connection of its own, with a runtime that only it needs.
pub(super) struct Database {
    runtime: Runtime,
    client: Client,
}

/// A column of values for `unnest`.
enum Column {
    Numbers(Vec<Option<i64>>),
    Truths(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
    Blobs(Vec<Option<Vec<u8>>>),
}

impl Column {
    fn of(kind: Kind, cells: impl Iterator<Item = Cell>) -> Column {
        let number = |cell| match cell {
            Cell::Number(number) => Some(number),
            _ => None,
        };
        match kind {
            Kind::Number => Column::Numbers(cells.map(number).collect()),
            Kind::Truth => Column::Truths(cells.map(|cell| number(cell).map(|number| number != 0)).collect()),
            Kind::Text => Column::Texts(
                cells
                    .map(|cell| if let Cell::Text(text) = cell { Some(stored(&text).into_owned()) } else { None })
                    .collect(),
            ),
            Kind::Blob => {
                Column::Blobs(cells.map(|cell| if let Cell::Blob(bytes) = cell { Some(bytes) } else { None }).collect())
            }
        }
    }

    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Column::Numbers(all) => (all, Type::INT8_ARRAY),
            Column::Truths(all) => (all, Type::BOOL_ARRAY),
            Column::Texts(all) => (all, Type::TEXT_ARRAY),
            Column::Blobs(all) => (all, Type::BYTEA_ARRAY),
        }
    }
}

fn cell(row: &DatabaseRow, at: usize, kind: Kind) -> Cell {
    match kind {
        Kind::Number | Kind::Truth => row.get::<_, Option<i64>>(at).map_or(Cell::Null, Cell::Number),
        Kind::Text => row.get::<_, Option<String>>(at).map_or(Cell::Null, Cell::Text),
        Kind::Blob => row.get::<_, Option<Vec<u8>>>(at).map_or(Cell::Null, Cell::Blob),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
fn failed(error: tokio_postgres::Error) -> Error {
    postgres::unavailable(&error)
}

impl Database {
    /// A database to copy from; its schema is brought up to date. Nothing, when it holds no ledger.
    pub(super) fn source(url: &str) -> Result<Option<Database>, MigrateError> {
        let database = Database::connect(url)?;
        if database.number("SELECT (to_regclass('doorbell.meta') IS NOT NULL)::int::bigint")? == 0 {
            return Ok(None);
        }
        database.runtime.block_on(postgres::bring_up(url))?;
        Ok(Some(database))
    }

    /// A database to copy into, whose schema is made when it is not there.
    pub(super) fn destination(url: &str) -> Result<Database, MigrateError> {
        let database = Database::connect(url)?;
        database.runtime.block_on(postgres::bring_up(url))?;
        Ok(database)
    }

    fn connect(url: &str) -> Result<Database, MigrateError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| MigrateError::Failed(Error::Unavailable(error.to_string())))?;
        let client = runtime.block_on(postgres::connect_for_copy(url))?;
        Ok(Database { runtime, client })
    }

    fn rows(&self, sql: &str, values: &[(&(dyn ToSql + Sync), Type)]) -> Result<Vec<DatabaseRow>, Error> {
        self.runtime.block_on(self.client.query_typed(sql, values)).map_err(failed)
    }

    fn number(&self, sql: &str) -> Result<i64, Error> {
        let rows = self.rows(sql, &[])?;
        Ok(rows.first().map_or(0, |row| row.get(0)))
    }

    fn batch(&self, sql: &str) -> Result<(), Error> {
        self.runtime.block_on(self.client.batch_execute(sql)).map_err(failed)
    }

    /// Runs `work` in a transaction.
    fn together<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.batch("BEGIN; SET LOCAL synchronous_commit = on")?;
        match work() {
            Ok(value) => self.batch("COMMIT").map(|()| value),
            Err(error) => {
                // The connection may be the reason; then the database takes it back by itself.
                let _ = self.batch("ROLLBACK");
                Err(error)
            }
        }
    }

    fn living(&self) -> Result<Option<String>, Error> {
        let sql = "SELECT name FROM nodes WHERE NOT ended AND lease_until > clock_timestamp() ORDER BY boot LIMIT 1";
        Ok(self.rows(sql, &[])?.first().map(|row| row.get(0)))
    }

    /// How many of the rows behind a key make a batch: one at least, and no more once they are large enough. Lengths are known
    /// without a look at what is stored out of line.
    fn fitting(&self, table: &Table, behind: &str, values: &[(&(dyn ToSql + Sync), Type)]) -> Result<usize, Error> {
        let long = table.columns.iter().filter(|(_, kind)| matches!(kind, Kind::Text | Kind::Blob));
        let lengths: Vec<String> = std::iter::once("0".to_owned())
            .chain(long.map(|(name, _)| format!("coalesce(octet_length({name}), 0)")))
            .collect();
        let (lengths, key) = (lengths.join(" + "), table.key_listed());
        let sql = format!("SELECT ({lengths})::bigint FROM {} {behind} ORDER BY {key} LIMIT {BATCH_ROWS}", table.name);
        let mut bytes = 0;
        let rows = self.rows(&sql, values)?;
        let full = rows.iter().position(|row| {
            bytes += usize::try_from(row.get::<_, i64>(0)).unwrap_or(usize::MAX);
            bytes >= BATCH_BYTES
        });
        Ok(full.map_or(rows.len(), |last| last + 1))
    }
}

impl Side for Database {
    fn outline(&mut self) -> Result<String, Error> {
        super::table::outline(self.marks()?, |sql| self.number(sql))
    }

    fn read(&mut self, table: &Table, after: Option<&Row>) -> Result<Vec<Row>, Error> {
        let shown = |(name, kind): &(&str, Kind)| match kind {
            Kind::Number => format!("{name}::bigint"),
            Kind::Truth => format!("{name}::int::bigint"),
            Kind::Text | Kind::Blob => (*name).to_owned(),
        };
        let listed: Vec<String> = table.columns.iter().map(shown).collect();
        let key = table.key_listed();
        let columns: Vec<Column> = after.map_or(Vec::new(), |row| {
            let each = row.iter().zip(table.columns);
            each.map(|(cell, (_, kind))| Column::of(*kind, std::iter::once(cell.clone()))).collect()
        });
        let behind = after.map_or(String::new(), |row| {
            let places: Vec<String> = (1..=row.len()).map(|place| format!("(${place})[1]")).collect();
            format!("WHERE ({key}) > ({})", places.join(", "))
        });
        let values: Vec<_> = columns.iter().map(Column::typed).collect();
        let limit = self.fitting(table, &behind, &values)?;
        let sql = format!("SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {limit}", listed.join(", "), table.name);
        let rows = self.rows(&sql, &values)?;
        let whole =
            |row: &DatabaseRow| table.columns.iter().enumerate().map(|(at, (_, kind))| cell(row, at, *kind)).collect();
        Ok(rows.iter().map(whole).collect())
    }

    fn note(&mut self) -> Result<Option<Note>, Error> {
        if self.number("SELECT (to_regclass('doorbell.migration') IS NOT NULL)::int::bigint")? == 0 {
            return Ok(None);
        }
        let rows = self.rows("SELECT note FROM migration", &[])?;
        Ok(rows.first().map(|row| Note::read(row.get(0))))
    }

    fn write(&mut self, table: &Table, rows: &[Row], note: &Note) -> Result<(), Error> {
        let columns: Vec<Column> = table
            .columns
            .iter()
            .enumerate()
            .map(|(at, (_, kind))| Column::of(*kind, rows.iter().map(|row| row[at].clone())))
            .collect();
        let values: Vec<_> = columns.iter().map(Column::typed).collect();
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("${place}")).collect();
        let sql =
            format!("INSERT INTO {} ({}) SELECT * FROM unnest({})", table.name, table.listed(), places.join(", "));
        self.together(|| {
            self.rows(&sql, &values)?;
            self.rows("UPDATE migration SET note = $1", &[(&note.text(), Type::TEXT)]).map(drop)
        })
    }

    fn begin(&mut self, note: &Note) -> Result<Option<String>, Error> {
        self.together(|| {
            // As lives begin, so that one has begun before and is seen, or sees the note.
            self.batch("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE")?;
            if let Some(name) = self.living()? {
                return Ok(Some(name));
            }
            self.batch(TOLD_ANEW)?;
            self.batch("CREATE TABLE migration (note text NOT NULL)")?;
            self.rows("INSERT INTO migration VALUES ($1)", &[(&note.text(), Type::TEXT)])?;
            Ok(None)
        })
    }

    fn marks(&mut self) -> Result<[i64; 4], Error> {
        let mark = |table: &str, column: &str| {
            format!("SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', '{column}')), 0)")
        };
        let [events, runs, deliveries] = NUMBERED.map(|table| self.number(&mark(table, "seq")));
        Ok([events?, runs?, deliveries?, self.number(&mark("nodes", "boot"))?])
    }

    fn facts(&mut self) -> Result<Vec<(&'static str, i64)>, Error> {
        let mut facts = Vec::new();
        for name in META {
            let rows = self.rows("SELECT value FROM meta WHERE name = $1", &[(&name, Type::TEXT)])?;
            facts.extend(rows.first().map(|row| (name, row.get(0))));
        }
        Ok(facts)
    }

    fn finish(&mut self, marks: [i64; 4], facts: &[(&'static str, i64)]) -> Result<(), Error> {
        let numbered = NUMBERED.iter().map(|table| (*table, "seq")).chain([("nodes", "boot")]);
        self.together(|| {
            for ((table, column), mark) in numbered.zip(marks).filter(|(_, mark)| *mark > 0) {
                let sql = format!("SELECT setval(pg_get_serial_sequence('{table}', '{column}'), {mark})");
                self.rows(&sql, &[])?;
            }
            for (name, value) in facts {
                let sql = "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                self.rows(sql, &[(name, Type::TEXT), (value, Type::INT8)])?;
            }
            self.batch("DROP TABLE migration")
        })?;
        // What the planner knows of the tables is from when they were empty.
        self.batch("ANALYZE events, requests, keys, runs, run_texts, deliveries")
    }

    fn filled(&mut self) -> Result<Option<(&'static str, i64)>, Error> {
        super::table::filled(|sql| self.number(sql))
    }

    fn take(&mut self) -> Result<bool, Error> {
        // Held until the connection ends, whose pooler would give it to others.
        Ok(self.number("SELECT pg_try_advisory_lock(7305808869231650673)::int::bigint")? == 1)
    }

    fn alive(&mut self) -> Result<Option<String>, Error> {
        self.living()
    }

    fn replaces_nul(&self) -> bool {
        true
    }

    fn owned(&self) -> Option<&Owned> {
        None
    }
}
