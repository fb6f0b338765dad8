//! The keys of a route.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use span::{Size, Span};

use super::Filters;

/// Which events wake which agent, and where its answer goes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Route {
    /// How requests are verified: a provider (`github`, `stripe`, …), `hmac`, `token`, `basic`, `none`, or `auto`, which goes
    /// by the signature header. `doorbell sources` lists them.
    pub(crate) source: String,
    /// The secret shared with the sender. Without `secret` and `secrets`, `server.secret`; written but empty is an error.
    /// `INSECURE_NO_AUTH` takes requests from anybody, on a loopback address only.
    pub(crate) secret: Option<String>,
    /// Several secrets, any of which may match: `[new, old]` while a secret is changed.
    pub(crate) secrets: Option<Vec<String>>,
    /// Event types that are wanted, such as `push` or `pull_request.opened`; empty is all of them.
    pub(crate) events: Vec<String>,
    /// Conditions on the payload, the event type and the headers; all of them must hold.
    pub(crate) filters: Filters,
    /// What the agent is asked: a text with `{placeholders}` from the payload. Empty or absent: the payload itself. As in
    /// every text, `${NAME}` is a variable of the environment, put in before any event comes.
    pub(crate) prompt: Option<String>,
    /// A key of `agents`. Default: `default_agent`.
    pub(crate) agent: Option<String>,
    /// Where the answer goes: a key of `targets`, or a list of them.
    pub(crate) deliver: OneOrMore,
    /// Values for the targets, with placeholders at any depth: `{repo: "{repository.full_name}", pr_number: "{number}"}`. A
    /// key that is the name of one of several targets holds values for that one alone.
    pub(crate) deliver_extra: Map<String, Value>,
    /// Also answers at `/p/<profile>/webhooks/<route>`; a profile other than `default` answers only there.
    pub(crate) profile: String,
    /// `false` answers 403 to every request.
    pub(crate) enabled: bool,
    /// How far the clock of a sender that signs the time may be off. Default: what its scheme says, mostly 300s.
    pub(crate) tolerance: Option<Span>,
    /// For how long after its success an event with the same id is a duplicate.
    pub(crate) dedupe_window: Span,
    /// A template whose value takes the place of the delivery id: events with the same one are duplicates.
    pub(crate) dedupe_key: Option<String>,
    /// A template: events with the same value run one at a time, in the order they came in.
    pub(crate) serial_by: Option<String>,
    /// Runs of this route in flight at a time, beside the agent's own limit.
    #[schemars(range(min = 1))]
    pub(crate) max_concurrent: Option<u32>,
    /// How often an event runs again after a failed run.
    pub(crate) max_retries: u32,
    /// The wait before the first of these; doubled each time, at most 30m.
    pub(crate) retry_backoff: Span,
    /// Events a minute, after authentication; 0 is without limit. Default: `server.rate_limit`.
    pub(crate) rate_limit: Option<u32>,
    /// The largest body, also after decompression. Default: `server.max_body_bytes`.
    pub(crate) max_body_bytes: Option<Size>,
    /// How long a run may take. Default: the agent's `timeout`.
    pub(crate) timeout: Option<Span>,
    /// Events of the route with the larger number run first.
    pub(crate) priority: i64,
    /// Further settings of the source, such as the header names of `hmac`.
    pub(crate) options: Map<String, Value>,
    /// For people.
    pub(crate) description: String,
    /// Whether runs may ring this route with `doorbell send`.
    pub(crate) accept_from_agents: bool,
}

impl Default for Route {
    fn default() -> Self {
        Route {
            source: "auto".to_owned(),
            secret: None,
            secrets: None,
            events: Vec::new(),
            filters: Filters::default(),
            prompt: None,
            agent: None,
            deliver: OneOrMore(vec!["log".to_owned()]),
            deliver_extra: Map::new(),
            profile: "default".to_owned(),
            enabled: true,
            tolerance: None,
            dedupe_window: Span::seconds(60 * 60),
            dedupe_key: None,
            serial_by: None,
            max_concurrent: None,
            max_retries: 3,
            retry_backoff: Span::seconds(60),
            rate_limit: None,
            max_body_bytes: None,
            timeout: None,
            priority: 0,
            options: Map::new(),
            description: String::new(),
            accept_from_agents: false,
        }
    }
}

/// A name, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OneOrMore(pub(crate) Vec<String>);

/// Not an untagged enum: errors inside the list keep their place.
impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = OneOrMore;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<OneOrMore, E> {
                Ok(OneOrMore(vec![name.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<OneOrMore, A::Error> {
                let mut all = Vec::new();
                while let Some(name) = names.next_element()? {
                    all.push(name);
                }
                Ok(OneOrMore(all))
            }
        }

        deserializer.deserialize_any(Names)
    }
}

impl JsonSchema for OneOrMore {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOrMore".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "array"],
            "items": { "type": "string" },
            "minItems": 1,
            "uniqueItems": true
        })
    }
}
