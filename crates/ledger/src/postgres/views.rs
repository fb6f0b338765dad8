//! Reading for people and programs: by id, and in pages, newest first, never by a full scan.

pub(super) mod deliveries;
pub(super) mod events;
mod pages;
pub(super) mod runs;
pub(super) mod status;

use std::str::FromStr;

use crate::Error;

/// A state as it is stored.
pub(super) fn parse<T: FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::Unavailable(format!("the ledger holds the unknown state {text}")))
}
