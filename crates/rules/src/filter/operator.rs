//! What a condition asks of a value.

use std::borrow::Cow;
use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Number, Value};

use super::Lists;
use crate::number;

#[derive(Clone, Debug)]
pub(super) enum Operator {
    /// Whether there is a value; `null` is one.
    Exists(bool),
    Equals(Value),
    /// There is a value, and it is another one.
    NotEquals(Value),
    /// An element of a list, a key of an object, or a part of the text of anything else.
    Contains(Value),
    /// The same without regard to case.
    ContainsFolded(String),
    In(Vec<Value>),
    /// The name of a file, as written.
    InFile(String),
    Matches(Regex),
    /// Two numbers, in one of these orders.
    Compares(Number, &'static [Ordering]),
    StartsWith(String),
    EndsWith(String),
}

impl Operator {
    /// Whether it holds for a field's value; `None`: the field is missing, which only `Exists(false)` asks for.
    pub(super) fn holds(&self, value: Option<&Value>, lists: Lists<'_>) -> bool {
        let Some(value) = value else { return matches!(self, Operator::Exists(false)) };
        match self {
            Operator::Exists(wanted) => *wanted,
            Operator::Equals(other) => same(value, other),
            Operator::NotEquals(other) => !same(value, other),
            Operator::Contains(part) => contains(value, part),
            Operator::ContainsFolded(part) => contains_folded(value, part),
            Operator::In(values) => values.iter().any(|one| same(one, value)),
            Operator::InFile(file) => lists(file).iter().any(|one| same(one, value)),
            Operator::Matches(pattern) => pattern.is_match(&text(value)),
            Operator::Compares(bound, orders) => match value {
                Value::Number(number) => number::compare(number, bound).is_some_and(|order| orders.contains(&order)),
                _ => false,
            },
            Operator::StartsWith(part) => scalar(value).is_some_and(|text| text.starts_with(part)),
            Operator::EndsWith(part) => scalar(value).is_some_and(|text| text.ends_with(part)),
        }
    }

    pub(super) fn file(&self) -> Option<&str> {
        match self {
            Operator::InFile(file) => Some(file),
            _ => None,
        }
    }
}

/// Whether two values are the same: numbers by their value, everything else by kind and content.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number::equal(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn contains(value: &Value, part: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|one| same(one, part)),
        Value::Object(map) => part.as_str().is_some_and(|key| map.contains_key(key)),
        _ => text(value).contains(&*text(part)),
    }
}

/// `part` is in lower case.
fn contains_folded(value: &Value, part: &str) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|one| text(one).to_lowercase() == part),
        Value::Object(map) => map.keys().any(|key| key.to_lowercase() == part),
        _ => text(value).to_lowercase().contains(part),
    }
}

/// A value as text: a text as it is, everything else as JSON, objects with their keys in order.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(_) | Value::Object(_) => {
            let mut sorted = value.clone();
            sorted.sort_all_objects();
            Cow::Owned(sorted.to_string())
        }
        other => Cow::Owned(other.to_string()),
    }
}

/// The text of what is no list and no object.
fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    (!value.is_array() && !value.is_object()).then(|| text(value))
}
