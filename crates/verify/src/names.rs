//! What a request calls itself: the type of its event, the id of its delivery, whether it only tests the connection.

use serde_json::Value;

use crate::engine::sha256_hex;
use crate::path;
use crate::source::{Place, Source};

const GITLAB_EVENT: &str = "x-gitlab-event";

/// Asked in this order when a source's own places are empty.
const EVENT_HEADERS: [&str; 6] =
    ["x-hermes-event", "x-github-event", GITLAB_EVENT, "x-gitea-event", "x-event-key", "x-shopify-topic"];
/// Asked in this order when no header names the event.
const EVENT_KEYS: [&str; 5] = ["event_type", "type", "event", "topic", "object_kind"];
/// Asked in this order when a source's own places are empty.
const DELIVERY_HEADERS: [&str; 6] =
    ["x-github-delivery", "svix-id", "webhook-id", "x-hermes-delivery", "x-gitlab-event-uuid", "x-request-id"];

/// A delivery id longer than this is shortened: it becomes part of keys, file names and environment variables.
const LONGEST_ID: usize = 255;
/// An event type longer than this is cut: it is a name, and becomes an environment variable of runs.
const LONGEST_TYPE: usize = 255;
/// How much of a long id stays readable.
const KEPT_OF_LONG_ID: usize = 200;

/// The type of the event: `push`, `charge.refunded`, … or `unknown`; at most 255 bytes of it.
///
/// GitLab's header gives the short form, see [`gitlab_short_name`].
pub fn event_type(source: &Source, headers: &[(String, String)], payload: &Value) -> String {
    let own = || source.event.iter().find_map(|place| event_at(place, headers, payload));
    let shared = || EVENT_HEADERS.iter().find_map(|name| event_header(name, headers));
    let named = || EVENT_KEYS.iter().find_map(|key| event_key(key, payload));
    let mut found = own().or_else(shared).or_else(named).unwrap_or_else(|| "unknown".to_owned());
    found.truncate(found.floor_char_boundary(LONGEST_TYPE));
    found
}

fn event_at(place: &Place, headers: &[(String, String)], payload: &Value) -> Option<String> {
    match place {
        Place::Header(name) => event_header(name, headers),
        Place::Body(path) => event_key(path, payload),
    }
}

fn event_header(name: &str, headers: &[(String, String)]) -> Option<String> {
    let value = filled(headers, name)?;
    let short = if name == GITLAB_EVENT { gitlab_short_name(value) } else { None };
    Some(short.unwrap_or_else(|| value.to_owned()))
}

fn event_key(path: &str, payload: &Value) -> Option<String> {
    path::at(payload, path)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// GitLab's name of an event in one word: `Merge Request Hook` is `merge_request`, `Tag Push Hook` is `tag_push`.
/// `None` when the text does not end in ` Hook`.
pub fn gitlab_short_name(name: &str) -> Option<String> {
    let words = name.strip_suffix(" Hook").filter(|words| !words.is_empty())?;
    Some(words.to_lowercase().replace(' ', "_"))
}

/// The id by which a sender knows the delivery, or `None` when it names none.
///
/// Control characters become U+FFFD. An id of more than 255 characters is cut and ends in a digest of the whole, so
/// that two long ids stay apart.
pub fn delivery_id(source: &Source, headers: &[(String, String)], payload: &Value) -> Option<String> {
    let own = || source.delivery.iter().find_map(|place| delivery_at(place, headers, payload));
    let shared = || DELIVERY_HEADERS.iter().find_map(|name| filled(headers, name).map(str::to_owned));
    own().or_else(shared).map(|id| presentable(&id))
}

fn delivery_at(place: &Place, headers: &[(String, String)], payload: &Value) -> Option<String> {
    match place {
        Place::Header(name) => filled(headers, name).map(str::to_owned),
        Place::Body(path) => match path::at(payload, path)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        },
    }
}

fn presentable(id: &str) -> String {
    let clean = |part: &str| part.replace(char::is_control, "\u{FFFD}");
    if id.chars().nth(LONGEST_ID).is_none() {
        return clean(id);
    }
    let kept: String = id.chars().take(KEPT_OF_LONG_ID).collect();
    format!("{}…{}", clean(&kept), &sha256_hex(id.as_bytes())[..32])
}

/// Whether the request only tests the connection, as GitHub's `ping` does.
pub fn is_ping(source: &Source, headers: &[(String, String)]) -> bool {
    source.ping.is_some_and(|(name, value)| filled(headers, name) == Some(value))
}

/// The first value of header `name` that holds something.
fn filled<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(n, value)| n == name && !value.is_empty()).map(|(_, value)| value.as_str())
}
