//! Names that occur more than once, and the field that stands for the whole.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::error::ParseError;
use crate::json;

/// Adds a value that is not a list; the second of one name makes a list of both, in their order, in constant time.
pub(crate) fn add(fields: &mut Map<String, Value>, name: String, value: Value) {
    match fields.entry(name) {
        Entry::Vacant(free) => {
            free.insert(value);
        }
        Entry::Occupied(mut known) => match known.get_mut() {
            Value::Array(values) => values.push(value),
            single => *single = Value::Array(vec![single.take(), value]),
        },
    }
}

/// The fields of a form, or the JSON object or list in its `payload` field (GitHub's and Slack's form bodies).
pub(crate) fn unwrap_payload(fields: Map<String, Value>) -> Result<Value, ParseError> {
    let Some(Value::String(text)) = fields.get("payload") else { return Ok(Value::Object(fields)) };
    match json::parse(text) {
        Ok(inner @ (Value::Object(_) | Value::Array(_))) => Ok(inner),
        Err(why) if why.is_too_deep() => Err(why),
        _ => Ok(Value::Object(fields)),
    }
}
