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
    /// A person who decides on an approval: never an agent, whatever it may do otherwise.
    Approver,
    /// Hookdeck, when its API confirms that somebody asked for the event again over there.
    Hookdeck,
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
pub const EVENT_STARTS: &[EventState] = &[Held, Queued, Running, Ignored];

/// What may happen to an event.
pub const EVENTS: &[Step<EventState>] = &[
    // What it was held for has come.
    step(Held, Queued, By::Gateway, "window over, route resumed or back, script done"),
    step(Held, Queued, By::Approver, "approved"),
    step(Held, Running, By::Gateway, "script of a deliver_only route done"),
    step(Held, Cancelled, By::Gateway, "superseded, approval expired"),
    step(Held, Cancelled, By::Approver, "rejected"),
    step(Held, Cancelled, By::Person, "cancelled"),
    step(Held, Ignored, By::Gateway, "script vetoed or failed"),
    step(Queued, Running, By::Gateway, "claimed"),
    step(Queued, Held, By::Gateway, "route paused or gone, approval wanted"),
    step(Queued, Cancelled, By::Gateway, "superseded"),
    step(Queued, Cancelled, By::Person, "cancelled"),
    step(Running, Succeeded, By::Gateway, "answered"),
    step(Running, EventState::Failed, By::Gateway, "run failed, retries left; or exit 75"),
    step(Running, EventState::Exhausted, By::Gateway, "run failed, no retries left; crash loop; deliver_only refused"),
    // An interruption: it costs no retry and waits for nothing.
    step(Running, Queued, By::Gateway, "interrupted"),
    step(Running, Held, By::Gateway, "interrupted while its route was paused or gone"),
    step(Running, Cancelled, By::Gateway, "superseded, its run stopped"),
    step(Running, Cancelled, By::Person, "run stopped, cancelled"),
    step(EventState::Failed, Running, By::Gateway, "wait over, claimed"),
    step(EventState::Failed, Queued, By::Gateway, "wait over; Hookdeck sent it again"),
    step(EventState::Failed, Queued, By::Person, "retried before its time"),
    step(EventState::Failed, Held, By::Gateway, "route paused or gone"),
    step(EventState::Failed, EventState::Exhausted, By::Gateway, "handed back to Hookdeck, which gave it up"),
    step(EventState::Failed, Cancelled, By::Gateway, "superseded"),
    step(EventState::Failed, Cancelled, By::Person, "cancelled"),
    // The ways out of an end: somebody wants the same event again.
    step(EventState::Exhausted, Queued, By::Person, "retried"),
    step(Cancelled, Queued, By::Person, "retried after all"),
    step(EventState::Exhausted, Queued, By::Hookdeck, "sent again by hand at Hookdeck"),
    step(Succeeded, Queued, By::Hookdeck, "sent again by hand at Hookdeck"),
];

/// The states a delivery may begin in.
pub const DELIVERY_STARTS: &[DeliveryState] = &[Pending, Sending, Suppressed, DeliveryState::Exhausted];

/// What may happen to a delivery.
pub const DELIVERIES: &[Step<DeliveryState>] = &[
    step(Pending, Sending, By::Gateway, "claimed"),
    step(Pending, DeliveryState::Exhausted, By::Gateway, "target gone, or values it cannot take"),
    step(Sending, Delivered, By::Gateway, "taken"),
    step(Sending, DeliveryState::Failed, By::Gateway, "refused for now"),
    step(Sending, DeliveryState::Exhausted, By::Gateway, "refused for good, or too often"),
    step(Sending, Unknown, By::Gateway, "sent, no answer, not safe to send again"),
    step(Sending, Pending, By::Gateway, "cut off before the first byte, or safe to send again"),
    step(DeliveryState::Failed, Sending, By::Gateway, "wait over, claimed"),
    step(DeliveryState::Failed, DeliveryState::Exhausted, By::Gateway, "target gone"),
    step(DeliveryState::Failed, Pending, By::Person, "retried before its time"),
    // The ways out of an end. `delivered` has none: the target has the message.
    step(DeliveryState::Exhausted, Pending, By::Person, "retried"),
    step(Unknown, Pending, By::Person, "sent again, knowing that it may arrive twice"),
];
