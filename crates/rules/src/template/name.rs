//! What a placeholder's name stands for.

use std::borrow::Cow;

use serde_json::Value;

use super::Scope;
use crate::{headers, path};

/// A placeholder's name. The gateway's own names go before keys of the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Raw,
    EventType,
    Route,
    DeliveryId,
    EventId,
    BodySha256,
    /// A header, in lower case.
    Header(String),
    /// A dotted path into the payload.
    Payload(String),
}

/// What is to be inserted.
pub(super) enum Found<'a> {
    /// Text that is not the payload's.
    Text(Cow<'a, str>),
    /// A value of the payload.
    Json(&'a Value),
    /// The whole payload.
    Whole,
}

/// Whether `c` may stand in a name: letters and digits of any script, `_`, `-`, and the dot between parts.
pub(super) fn may_contain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

impl Name {
    /// The name between two braces; `None` when a part of it is empty, so that `{...}` stays what it is: text.
    pub(super) fn parse(name: &str) -> Option<Self> {
        if name.split('.').any(str::is_empty) {
            return None;
        }
        Some(match name {
            "__raw__" => Name::Raw,
            "event_type" => Name::EventType,
            "route" => Name::Route,
            "delivery_id" => Name::DeliveryId,
            "event_id" => Name::EventId,
            "body_sha256" => Name::BodySha256,
            _ => match name.strip_prefix("headers.") {
                Some(header) => Name::Header(header.to_lowercase()),
                None => Name::Payload(name.to_owned()),
            },
        })
    }

    /// What the name stands for here, or `None` when there is nothing of that name.
    pub(super) fn find<'a>(&self, scope: &Scope<'a>) -> Option<Found<'a>> {
        let text = |text: &'a str| Some(Found::Text(Cow::Borrowed(text)));
        match self {
            Name::Raw => Some(Found::Whole),
            Name::EventType => text(scope.event_type),
            Name::Route => text(scope.route),
            Name::DeliveryId => text(scope.delivery_id),
            Name::EventId => text(scope.event_id),
            Name::BodySha256 => text(scope.body_sha256),
            Name::Header(name) => headers::value(scope.headers, name).map(Found::Text),
            Name::Payload(path) => in_payload(scope.payload, path).map(Found::Json),
        }
    }
}

/// A value of the payload. `payload.` before a path reaches what one of the gateway's names hides; a payload that has
/// a key `payload` of its own keeps its meaning.
fn in_payload<'a>(payload: &'a Value, path: &str) -> Option<&'a Value> {
    let explicit = || path.strip_prefix("payload.").filter(|_| payload.get("payload").is_none());
    path::lookup(payload, path).or_else(|| path::lookup(payload, explicit()?))
}
