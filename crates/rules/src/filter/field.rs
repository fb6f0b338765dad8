//! What a condition looks at.

use std::borrow::Cow;

use serde_json::Value;

use super::Seen;
use crate::{headers, path};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    EventType,
    /// All headers, as an object.
    Headers,
    /// One, in lower case.
    Header(String),
    /// The whole payload.
    Payload,
    /// A path into it.
    Path(String),
    /// A path behind the word `payload`.
    BehindPayload(String),
}

impl Field {
    /// Reads a dotted path; empty parts count for nothing. `None` when no part is left.
    pub(super) fn read(written: &str) -> Option<Field> {
        let parts: Vec<&str> = written.trim().split('.').map(str::trim).filter(|part| !part.is_empty()).collect();
        let (first, rest) = parts.split_first()?;
        let rest = rest.join(".");
        Some(match (*first, rest.is_empty()) {
            ("event" | "event_type", true) => Field::EventType,
            ("headers", true) => Field::Headers,
            ("headers", false) => Field::Header(rest.to_lowercase()),
            ("payload", true) => Field::Payload,
            ("payload", false) => Field::BehindPayload(rest),
            _ => Field::Path(parts.join(".")),
        })
    }

    /// Its value; `null` is one.
    pub(super) fn find<'a>(&self, seen: &Seen<'a>) -> Option<Cow<'a, Value>> {
        let own = || seen.payload.get("payload");
        match self {
            Field::EventType => Some(Cow::Owned(seen.event_type.into())),
            Field::Headers => {
                let one =
                    |(name, _): &(String, String)| Some((name.clone(), headers::value(seen.headers, name)?.into()));
                Some(Cow::Owned(Value::Object(seen.headers.iter().filter_map(one).collect())))
            }
            Field::Header(name) => headers::value(seen.headers, name).map(|value| Cow::Owned(value.into())),
            Field::Payload => Some(Cow::Borrowed(own().unwrap_or(seen.payload))),
            Field::BehindPayload(way) => path::lookup(own().unwrap_or(seen.payload), way).map(Cow::Borrowed),
            Field::Path(way) => path::lookup(seen.payload, way).map(Cow::Borrowed),
        }
    }
}
