//! Keys of targets: one table for reading, documentation and JSON Schema.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use span::Span;

use crate::kind::Kind;

/// A key of a target's settings.
#[derive(Debug)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// What it means, in a sentence or two.
    pub meaning: &'static str,
    /// What may stand there.
    pub shape: Shape,
    /// What holds when it is absent, as it would be written; empty = nothing.
    pub default: &'static str,
    /// A route may give it in `deliver_extra` too, as a literal.
    pub in_route: bool,
    /// It is a credential or goes where credentials go: never read from `deliver_extra`, never shown.
    pub credential: bool,
}

impl Key {
    /// A key for the settings only, no credential, without default.
    pub(crate) const fn new(name: &'static str, shape: Shape, meaning: &'static str) -> Self {
        Key { name, meaning, shape, default: "", in_route: false, credential: false }
    }

    pub(crate) const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    pub(crate) const fn also_in_route(mut self) -> Self {
        self.in_route = true;
        self
    }

    pub(crate) const fn credential(mut self) -> Self {
        self.credential = true;
        self
    }
}

/// What may stand under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A text out of these.
    OneOf(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A mapping of names to texts.
    Pairs,
    /// A duration.
    Duration,
    /// A whole number from 1.
    Count,
    /// true or false.
    Flag,
}

/// The keys of every target.
pub const COMMON: [Key; 4] = [
    Key::new("type", Shape::Text, "Which kind of target this is, so that two of one kind can stand side by side.")
        .default("the entry's name"),
    Key::new("timeout", Shape::Duration, "How long one attempt may take, from its start to the end of the answer.")
        .default("10s"),
    Key::new("max_attempts", Shape::Count, "How often one delivery is tried, the first time included.").default("12"),
    Key::new(
        "retry_backoff",
        Shape::Duration,
        "How long to wait before the second attempt; doubled each time, with jitter between half and the whole, at most 30m.",
    )
    .default("5s"),
];

/// The key of the kinds that cannot know whether a repetition does harm.
pub(crate) const IDEMPOTENT: Key = Key::new(
    "idempotent",
    Shape::Flag,
    "The receiver takes the same message twice without harm, by its id: then one of which nobody knows whether it arrived is sent again.",
)
.default("false");

/// The JSON Schema of the mapping under `targets`: an entry with a kind's name has that kind's keys, every other entry
/// names its kind by `type`.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let entries: Vec<_> = crate::kinds().iter().map(|kind| (kind.name, entry_schema(kind, generator))).collect();
    let typed: Vec<Value> = entries.iter().map(|(_, entry)| with_required_type(entry)).collect();
    // An entry that bears a kind's name may be of another kind too, when it says so.
    let named = entries.iter().map(|(name, entry)| {
        let others = typed.iter().filter(|other| other["properties"]["type"] != entry["properties"]["type"]);
        let choices: Vec<&Value> = std::iter::once(entry).chain(others).collect();
        ((*name).to_owned(), json!({"anyOf": choices}))
    });
    json_schema!({
        "description": "Where answers go: credentials and defaults of each target, by its name.",
        "type": "object",
        "properties": named.collect::<Map<_, _>>(),
        "additionalProperties": {"anyOf": typed}
    })
}

fn with_required_type(entry: &Value) -> Value {
    let mut entry = entry.clone();
    entry["required"] = json!(["type"]);
    entry
}

fn entry_schema(kind: &Kind, generator: &mut SchemaGenerator) -> Value {
    let mut properties: Map<String, Value> =
        kind.all_keys().map(|key| (key.name.to_owned(), key_schema(key, generator))).collect();
    properties["type"]["const"] = kind.name.into();
    json!({
        "description": kind.about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false
    })
}

fn key_schema(key: &Key, generator: &mut SchemaGenerator) -> Value {
    let mut schema = match key.shape {
        Shape::Text => json!({"type": "string"}),
        Shape::OneOf(words) => json!({"type": "string", "enum": words}),
        Shape::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Shape::Pairs => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Shape::Duration => generator.subschema_for::<Span>().to_value(),
        Shape::Count => json!({"type": "integer", "minimum": 1}),
        Shape::Flag => json!({"type": "boolean"}),
    };
    let default = if key.default.is_empty() { String::new() } else { format!(" Default: {}.", key.default) };
    schema["description"] = format!("{}{default}", key.meaning).into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_key_is_described() {
        for kind in crate::kinds() {
            assert!(kind.about.len() > 10 && kind.told.len() > 10 && !kind.limit.is_empty(), "{}", kind.name);
            let mut names: Vec<_> = kind.all_keys().map(|key| key.name).collect();
            assert!(kind.all_keys().all(|key| key.meaning.ends_with('.')), "{}", kind.name);
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{} has a key twice", kind.name);
        }
    }

    #[test]
    fn the_schema_has_an_entry_for_each_kind_and_closes_it() {
        let mut generator = SchemaGenerator::default();
        let schema = schema(&mut generator).to_value();
        let file = &schema["properties"]["file"]["anyOf"][0];
        assert_eq!(file["additionalProperties"], json!(false));
        assert_eq!(file["properties"]["type"]["const"], json!("file"));
        assert!(file["properties"]["timeout"]["description"].as_str().unwrap().ends_with("Default: 10s."));
        assert_eq!(schema["additionalProperties"]["anyOf"].as_array().unwrap().len(), crate::kinds().len());
        assert_eq!(schema["additionalProperties"]["anyOf"][0]["required"], json!(["type"]));
        assert!(generator.definitions().contains_key("Duration"));
    }
}
