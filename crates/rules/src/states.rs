//! The states of events, runs and deliveries, and what may follow what.
//!
//! The tables in [`table`] are the one place that says which change of state is allowed; the ledger asks them, the
//! tests walk them, and the diagrams in the documentation are printed from them.

mod diagram;
pub mod table;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use diagram::mermaid;
use table::{By, Step};

/// A word that is no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no state of {of}; the states are: {known}")]
pub struct UnknownState {
    /// What was given.
    pub given: String,
    /// What it should be a state of ("an event").
    pub of: &'static str,
    /// The words that would do, separated by commas.
    pub known: String,
}

macro_rules! states {
    ($(#[$doc:meta])* $name:ident of $of:literal { $($(#[$about:meta])* $state:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$about])* $state,)+
        }

        impl $name {
            /// Every state, in the order of a life.
            pub const ALL: &'static [Self] = &[$(Self::$state,)+];

            /// The word that is stored, shown and accepted.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$state => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownState;

            fn from_str(word: &str) -> Result<Self, UnknownState> {
                Self::ALL.iter().copied().find(|state| state.as_str() == word).ok_or_else(|| UnknownState {
                    given: word.to_owned(),
                    of: $of,
                    known: [$($word,)+].join(", "),
                })
            }
        }
    };
}

states! {
    /// The states of an event.
    EventState of "an event" {
        /// Waits for what its reason names: that its route is resumed, or comes back.
        Held = "held",
        /// Waits for its turn.
        Queued = "queued",
        /// Its agent is at work, or, with `deliver_only`, its message is on its way.
        Running = "running",
        /// Its run gave an answer.
        Succeeded = "succeeded",
        /// Its run gave none; it will run again.
        Failed = "failed",
        /// It will not be tried again by itself.
        Exhausted = "exhausted",
        /// Somebody put an end to it.
        Cancelled = "cancelled",
        /// A rule refused it.
        Ignored = "ignored",
    }
}

states! {
    /// The states of a run.
    RunState of "a run" {
        /// The agent is at work.
        Running = "running",
        /// It gave an answer.
        Succeeded = "succeeded",
        /// It gave none.
        Failed = "failed",
        /// It was cut off: a kill, a crash, a polite stop.
        Interrupted = "interrupted",
        /// A person stopped it.
        Stopped = "stopped",
    }
}

states! {
    /// The states of a delivery.
    DeliveryState of "a delivery" {
        /// Waits for its turn.
        Pending = "pending",
        /// On its way: the target may have it already.
        Sending = "sending",
        /// The target took it.
        Delivered = "delivered",
        /// The target did not take it; it will be sent again.
        Failed = "failed",
        /// It will not be sent again by itself.
        Exhausted = "exhausted",
        /// It was sent and nobody knows whether it arrived.
        Unknown = "unknown",
        /// The answer was a silence marker: never sent.
        Suppressed = "suppressed",
    }
}

impl EventState {
    /// Whether nothing more happens to the event by itself.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Exhausted | Self::Cancelled | Self::Ignored)
    }

    /// Whether an event in this state may go over to `next`, whoever wants it. A state never follows itself.
    pub fn may_become(self, next: Self) -> bool {
        allows(table::EVENTS, self, |step| step.to == next)
    }

    /// Whether a person may put an event in this state back into the queue (`events retry`).
    pub fn may_be_retried(self) -> bool {
        allows(table::EVENTS, self, |step| step.to == Self::Queued && step.by == By::Person)
    }

    /// Whether a person may cancel an event in this state (`events cancel`).
    pub fn may_be_cancelled(self) -> bool {
        allows(table::EVENTS, self, |step| step.to == Self::Cancelled && step.by == By::Person)
    }
}

impl RunState {
    /// Whether the run is over. Nothing follows then: another try is another run.
    pub const fn is_finished(self) -> bool {
        !matches!(self, Self::Running)
    }

    /// Whether a run in this state may go over to `next`.
    pub fn may_become(self, next: Self) -> bool {
        self == Self::Running && next != Self::Running
    }
}

impl DeliveryState {
    /// Whether nothing more happens to the delivery by itself.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Delivered | Self::Exhausted | Self::Unknown | Self::Suppressed)
    }

    /// Whether a delivery in this state may go over to `next`, whoever wants it. A state never follows itself.
    pub fn may_become(self, next: Self) -> bool {
        allows(table::DELIVERIES, self, |step| step.to == next)
    }

    /// Whether a person may have a delivery in this state sent again (`deliveries retry`).
    pub fn may_be_retried(self) -> bool {
        allows(table::DELIVERIES, self, |step| step.to == Self::Pending && step.by == By::Person)
    }
}

fn allows<S: Copy + PartialEq>(table: &[Step<S>], from: S, fits: impl Fn(&Step<S>) -> bool) -> bool {
    table.iter().any(|step| step.from == from && fits(step))
}

#[cfg(test)]
mod tests;
