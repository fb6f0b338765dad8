//! How long finished events are kept: one length for all, or one a state.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use span::Span;

/// Thirty days.
const USUAL: Span = Span::seconds(30 * 24 * 60 * 60);
/// Ignored events are looked at soon or never.
const IGNORED: Span = Span::seconds(3 * 24 * 60 * 60);

/// A length for each state that an event can end in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EachState {
    /// Events that were answered. Also how far back `dedupe_window` can reach.
    pub(crate) succeeded: Span,
    /// Events whose retries were used up.
    pub(crate) exhausted: Span,
    /// Events that somebody ended.
    pub(crate) cancelled: Span,
    /// Events that a rule refused.
    pub(crate) ignored: Span,
}

impl Default for EachState {
    fn default() -> Self {
        EachState { succeeded: USUAL, exhausted: USUAL, cancelled: USUAL, ignored: IGNORED }
    }
}

/// `30d`, or `{succeeded: 7d, ignored: 1d}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Retention(pub(crate) EachState);

impl Retention {
    fn of(all: Span) -> Retention {
        Retention(EachState { succeeded: all, exhausted: all, cancelled: all, ignored: all.min(IGNORED) })
    }
}

/// Not an untagged enum: errors inside the mapping keep their place.
impl<'de> Deserialize<'de> for Retention {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Retention;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration, or a mapping of states to durations")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Retention, E> {
                Span::deserialize(text.into_deserializer()).map(Retention::of)
            }

            fn visit_u64<E: Error>(self, seconds: u64) -> Result<Retention, E> {
                Span::deserialize(seconds.into_deserializer()).map(Retention::of)
            }

            fn visit_i64<E: Error>(self, seconds: i64) -> Result<Retention, E> {
                Span::deserialize(seconds.into_deserializer()).map(Retention::of)
            }

            fn visit_map<A: MapAccess<'de>>(self, states: A) -> Result<Retention, A::Error> {
                EachState::deserialize(MapAccessDeserializer::new(states)).map(Retention)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Retention {
    fn schema_name() -> Cow<'static, str> {
        "Retention".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (span, each) = (generator.subschema_for::<Span>(), generator.subschema_for::<EachState>());
        json_schema!({ "anyOf": [span, each] })
    }
}
