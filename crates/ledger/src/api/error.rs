//! What can go wrong with a store, named by what the caller can do about it.

/// Why a step was not taken. Nothing of the step is stored.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The store has more to write than it can; try again in a moment.
    #[error("the ledger is behind with writing")]
    Busy,
    /// Less free space is left than `store.min_free`; new events are refused until there is more.
    #[error("the disk of the ledger is nearly full: {free} bytes free, store.min_free is {wanted}")]
    DiskLow {
        /// Bytes free on the ledger's disk.
        free: u64,
        /// Bytes that must stay free.
        wanted: u64,
    },
    /// The database failed; the text says how.
    #[error("the ledger cannot be used: {0}")]
    Unavailable(String),
    /// The database cannot be reached, or went away in the middle; the text says how it shows.
    #[error("the ledger's database cannot be reached: {0}")]
    Away(String),
    /// The file is damaged; the text says how it shows. Nothing new is taken until somebody has seen to it.
    #[error(
        "the ledger is damaged: {0}; with doorbell stopped, put a backup in its place, save what can be saved with \
         `sqlite3 FILE .recover`, or move it away to begin with an empty one"
    )]
    Damaged(String),
    /// The store was closed: the gateway is stopping.
    #[error("the ledger is closed")]
    Closed,
    /// There is no such thing; the text names it.
    #[error("there is no {kind} {id}")]
    NotFound {
        /// `event`, `run` or `delivery`.
        kind: &'static str,
        /// The id that was asked for.
        id: String,
    },
    /// The thing is in a state that does not allow the step; the text says which.
    #[error("{0}")]
    Conflict(String),
    /// A listing's cursor was not made by this ledger.
    #[error("unknown cursor; use the value of `next` of the page before")]
    BadCursor,
}
