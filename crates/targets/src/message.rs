//! What is to be told.

use std::fmt;

use serde_json::{Map, Value};

/// One answer on its way to one target.
#[derive(Clone, PartialEq)]
pub struct Message {
    /// Our id of the delivery, `dlv_…`; the same on every attempt.
    pub delivery_id: String,
    /// The event's id, `ev_…`.
    pub event_id: String,
    /// The run's id, `run_…`; none for `deliver_only`.
    pub run_id: Option<String>,
    /// The route's name.
    pub route: String,
    /// The event's type, as the source calls it.
    pub event: String,
    /// The provider's id of the delivery that rang.
    pub provider_delivery_id: String,
    /// The event's hop; what goes out carries one more.
    pub hop: u32,
    /// The text.
    pub content: String,
    /// When the delivery was created, RFC 3339 in UTC.
    pub created_at: String,
    /// This target's part of `deliver_extra` ([`crate::values_for`]), rendered.
    pub extra: Map<String, Value>,
}

impl Message {
    /// The facts that `file` and `webhook` tell, in this order: `id`, `event_id`, `run_id`, `route`, `event`,
    /// `delivery_id` (the provider's), `content`, `created_at`.
    pub(crate) fn record(&self) -> Map<String, Value> {
        let fields: [(&str, Value); 8] = [
            ("id", self.delivery_id.as_str().into()),
            ("event_id", self.event_id.as_str().into()),
            ("run_id", self.run_id.as_deref().into()),
            ("route", self.route.as_str().into()),
            ("event", self.event.as_str().into()),
            ("delivery_id", self.provider_delivery_id.as_str().into()),
            ("content", self.content.as_str().into()),
            ("created_at", self.created_at.as_str().into()),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The hop of what goes out.
    pub(crate) fn next_hop(&self) -> u32 {
        self.hop.saturating_add(1)
    }
}

/// The text and the values are not for logs.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("delivery_id", &self.delivery_id)
            .field("event_id", &self.event_id)
            .field("route", &self.route)
            .field("content_bytes", &self.content.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Message {
    /// A message for tests: route `r`, event `issues` at hop 0, these values.
    pub(crate) fn sample(content: &str, extra: &Value) -> Message {
        Message {
            delivery_id: "dlv_1".into(),
            event_id: "ev_1".into(),
            run_id: Some("run_1".into()),
            route: "r".into(),
            event: "issues".into(),
            provider_delivery_id: "d-1".into(),
            hop: 0,
            content: content.into(),
            created_at: "2026-01-02T03:04:05Z".into(),
            extra: extra.as_object().cloned().unwrap_or_default(),
        }
    }
}
