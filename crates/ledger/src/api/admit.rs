//! How a request enters the ledger.

use std::time::Duration;

use rules::states::EventState;
use serde::{Deserialize, Serialize};

use crate::{Error, Millis};

/// Ignored events that are kept for each route; the oldest goes when one more comes.
pub const IGNORED_KEPT: u64 = 10_000;

/// A request as it came, with secrets masked, so that it can be parsed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRequest {
    /// Header lines in the order of the wire, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as received, still compressed when it was.
    #[serde(skip)]
    pub body: Vec<u8>,
}

/// A new event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// `ev_…`.
    pub id: String,
    /// The route's name.
    pub route: String,
    /// The name of the source that verified it.
    pub source: String,
    /// The event type.
    pub event_type: String,
    /// The sender's delivery id, or a fresh one.
    pub delivery_id: String,
    /// Events of one route and line run one at a time, in order of arrival.
    pub line: Option<String>,
    /// Larger runs first.
    pub priority: i64,
    /// How many agents the message has passed.
    pub hop: u32,
    /// Not to run before this time.
    pub due_at: Option<Millis>,
    /// When it came.
    pub received_at: Millis,
    /// The request itself.
    pub request: StoredRequest,
}

/// What must not come twice within a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key's text, see [`rules::dedupe`].
    pub text: String,
    /// How long after its end an event still makes a copy a duplicate.
    pub window: Duration,
}

impl Key {
    /// Whether an event that held a key may have it back from `holder`, another one that holds it now in `state`.
    ///
    /// [`Error::Conflict`] when the other one does the work or has done it: both would succeed under one key.
    pub(crate) fn may_return_from(holder: &str, state: EventState) -> Result<(), Error> {
        if state.is_finished() && state != EventState::Succeeded {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "{holder} has taken its place: same delivery id or dedupe_key; to run it all the same, replay it"
        )))
    }
}

/// A request to admit an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The event.
    pub event: NewEvent,
    /// Its key; `None` when nothing can be a duplicate of it.
    pub key: Option<Key>,
    /// Events that the route admits in a minute; 0 = no limit.
    pub rate_per_minute: u32,
}

/// What became of an admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted {
    /// It is stored; `held` with a reason, or queued.
    Stored {
        /// The state that it was stored in.
        state: EventState,
    },
    /// Its key belongs to an event that is not finished or finished a short while ago.
    Duplicate {
        /// That event.
        event_id: String,
    },
    /// The route has admitted as many as it may in this minute.
    Limited {
        /// Until the minute is over, at least a second.
        retry_after: Duration,
    },
}

/// A request that a rule refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The event as it would have been.
    pub event: NewEvent,
    /// `hop_limit`, `event`, …
    pub reason: String,
}
