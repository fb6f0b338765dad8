//! The store of a single gateway: one SQLite file, one writer, group commit.

mod admit;
mod blob;
mod claim;
mod deliver;
mod finish;
mod lines;
mod lock;
mod log;
mod readers;
mod recover;
mod repair;
mod routes;
mod schema;
mod space;
mod store;
#[cfg(test)]
mod tests;
mod views;
mod writer;

pub use lock::Lock;
pub use lock::LockError;
pub use store::{Durability, OpenError, Options, Store};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::Error;

/// Opens a connection with the settings that every connection of ours has.
fn connect(path: &std::path::Path, read_only: bool) -> Result<Connection, Error> {
    use rusqlite::OpenFlags;
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    };
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(failed)?;
    // A plan does not depend on bound values: else SQLite compiles a statement again each time that its values change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// A database error as the callers know it.
#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
fn failed(error: rusqlite::Error) -> Error {
    Error::Unavailable(error.to_string())
}
