//! What people and programs are shown. These shapes are the JSON of the admin API.

use std::collections::BTreeMap;

use rules::states::{DeliveryState, EventState, RunState};
use serde::{Serialize, Serializer};

use crate::Millis;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// `ev_…`.
    pub id: String,
    /// The route's name.
    pub route: String,
    /// The source that verified it.
    pub source: String,
    /// The event type.
    pub event: String,
    /// The sender's delivery id.
    pub delivery_id: String,
    /// Where it stands.
    pub state: EventState,
    /// Why it stands there, where that needs a word.
    pub reason: Option<String>,
    /// Runs begun, at least 1: the number of the current or the first run.
    pub attempt: u32,
    /// How many agents the message has passed.
    pub hop: u32,
    /// Its serial line or session.
    pub session: Option<String>,
    /// When it came.
    #[serde(serialize_with = "utc")]
    pub received_at: Millis,
    /// When it ended.
    #[serde(serialize_with = "utc_or_null")]
    pub finished_at: Option<Millis>,
    /// When it runs next, while it waits for a time.
    #[serde(serialize_with = "utc_or_null")]
    pub due_at: Option<Millis>,
    /// The event that ran in its place.
    pub superseded_by: Option<String>,
    /// Ids of its runs, oldest first.
    pub runs: Vec<String>,
    /// Ids of its deliveries, oldest first.
    pub deliveries: Vec<String>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// `run_…`.
    pub id: String,
    /// Its event.
    pub event_id: String,
    /// The event's route.
    pub route: String,
    /// The agent.
    pub agent: String,
    /// 1 for the event's first run.
    pub attempt: u32,
    /// Where it stands.
    pub state: RunState,
    /// When it began.
    #[serde(serialize_with = "utc")]
    pub started_at: Millis,
    /// When it ended.
    #[serde(serialize_with = "utc_or_null")]
    pub finished_at: Option<Millis>,
    /// The agent's exit status, when it ended by itself.
    pub exit_code: Option<i32>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// What it was asked.
    pub prompt: Option<String>,
    /// What it answered.
    pub answer: Option<String>,
    /// The end of its stderr.
    pub stderr: Option<String>,
    /// The agent's own session.
    pub session_id: Option<String>,
    /// What it cost, in US dollars.
    pub cost_usd: Option<serde_json::Number>,
    /// Token counts, in the agent's own shape.
    pub usage: Option<serde_json::Value>,
}

/// A delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// `dlv_…`.
    pub id: String,
    /// Its event.
    pub event_id: String,
    /// The run whose answer it is.
    pub run_id: Option<String>,
    /// The event's route.
    pub route: String,
    /// The target's name.
    pub target: String,
    /// Where it stands.
    pub state: DeliveryState,
    /// Attempts begun.
    pub attempts: u32,
    /// Why the last one did not succeed.
    pub error: Option<String>,
    /// The text.
    pub content: Option<String>,
    /// When it was made.
    #[serde(serialize_with = "utc")]
    pub created_at: Millis,
    /// When it arrived.
    #[serde(serialize_with = "utc_or_null")]
    pub delivered_at: Option<Millis>,
    /// When it is tried next.
    #[serde(serialize_with = "utc_or_null")]
    pub due_at: Option<Millis>,
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<String>,
}

/// The most rows that a page has.
pub const LARGEST_PAGE: u32 = 1000;

/// Which events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventQuery {
    /// Of this route.
    pub route: Option<String>,
    /// In this state.
    pub state: Option<EventState>,
    /// With this delivery id.
    pub delivery_id: Option<String>,
    /// Received at this time or later. A store may miss events from before the clock was set back by more than a minute.
    pub since: Option<Millis>,
    /// At most so many: 1 to [`LARGEST_PAGE`]; what is outside counts as the nearer end.
    pub limit: u32,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Which runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunQuery {
    /// Of this event.
    pub event_id: Option<String>,
    /// Of this route.
    pub route: Option<String>,
    /// In this state.
    pub state: Option<RunState>,
    /// At most so many: 1 to [`LARGEST_PAGE`]; what is outside counts as the nearer end.
    pub limit: u32,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Which deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryQuery {
    /// Of this event.
    pub event_id: Option<String>,
    /// In this state.
    pub state: Option<DeliveryState>,
    /// At most so many: 1 to [`LARGEST_PAGE`]; what is outside counts as the nearer end.
    pub limit: u32,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Bytes of each text that a listing shows; a single run or delivery is shown whole.
pub const LISTED_TEXT: usize = 4096;

/// The text as a listing shows it: cut at [`LISTED_TEXT`] on a character boundary, with `…` for the rest.
pub fn listed(text: Option<String>) -> Option<String> {
    text.map(|text| match text.len() {
        0..=LISTED_TEXT => text,
        _ => format!("{}…", &text[..text.floor_char_boundary(LISTED_TEXT)]),
    })
}

/// The next times to look for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Due {
    /// When the next event that waits for a time may run.
    pub event: Option<Millis>,
    /// When the next delivery that waits to be sent may be.
    pub delivery: Option<Millis>,
}

/// Counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Events by state.
    pub events: BTreeMap<EventState, u64>,
    /// Deliveries by state.
    pub deliveries: BTreeMap<DeliveryState, u64>,
    /// Runs in flight.
    pub running: u64,
    /// Routes that are paused.
    pub paused: Vec<String>,
    /// When the oldest event that waits to run came; one that waits for a time does not count.
    pub oldest_waiting: Option<Millis>,
}

/// RFC 3339 in UTC, to the millisecond.
pub fn rfc3339(at: Millis) -> String {
    // Times come from clocks and stay within jiff's range; the epoch stands in for a value that does not.
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(super) fn utc<S: Serializer>(at: &Millis, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339(*at))
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn utc_or_null<S: Serializer>(at: &Option<Millis>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => utc(at, to),
        None => to.serialize_none(),
    }
}
