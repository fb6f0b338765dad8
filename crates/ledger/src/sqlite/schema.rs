//! Numbered migrations, forward only.

use rusqlite::Connection;

use super::failed;
use crate::Error;
use crate::migrate::UNFINISHED;

/// Each step's SQL; its place is its number, from 1.
const STEPS: &[&str] = &[include_str!("../migrations/0001_first.sql"), include_str!("../migrations/0002_nodes.sql")];

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
    let have: usize =
        connection.query_row("SELECT value FROM meta WHERE name = 'schema'", [], |row| row.get(0)).map_err(failed)?;
    if have > STEPS.len() {
        return Err(Error::Unavailable(format!(
            "the ledger has schema {have}, this doorbell knows {}; run the newer doorbell that wrote it",
            STEPS.len()
        )));
    }
    for (number, step) in STEPS.iter().enumerate().skip(have) {
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(step).map_err(failed)?;
        transaction
            .execute(
                "UPDATE meta SET value = ?1 WHERE name = 'schema'",
                [i64::try_from(number + 1).unwrap_or(i64::MAX)],
            )
            .map_err(failed)?;
        points::reach("migrate.step");
        transaction.commit().map_err(failed)?;
        points::reach("migrate.committed");
    }
    Ok(())
}

/// Refuses a file that is an unfinished copy of another ledger.
pub(super) fn refuse_unfinished(connection: &Connection) -> Result<(), Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'migration')";
    let unfinished: bool = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
    if unfinished { Err(Error::Unavailable(UNFINISHED.into())) } else { Ok(()) }
}
