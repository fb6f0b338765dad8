//! Lengths of time and sizes as people write them in configuration: [`Span`] (`30s`, `5m`, `2h`, `7d`) and [`Size`]
//! (`256MiB`, `64KiB`).
//!
//! Every crate that reads options needs them, so they stand in a crate that knows nobody.

mod length;
mod number;
mod size;

pub use length::{Span, SpanError};
pub use size::{Size, SizeError};
