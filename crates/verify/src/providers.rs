//! The table of sources: one file a family of schemes, one row a provider.

mod body;
mod configurable;
mod standard;
mod timed;
mod token;

use std::sync::LazyLock;

use crate::source::Source;

pub(crate) use self::standard::{WHSEC, key_form};

static ROWS: LazyLock<Vec<Source>> = LazyLock::new(|| {
    [standard::rows(), body::rows(), timed::rows(), token::rows(), configurable::rows()].into_iter().flatten().collect()
});

/// All rows.
pub(crate) fn rows() -> &'static [Source] {
    &ROWS
}
