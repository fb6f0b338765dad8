//! The side that is a SQLite file.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, ToSql, params_from_iter};

use super::note::Note;
use super::table::{Cell, META, NUMBERED, Row, TOLD_ANEW, Table, bytes_of};
use super::{BATCH_BYTES, BATCH_ROWS, MigrateError, Side};
use crate::Error;
use crate::sqlite::{Durability, Options, Owned, failed};

/// How long another owner may take to let go.
const PATIENCE: Duration = Duration::from_secs(3);

/// A file that is ours alone.
pub(super) struct File {
    connection: Connection,
    owned: Owned,
}

impl File {
    /// A file to copy from, which must be there; its schema is brought up to date.
    pub(super) fn source(home: &Path, path: &Path) -> Result<Option<File>, MigrateError> {
        if !path.exists() {
            return Ok(None);
        }
        File::open(home, path, None).map(Some)
    }

    /// A file to copy into, made when it is not there. `source` is the other side's, when that is a file too.
    pub(super) fn destination(home: &Path, path: &Path, source: Option<&Owned>) -> Result<File, MigrateError> {
        File::open(home, path, source)
    }

    fn open(home: &Path, path: &Path, beside: Option<&Owned>) -> Result<File, MigrateError> {
        let options = Options {
            home: home.to_owned(),
            path: path.to_owned(),
            durability: Durability::Full,
            min_free: 0,
            patience: PATIENCE,
        };
        let (owned, connection) = Owned::open(&options, beside)?;
        Ok(File { connection, owned })
    }

    fn number(&self, sql: &str) -> Result<i64, Error> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(failed)
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Number(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Number(number),
        // No column of a ledger is of this kind.
        ValueRef::Real(number) => Cell::Text(number.to_string()),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn marks_of(count: usize) -> String {
    vec!["?"; count].join(", ")
}

impl Side for File {
    fn outline(&mut self) -> Result<String, Error> {
        super::table::outline(self.marks()?, |sql| self.number(sql))
    }

    fn read(&mut self, table: &Table, after: Option<&Row>) -> Result<Vec<Row>, Error> {
        let (listed, key) = (table.listed(), table.key_listed());
        let behind = after.map_or(String::new(), |_| format!("WHERE ({key}) > ({})", marks_of(table.key)));
        let sql = format!("SELECT {listed} FROM {} {behind} ORDER BY {key} LIMIT {BATCH_ROWS}", table.name);
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed)?;
        let values = params_from_iter(after.into_iter().flatten());
        let rows = statement
            .query_map(values, |row| {
                (0..table.columns.len()).map(|at| row.get_ref(at).map(cell)).collect::<Result<Row, _>>()
            })
            .map_err(failed)?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for row in rows {
            let row = row.map_err(failed)?;
            bytes += bytes_of(&row);
            batch.push(row);
            if bytes >= BATCH_BYTES {
                break;
            }
        }
        Ok(batch)
    }

    fn note(&mut self) -> Result<Option<Note>, Error> {
        if self.number("SELECT count(*) FROM sqlite_master WHERE name = 'migration'")? == 0 {
            return Ok(None);
        }
        let text: Option<String> =
            self.connection.query_row("SELECT note FROM migration", [], |row| row.get(0)).optional().map_err(failed)?;
        Ok(text.map(|text| Note::read(&text)))
    }

    fn write(&mut self, table: &Table, rows: &[Row], note: &Note) -> Result<(), Error> {
        let transaction = self.connection.transaction().map_err(failed)?;
        {
            let sql =
                format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.listed(), marks_of(table.columns.len()));
            let mut statement = transaction.prepare_cached(&sql).map_err(failed)?;
            for row in rows {
                statement.execute(params_from_iter(row)).map_err(failed)?;
            }
        }
        transaction.execute("UPDATE migration SET note = ?1", [note.text()]).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    fn begin(&mut self, note: &Note) -> Result<Option<String>, Error> {
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction.execute_batch(TOLD_ANEW).map_err(failed)?;
        transaction.execute("CREATE TABLE migration (note TEXT NOT NULL) STRICT", []).map_err(failed)?;
        transaction.execute("INSERT INTO migration VALUES (?1)", [note.text()]).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(None)
    }

    fn marks(&mut self) -> Result<[i64; 4], Error> {
        let mark =
            |table: &str| format!("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0)");
        let [events, runs, deliveries] = NUMBERED.map(|table| self.number(&mark(table)));
        let boots = self.number("SELECT value FROM meta WHERE name = 'boot'")?;
        Ok([events?, runs?, deliveries?, boots])
    }

    fn facts(&mut self) -> Result<Vec<(&'static str, i64)>, Error> {
        let mut facts = Vec::new();
        for name in META {
            let value = self
                .connection
                .query_row("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0))
                .optional()
                .map_err(failed)?;
            facts.extend(value.map(|value| (name, value)));
        }
        Ok(facts)
    }

    fn finish(&mut self, marks: [i64; 4], facts: &[(&'static str, i64)]) -> Result<(), Error> {
        let transaction = self.connection.transaction().map_err(failed)?;
        for (table, mark) in NUMBERED.iter().zip(marks) {
            // There is a row for each table that ever had one of its own.
            transaction
                .execute("DELETE FROM sqlite_sequence WHERE name = ?1", [table])
                .and_then(|_| transaction.execute("INSERT INTO sqlite_sequence VALUES (?1, ?2)", (table, mark)))
                .map_err(failed)?;
        }
        let boot = ("boot", marks[3]);
        for (name, value) in facts.iter().chain([&boot]) {
            let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            transaction.execute(sql, (name, value)).map_err(failed)?;
        }
        transaction.execute("DROP TABLE migration", []).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    fn filled(&mut self) -> Result<Option<(&'static str, i64)>, Error> {
        super::table::filled(|sql| self.number(sql))
    }

    fn take(&mut self) -> Result<bool, Error> {
        // Its lock is ours since it was opened.
        Ok(true)
    }

    fn alive(&mut self) -> Result<Option<String>, Error> {
        // Its lock is ours.
        Ok(None)
    }

    fn replaces_nul(&self) -> bool {
        false
    }

    fn owned(&self) -> Option<&Owned> {
        Some(&self.owned)
    }
}
