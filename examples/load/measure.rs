//! The measurements: one file a question.

pub(crate) mod burst;
pub(crate) mod claims;
pub(crate) mod ingest;
pub(crate) mod postgres;
pub(crate) mod prune;
pub(crate) mod restart;
pub(crate) mod soak;
pub(crate) mod wake;
