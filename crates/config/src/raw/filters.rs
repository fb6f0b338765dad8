//! The conditions of a route, as they are written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One condition or a list of them; nothing: `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Filters(pub(crate) Value);

impl JsonSchema for Filters {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Filters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let condition = generator.subschema_for::<Condition>();
        json_schema!({ "anyOf": [condition, { "type": "array", "items": condition }, { "type": "null" }] })
    }
}

/// The schema of a condition, which may hold further ones.
struct Condition;

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let condition = generator.subschema_for::<Condition>();
        let group =
            |description: &str| json_schema!({ "description": description, "type": "array", "items": condition });
        let (all, any) = (group("Conditions that must all hold."), group("Conditions of which one must hold."));
        let not = json_schema!({ "description": "A condition that must not hold.", "allOf": [condition] });
        let number = |description: &str| json_schema!({ "description": description, "type": "number" });
        let text = |description: &str| json_schema!({ "description": description, "type": "string" });
        let truth = |description: &str| json_schema!({ "description": description, "type": "boolean" });
        json_schema!({
            "description": "A field with operators, all of which must hold, or a group of conditions.",
            "oneOf": [
                { "type": "object", "properties": { "all": all }, "required": ["all"], "additionalProperties": false },
                { "type": "object", "properties": { "any": any }, "required": ["any"], "additionalProperties": false },
                { "type": "object", "properties": { "not": not }, "required": ["not"], "additionalProperties": false },
                {
                    "type": "object",
                    "properties": {
                        "field": {
                            "type": "string",
                            "description": "A dotted path into the payload; `event`, `headers.Name` and `payload.…` are words of its own."
                        },
                        "exists": truth("Whether there is a value; null is one."),
                        "missing": truth("Whether there is none."),
                        "equals": { "description": "The same value; numbers by what they are worth." },
                        "not_equals": { "description": "There is a value, and it is another one." },
                        "contains": { "description": "An element of a list, a key of an object, a part of a text." },
                        "icontains": text("The same without regard to case."),
                        "in": { "type": "array", "description": "One of these values." },
                        "in_file": {
                            "type": "string",
                            "description": "A file below the home, or with an absolute path: a JSON list, the keys of a JSON object, or lines. Read anew for each event."
                        },
                        "regex": { "type": "string", "description": "A pattern that is found in linear time: no look-around, no back-references." },
                        "gt": number("A number above this."),
                        "gte": number("A number of this or above."),
                        "lt": number("A number below this."),
                        "lte": number("A number of this or below."),
                        "starts_with": text("How a text begins."),
                        "ends_with": text("How a text ends.")
                    },
                    "required": ["field"],
                    "minProperties": 2,
                    "additionalProperties": false
                }
            ]
        })
    }
}
