//! Which values of `deliver_extra` a target gets.

use serde_json::{Map, Value};

use crate::options::is_given;

/// The part of a route's `deliver_extra` that is meant for `target`.
///
/// A key that is the name of one of the route's targets (`all_targets`) and holds an object belongs to that one alone;
/// the other keys go to all. A target's own values win over those for all. `null` and the empty text mean "not given"
/// and are left out.
pub fn values_for(target: &str, all_targets: &[&str], extra: &Map<String, Value>) -> Map<String, Value> {
    let is_own = |key: &str, value: &Value| all_targets.contains(&key) && value.is_object();
    let shared = extra.iter().filter(|(key, value)| !is_own(key, value));
    let own = extra.get(target).filter(|value| is_own(target, value)).and_then(Value::as_object);
    let given = shared.chain(own.into_iter().flatten()).filter(|(_, value)| is_given(value));
    given.map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scoped(target: &str, all: &[&str], extra: &Value) -> Value {
        values_for(target, all, extra.as_object().unwrap()).into()
    }

    #[test]
    fn an_object_under_a_targets_name_is_its_own() {
        let extra = json!({"chat_id": "1", "telegram": {"chat_id": "2"}, "ntfy": {"title": "t"}, "file": "a text"});
        let all = ["telegram", "ntfy", "file"];
        assert_eq!(scoped("telegram", &all, &extra), json!({"chat_id": "2", "file": "a text"}));
        assert_eq!(scoped("ntfy", &all, &extra), json!({"chat_id": "1", "title": "t", "file": "a text"}));
        let other = json!({"slack": {"x": 1}});
        assert_eq!(scoped("telegram", &all, &other), other, "no target of this route: a value like any other");
    }

    #[test]
    fn empty_means_not_given() {
        let extra = json!({"a": "", "b": null, "c": 0, "telegram": {"a": "own", "c": ""}});
        assert_eq!(scoped("telegram", &["telegram"], &extra), json!({"c": 0, "a": "own"}));
    }
}
