//! Which state may follow which, and why: the tables.

use super::DeliveryState::{self, Delivered, Pending, Sending, Suppressed, Unknown};
use super::EventState::{self, Cancelled, Held, Ignored, Queued, Running, Succeeded};

/// Who brings a change of state about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The gateway, in the course of its work.
    Gateway,
    /// A person, through a command, the dashboard or an agent that acts for one.
    Person,
}

/// One allowed change of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<S> {
    /// The state before.
    pub from: S,
    /// The state after.
    pub to: S,
    /// Who brings it about.
    pub by: By,
    /// What happens then, in a few words.
    pub why: &'static str,
}

const fn step<S: Copy>(from: S, to: S, by: By, why: &'static str) -> Step<S> {
    Step { from, to, by, why }
}

/// The states an event may begin in.
pub const EVENT_STARTS: &[EventState] = &[Held, Queued, Ignored];

/// What may happen to an event.
pub const EVENTS: &[Step<EventState>] = &[
    step(Held, Queued, By::Gateway, "route resumed or back"),
    step(Held, Cancelled, By::Person, "cancelled"),
    step(Queued, Running, By::Gateway, "claimed"),
    step(Queued, Held, By::Gateway, "route paused or gone"),
    step(Queued, Cancelled, By::Person, "cancelled"),
    step(Running, Succeeded, By::Gateway, "answered"),
    step(Running, EventState::Failed, By::Gateway, "run failed, retries left; or exit 75"),
    step(Running, EventState::Exhausted, By::Gateway, "run failed, no retries left; crash loop; a day of exit 75"),
    // An interruption: it costs no retry and waits for nothing.
    step(Running, Queued, By::Gateway, "interrupted"),
    step(Running, Held, By::Gateway, "interrupted while its route was paused"),
    step(Running, Cancelled, By::Person, "run stopped"),
    step(EventState::Failed, Queued, By::Gateway, "wait over"),
    step(EventState::Failed, Queued, By::Person, "retried before its time"),
    step(EventState::Failed, Held, By::Gateway, "wait over while its route was paused; route gone"),
    step(EventState::Failed, Held, By::Person, "retried while its route was paused"),
    step(EventState::Failed, Cancelled, By::Person, "cancelled"),
    // The ways out of an end: somebody wants the same event again.
    step(EventState::Exhausted, Queued, By::Person, "retried"),
    step(EventState::Exhausted, Held, By::Person, "retried while its route was paused"),
    step(Cancelled, Queued, By::Person, "retried after all"),
    step(Cancelled, Held, By::Person, "retried while its route was paused"),
];

/// The states a delivery may begin in.
pub const DELIVERY_STARTS: &[DeliveryState] = &[Pending, Suppressed, DeliveryState::Exhausted];

/// What may happen to a delivery.
pub const DELIVERIES: &[Step<DeliveryState>] = &[
    step(Pending, Sending, By::Gateway, "claimed"),
    step(Sending, Delivered, By::Gateway, "taken"),
    step(Sending, DeliveryState::Failed, By::Gateway, "refused for now; cut off, but safe to send again"),
    step(Sending, DeliveryState::Exhausted, By::Gateway, "refused for good, or too often"),
    step(Sending, Unknown, By::Gateway, "sent, no answer, not safe to send again"),
    step(DeliveryState::Failed, Sending, By::Gateway, "wait over, claimed"),
    step(DeliveryState::Failed, Pending, By::Person, "retried before its time"),
    // The ways out of an end. `delivered` has none: the target has the message.
    step(DeliveryState::Exhausted, Pending, By::Person, "retried"),
    step(Unknown, Pending, By::Person, "sent again, knowing that it may arrive twice"),
];
