//! Numbered migrations, forward only.

use rusqlite::{Connection, OptionalExtension as _};

use super::failed;
use crate::Error;
use crate::migrate::UNFINISHED;
use crate::schema::may_use;

/// Each step's SQL; its place is its number, from 1.
const STEPS: &[&str] = &[include_str!("../migrations/0001_first.sql"), include_str!("../migrations/0002_nodes.sql")];

/// The least that one must know of them to use a file that has them all.
const MIN_READER: i64 = 2;

/// Brings a file to this version's schema. A file of a later version is refused.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    // Both must stand before the first table is made; on a file that has tables they change nothing.
    connection.execute_batch("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;").map_err(failed)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        return Err(Error::Unavailable(format!(
            "the ledger's disk does not allow write-ahead logging (journal mode {mode}); put the home on a local disk"
        )));
    }
    connection
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
             INSERT OR IGNORE INTO meta VALUES ('schema', 0), ('boot', 0);",
        )
        .map_err(failed)?;
    points::reach("migrate.meta");
    let have = fact(connection, "schema")?.unwrap_or_default();
    may_use(have, fact(connection, "min_reader")?, STEPS.len())?;
    let have = usize::try_from(have).unwrap_or(usize::MAX);
    for (number, step) in STEPS.iter().enumerate().skip(have) {
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(step).map_err(failed)?;
        transaction
            .execute(
                "UPDATE meta SET value = ?1 WHERE name = 'schema'",
                [i64::try_from(number + 1).unwrap_or(i64::MAX)],
            )
            .map_err(failed)?;
        transaction
            .execute(
                "INSERT INTO meta VALUES ('min_reader', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                [MIN_READER],
            )
            .map_err(failed)?;
        points::reach("migrate.step");
        transaction.commit().map_err(failed)?;
        points::reach("migrate.committed");
    }
    Ok(())
}

fn fact(connection: &Connection, name: &str) -> Result<Option<i64>, Error> {
    let sql = "SELECT value FROM meta WHERE name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).optional().map_err(failed)
}

/// Refuses a file that is an unfinished copy of another ledger.
pub(super) fn refuse_unfinished(connection: &Connection) -> Result<(), Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'migration')";
    let unfinished: bool = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
    if unfinished { Err(Error::Unavailable(UNFINISHED.into())) } else { Ok(()) }
}
