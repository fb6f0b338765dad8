//! A route's `filters`: conditions on an event that let it through, or not.
//!
//! Read once, when the configuration is, and asked for every event. A condition is a field with operators, all of which must
//! hold, or a group of conditions (`all`, `any`, `not`). A field is a dotted path into the payload; `event` (or `event_type`) is
//! the event's type, `headers.Name` a header, and `payload.` before a path reaches what these words hide.

mod field;
mod operator;
mod read;
#[cfg(test)]
mod tests;

use serde_json::Value;

use field::Field;
use operator::Operator;
pub use read::FilterError;

/// What a filter looks at.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The payload, as it came.
    pub payload: &'a Value,
    /// The event's type.
    pub event_type: &'a str,
    /// Lower-cased names, in the order they came.
    pub headers: &'a [(String, String)],
}

/// The values in a file that an `in_file` names, by its name as written. They are asked for anew for each event.
pub type Lists<'a> = &'a dyn Fn(&str) -> Vec<Value>;

/// Conditions that must all hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    all: Vec<Condition>,
}

#[derive(Clone, Debug)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Field { field: Field, operators: Vec<Operator> },
}

impl Filter {
    /// Reads what a route has under `filters`: one condition or a list of them. The errors are all that is wrong, each with the
    /// dotted way to it below `filters`.
    pub fn read(written: &Value) -> Result<Filter, Vec<FilterError>> {
        read::filter(written).map(|all| Filter { all })
    }

    /// Whether the event may pass. Without conditions every event may.
    pub fn passes(&self, seen: &Seen<'_>, lists: Lists<'_>) -> bool {
        self.all.iter().all(|condition| condition.holds(seen, lists))
    }

    /// The files that it looks into, as they are written.
    pub fn files(&self) -> Vec<&str> {
        let mut files = Vec::new();
        for condition in &self.all {
            condition.files(&mut files);
        }
        files
    }
}

impl Condition {
    fn holds(&self, seen: &Seen<'_>, lists: Lists<'_>) -> bool {
        match self {
            Condition::All(conditions) => conditions.iter().all(|condition| condition.holds(seen, lists)),
            Condition::Any(conditions) => conditions.iter().any(|condition| condition.holds(seen, lists)),
            Condition::Not(condition) => !condition.holds(seen, lists),
            Condition::Field { field, operators } => {
                let value = field.find(seen);
                operators.iter().all(|operator| operator.holds(value.as_deref(), lists))
            }
        }
    }

    fn files<'a>(&'a self, files: &mut Vec<&'a str>) {
        match self {
            Condition::All(conditions) | Condition::Any(conditions) => {
                for condition in conditions {
                    condition.files(files);
                }
            }
            Condition::Not(condition) => condition.files(files),
            Condition::Field { operators, .. } => files.extend(operators.iter().filter_map(Operator::file)),
        }
    }
}

/// The values that the text of a file holds: those of a JSON list, the keys of a JSON object, one JSON scalar, or else its
/// lines without the blank ones and without blanks around them.
pub fn list(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Array(values)) => values,
        Ok(Value::Object(map)) => map.into_iter().map(|(key, _)| key.into()).collect(),
        Ok(scalar) => vec![scalar],
        Err(_) => text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect(),
    }
}
