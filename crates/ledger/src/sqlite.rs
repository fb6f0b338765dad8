//! The store of a single gateway: one SQLite file, one writer, group commit.

mod admit;
pub(crate) mod blob;
mod claim;
mod deliver;
mod files;
mod finish;
mod lines;
mod lock;
mod log;
mod nodes;
mod readers;
mod recover;
mod repair;
mod routes;
mod schema;
mod space;
mod store;
#[cfg(test)]
mod tests;
mod time;
mod views;
mod writer;

pub use lock::Lock;
pub use lock::LockError;
pub(crate) use store::Owned;
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

/// A database error as the callers know it, with what a person can do about it.
#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
pub(crate) fn failed(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Code;
    let remedy = match error.sqlite_error_code() {
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => return Error::Damaged(error.to_string()),
        Some(Code::DiskFull) => "make room on its disk",
        Some(Code::ReadOnly | Code::PermissionDenied) => {
            "let the user that runs doorbell write the file and its folder"
        }
        Some(Code::CannotOpen) => {
            "let the user that runs doorbell write the file and its folder, and see whether files or disk have run out"
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => "another program has locked the file: end that program",
        Some(Code::SystemIoFailure) => "see whether its disk is full, and what the system's log says of it",
        _ => return Error::Unavailable(error.to_string()),
    };
    Error::Unavailable(format!("{error}; {remedy}"))
}
