//! The two ways a verification can end.

use crate::source::Source;

/// The request comes from who it says.
#[derive(Debug, Clone, Copy)]
pub struct Verified<'v> {
    /// The source that vouched for it; under `auto` the one that was chosen. Lives as long as its [`crate::Verifier`].
    pub source: &'v Source,
    /// The scheme is one that senders should leave; warn once per route.
    pub deprecated: bool,
}

/// The request is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// Why, in words for the operator's log; the sender is never told. Holds no secret, no digest and no header value.
    pub reason: String,
}

impl Refused {
    pub(crate) fn new(reason: impl Into<String>) -> Refused {
        Refused { reason: reason.into() }
    }
}
