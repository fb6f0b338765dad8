//! What is kept, and how one finds it.

use std::collections::{BTreeMap, BTreeSet};

use rules::run_end::Standing;
use serde_json::{Map, Value};

use crate::{Boot, Delivery, Error, Event, Millis, Run, StoredRequest};

/// Everything. Rows stand in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// Every life that there was, oldest first.
    pub(super) nodes: Vec<NodeRow>,
    /// What the clock said when it was noted last.
    pub(super) time: Option<Millis>,
    /// The number that was given to a row last.
    pub(super) last: u64,
    pub(super) events: Vec<EventRow>,
    pub(super) runs: Vec<RunRow>,
    pub(super) deliveries: Vec<DeliveryRow>,
    /// (route, key) → the id of the event that holds it: the newest with it, or an older one that was retried since.
    pub(super) keys: BTreeMap<(String, String), String>,
    /// Route → when its current minute of admissions began, and how many it has admitted since.
    pub(super) minutes: BTreeMap<String, (Millis, u32)>,
    pub(super) paused: BTreeSet<String>,
    /// The routes that the gateway has; `None` until it has told.
    pub(super) routes: Option<BTreeSet<String>>,
}

/// A life.
#[derive(Debug)]
pub(super) struct NodeRow {
    pub(super) boot: Boot,
    pub(super) name: String,
    pub(super) started_at: Millis,
    pub(super) ended: bool,
}

/// An event: what is shown of it, and the rest.
#[derive(Debug)]
pub(super) struct EventRow {
    pub(super) seq: u64,
    pub(super) shown: Event,
    /// The key that it came with, whether it still holds it or not.
    pub(super) key: Option<String>,
    pub(super) priority: i64,
    pub(super) standing: Standing,
    pub(super) request: StoredRequest,
}

/// A run.
#[derive(Debug)]
pub(super) struct RunRow {
    pub(super) seq: u64,
    pub(super) shown: Run,
    pub(super) boot: Boot,
}

/// A delivery.
#[derive(Debug)]
pub(super) struct DeliveryRow {
    pub(super) seq: u64,
    pub(super) shown: Delivery,
    /// The life that took it last.
    pub(super) boot: Option<Boot>,
    pub(super) spent: u32,
    pub(super) extra: Map<String, Value>,
}

impl Data {
    pub(super) fn next_seq(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn event(&self, id: &str) -> Result<&EventRow, Error> {
        self.events.iter().find(|e| e.shown.id == id).ok_or_else(|| missing("event", id))
    }

    pub(super) fn event_mut(&mut self, id: &str) -> Result<&mut EventRow, Error> {
        self.events.iter_mut().find(|e| e.shown.id == id).ok_or_else(|| missing("event", id))
    }

    pub(super) fn delivery_mut(&mut self, id: &str) -> Result<&mut DeliveryRow, Error> {
        self.deliveries.iter_mut().find(|d| d.shown.id == id).ok_or_else(|| missing("delivery", id))
    }

    pub(super) fn run_mut(&mut self, id: &str) -> Result<&mut RunRow, Error> {
        self.runs.iter_mut().find(|r| r.shown.id == id).ok_or_else(|| missing("run", id))
    }
}

pub(super) fn missing(kind: &'static str, id: &str) -> Error {
    Error::NotFound { kind, id: id.to_owned() }
}

/// The refusal of an id that is in use.
pub(super) fn taken(id: &str) -> Error {
    Error::Unavailable(format!("the id {id} is taken"))
}
