//! A dotted path into a payload.

use serde_json::Value;

/// The value at `path`: parts are keys of objects, digits index lists.
pub(crate) fn at<'v>(payload: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(payload, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_and_indexes_are_followed_and_nothing_else() {
        let payload = json!({"data": {"ids": [{"id": "a"}, 7]}, "0": "zero"});
        assert_eq!(at(&payload, "data.ids.0.id"), Some(&json!("a")));
        assert_eq!(at(&payload, "data.ids.1"), Some(&json!(7)));
        assert_eq!(at(&payload, "0"), Some(&json!("zero")));
        for path in ["data.ids.2", "data.ids.x", "data.ids.-1", "data.ids.0.id.more", "nope", "", "data..ids"] {
            assert_eq!(at(&payload, path), None, "{path}");
        }
    }
}
