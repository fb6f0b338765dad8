//! How messages are handed to their targets.

use rules::states::DeliveryState;

use crate::{Boot, Error, Millis};

/// A message that a run's end creates. Its text is the run's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDelivery {
    /// `dlv_…`.
    pub id: String,
    /// The target's name.
    pub target: String,
    /// `Pending`; `Suppressed` for silence; `Exhausted` with an error when its values cannot be used.
    pub state: DeliveryState,
    /// Why it cannot be sent, for `Exhausted`.
    pub error: Option<String>,
    /// The values of `deliver_extra` for this target, rendered.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// When it was made.
    pub created_at: Millis,
}

/// A target that may send now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRoom {
    /// The target's name.
    pub target: String,
    /// Messages that it may send beside those under way.
    pub room: u32,
}

/// A request for messages to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimDeliveries {
    /// The claiming gateway's life.
    pub boot: Boot,
    /// What is due by now may be sent.
    pub now: Millis,
    /// Targets with room.
    pub targets: Vec<TargetRoom>,
}

/// A message to be sent: its state is `sending`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedDelivery {
    /// `dlv_…`.
    pub id: String,
    /// The attempt that begins, from 1.
    pub attempt: u32,
    /// Attempts since it was made, or since a person asked to send it again, this one included.
    pub spent: u32,
    /// The target's name.
    pub target: String,
    /// The event.
    pub event_id: String,
    /// The run whose answer it is.
    pub run_id: Option<String>,
    /// The event's route.
    pub route: String,
    /// The event's type.
    pub event_type: String,
    /// The sender's delivery id.
    pub provider_delivery_id: String,
    /// The event's hop.
    pub hop: u32,
    /// The text.
    pub content: String,
    /// Values for the target.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// When it was made.
    pub created_at: Millis,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryEnd {
    /// The delivery.
    pub id: String,
    /// The life that sent it.
    pub boot: Boot,
    /// The attempt that ended.
    pub attempt: u32,
    /// Its state now: `Delivered`, `Failed`, `Exhausted` or `Unknown`.
    pub state: DeliveryState,
    /// Why it was not delivered.
    pub error: Option<String>,
    /// When to try again, for `Failed`.
    pub due_at: Option<Millis>,
    /// The end's time.
    pub now: Millis,
}

impl DeliveryEnd {
    /// [`Error::Conflict`] when what is being sent cannot come into the state that is given for it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if DeliveryState::Sending.may_become(self.state) {
            return Ok(());
        }
        Err(Error::Conflict(format!("an attempt of {} cannot end as {}", self.id, self.state)))
    }
}

/// A delivery that was under way when its gateway died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckDelivery {
    /// The delivery.
    pub id: String,
    /// The attempt that was under way.
    pub attempt: u32,
    /// Its target.
    pub target: String,
}
