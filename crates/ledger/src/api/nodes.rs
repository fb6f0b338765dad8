//! Who works on the ledger, and how one knows that it still does.

use std::time::Duration;

use serde::Serialize;

use super::views::utc;
use crate::{Boot, Millis, OrphanRun, StuckDelivery};

/// What a boot must do to go on living.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// How long after a renewal it lives on, by the clock of the store.
    pub length: Duration,
    /// How often to renew.
    pub renew_every: Duration,
    /// A node that has not renewed for so long, by its own monotonic clock, stops its agents: soon others may run their events.
    pub give_up_after: Duration,
}

/// What became of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// The boot lives, and all that it has under way is still its own.
    Kept {
        /// When the first lease of another boot ends unless it is renewed: then there may be something to take over.
        look_again: Option<Duration>,
    },
    /// The boot lives no more: stop what it has under way and begin another one.
    Lost,
}

/// What a dead boot left under way, now its heir's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inheritance {
    /// Runs that it left `running`, oldest first.
    pub runs: Vec<OrphanRun>,
    /// Deliveries that it left `sending`, oldest first.
    pub deliveries: Vec<StuckDelivery>,
}

/// A life of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its number.
    pub boot: Boot,
    /// Its name for people.
    pub name: String,
    /// When it began.
    #[serde(serialize_with = "utc")]
    pub started_at: Millis,
    /// Whether it lives; else it left what is counted here.
    pub lives: bool,
    /// Runs in flight.
    pub running: u64,
    /// Deliveries being sent.
    pub sending: u64,
}
