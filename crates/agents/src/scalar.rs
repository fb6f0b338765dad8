//! Texts as people write them in YAML: `[sleep, 5]` and `{DEBUG: 1}` mean texts, although YAML reads numbers.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

fn text<E: Error>(value: Value) -> Result<String, E> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Null => Err(E::custom("expected a text, found null")),
        Value::Array(_) => Err(E::custom("expected a text, found a list")),
        Value::Object(_) => Err(E::custom("expected a text, found a mapping")),
    }
}

/// A list whose entries are texts, numbers or truth values.
pub(crate) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Vec::<Value>::deserialize(deserializer)?.into_iter().map(text).collect()
}

/// Like [`list`], where the key may be absent or null.
pub(crate) fn optional_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let values = Option::<Vec<Value>>::deserialize(deserializer)?;
    values.map(|values| values.into_iter().map(text).collect()).transpose()
}

/// A mapping whose values are texts, numbers or truth values.
pub(crate) fn map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, Value>::deserialize(deserializer)?;
    values.into_iter().map(|(name, value)| Ok((name, text(value)?))).collect()
}
