//! Finding a value inside a payload by a dotted path.

use serde_json::Value;

/// The value at `path` (`pull_request.labels.0.name`), or `None` when there is none.
///
/// Objects are walked by key and lists by index. An index is written the usual way, so `-1` and `00` name nothing.
/// Where the path leads nowhere, what is left of it is tried as one key: `{"labels": {"app.team": "a"}}` answers
/// `labels.app.team`, since senders do put dots into keys. A value that is `null` is there.
pub fn lookup<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let step = |next: &'v Value| rest.map_or(Some(next), |rest| lookup(next, rest));
    match value {
        Value::Object(map) => map.get(head).and_then(step).or_else(|| map.get(path)),
        Value::Array(list) => list.get(index(head)?).and_then(step),
        _ => None,
    }
}

/// `part` as a list index, when it is one.
fn index(part: &str) -> Option<usize> {
    let usual = part == "0" || !part.starts_with('0');
    (usual && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok())?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::arbitrary::json as any_json;
    use proptest::prelude::*;

    #[test]
    fn walks_objects_and_lists() {
        let payload = json!({"a": {"b": [{"c": "ok"}], "0": "key"}, "list": [[1, 2], [3]], "n": null});
        let at = |path: &str| lookup(&payload, path).cloned();
        assert_eq!(at("a.b.0.c"), Some(json!("ok")));
        assert_eq!(at("a.0"), Some(json!("key")));
        assert_eq!(at("list.0.1"), Some(json!(2)));
        assert_eq!(at("n"), Some(Value::Null));
        for nothing in ["", "a.", ".a", "n.x", "a.b.9.c", "a.b.-1.c", "a.b.00.c", "a.b.+0.c", "a.b.x", "a.b.0.c.d"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
        assert_eq!(lookup(&json!([{"e": 1}]), "0.e"), Some(&json!(1)));
        assert_eq!(lookup(&json!([1]), "99999999999999999999999"), None);
    }

    #[test]
    fn a_key_with_dots_is_found_after_the_path_proper() {
        let payload = json!({"x.y": 1, "labels": {"app.team": "a", "app": {"name": "n"}}, "p.q": 2, "p": {"q": 3}});
        let at = |path: &str| lookup(&payload, path).cloned();
        assert_eq!(at("x.y"), Some(json!(1)));
        assert_eq!(at("labels.app.team"), Some(json!("a")));
        assert_eq!(at("labels.app.name"), Some(json!("n")));
        assert_eq!(at("p.q"), Some(json!(3)), "the path proper comes first");
    }

    proptest! {
        #[test]
        fn never_panics(value in any_json(), path in ".{0,40}") {
            let _ = lookup(&value, &path);
        }

        #[test]
        fn finds_what_was_put_there(inner in any_json(), keys in prop::collection::vec("[a-z0-9_-]{1,6}", 1..6)) {
            let whole = keys.iter().rev().fold(inner.clone(), |value, key| json!({ key: value }));
            prop_assert_eq!(lookup(&whole, &keys.join(".")), Some(&inner));
        }
    }
}
