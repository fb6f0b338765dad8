//! The side that is a PostgreSQL database.

use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row as DatabaseRow};

use super::note::Note;
use super::table::{Cell, Kind, META, NUMBERED, Row, Table};
use super::{MigrateError, Side};
use crate::Error;
use crate::postgres::{self, stored};

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
    /// Connects, and brings the schema up to date.
    pub(super) fn connect(url: &str) -> Result<Database, MigrateError> {
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
    fn together(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        self.batch("BEGIN; SET LOCAL synchronous_commit = on")?;
        match work() {
            Ok(()) => self.batch("COMMIT"),
            Err(error) => {
                // The connection may be the reason; then the database takes it back by itself.
                let _ = self.batch("ROLLBACK");
                Err(error)
            }
        }
    }
}

impl Side for Database {
    fn outline(&mut self) -> Result<String, Error> {
        super::table::outline(self.marks()?, |sql| self.number(sql))
    }

    fn read(&mut self, table: &Table, after: Option<&Row>, limit: usize) -> Result<Vec<Row>, Error> {
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
        let sql = format!("SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {limit}", listed.join(", "), table.name);
        let values: Vec<_> = columns.iter().map(Column::typed).collect();
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

    fn begin(&mut self, note: &Note) -> Result<(), Error> {
        self.together(|| {
            self.batch("CREATE TABLE migration (note text NOT NULL)")?;
            self.rows("INSERT INTO migration VALUES ($1)", &[(&note.text(), Type::TEXT)]).map(drop)
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

    fn events(&mut self) -> Result<i64, Error> {
        self.number("SELECT count(*) FROM events")
    }

    fn alive(&mut self) -> Result<Option<String>, Error> {
        let sql = "SELECT name FROM nodes WHERE NOT ended AND lease_until > clock_timestamp() ORDER BY boot LIMIT 1";
        Ok(self.rows(sql, &[])?.first().map(|row| row.get(0)))
    }

    fn replaces_nul(&self) -> bool {
        true
    }
}
