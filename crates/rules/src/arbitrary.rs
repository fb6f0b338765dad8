//! What the property tests are fed with: payloads of any shape, with text that tries to be a template.

use proptest::prelude::*;
use serde_json::Value;

/// Short text: anything, or something that looks like a placeholder, a fence or a lone brace.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => ".{0,12}",
        1 => prop::sample::select(vec![
            "{route}", "{__raw__}", "{a}", "{{a}}", "{", "}", "```", "````", "你👨‍👩‍👧", "\0", "null", "a.b", "{headers.x}",
        ]).prop_map(str::to_owned),
    ]
}

/// A payload of at most five levels.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-c]{1,2}", 1 => text()]
}
