//! The store of several nodes: one PostgreSQL database.
//!
//! Each step is one transaction at READ COMMITTED. What must not be judged by two at a time is judged under an advisory lock
//! of the transaction, so that no state of a session is left behind and a pooler in transaction mode may stand in between:
//! a line's, a key's, a route's rate, an agent's limit, and one for all routes, which pausing takes alone and everybody who
//! asks for a route's obstacle shares. Rows are claimed with SKIP LOCKED. Statements are sent unprepared for the same reason.
//!
//! An answer that was lost on the way (the connection died during COMMIT) is told as [`crate::Error::Unavailable`] though the
//! step may be stored: a sender's second try is then a duplicate, a second end of a run is fenced.

mod address;
mod admit;
mod batches;
mod claim;
mod copying;
mod deliver;
mod finish;
mod lines;
mod link;
mod nodes;
mod recover;
mod repair;
mod rest;
mod routes;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod time;
mod tls;
mod values;
mod views;
mod wake;

pub use address::AddressError;
pub(crate) use copying::{bring_up, connect_for_copy, unavailable};
pub use store::{ConnectError, Options, Store};

use link::{Failure, Tx};
use values::Value;
pub(crate) use values::stored;

/// How often a transaction that stood in another one's way is begun once more.
const TRIES: u32 = 5;

/// A number that is never negative.
fn count(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(if value < 0 { 0 } else { u32::MAX })
}
