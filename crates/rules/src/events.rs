//! A route's `events`: which event types wake it.

use std::borrow::Cow;

use serde_json::Value;

/// The list of event types of a route. Compiled once, asked for every event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventList {
    entries: Vec<String>,
}

impl EventList {
    /// `entries` as written: `push`, `pull_request.opened`, or a name as GitLab's header has it (`Merge Request Hook`).
    /// No entries: every event.
    pub fn new(entries: Vec<String>) -> Self {
        Self { entries: entries.into_iter().map(|entry| short(&entry).into_owned()).collect() }
    }

    /// Whether the list lets this event through: no list, the type itself, or `type.action` where the payload has a
    /// text `action` at its top. Case counts.
    pub fn matches(&self, event_type: &str, payload: &Value) -> bool {
        let event_type = short(event_type);
        self.entries.is_empty()
            || self.lists(&event_type)
            || payload.get("action").and_then(Value::as_str).is_some_and(|action| self.has_action(&event_type, action))
    }

    /// Whether `name` itself is an entry. An empty list has none: it lets a provider's ping through to nobody, while a
    /// route that lists `ping` wants to be woken by it.
    pub fn lists(&self, name: &str) -> bool {
        let name = short(name);
        self.entries.iter().any(|entry| *entry == *name)
    }

    fn has_action(&self, event_type: &str, action: &str) -> bool {
        let wanted = |entry: &String| entry.strip_prefix(event_type)?.strip_prefix('.').map(|rest| rest == action);
        self.entries.iter().any(|entry| wanted(entry) == Some(true))
    }
}

/// GitLab's `Merge Request Hook` in the short form of its payloads, `merge_request`; any other name as it is.
fn short(name: &str) -> Cow<'_, str> {
    match name.strip_suffix(" Hook") {
        Some(words) => Cow::Owned(words.to_lowercase().replace(' ', "_")),
        None => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::arbitrary::json as any_json;

    fn list(entries: &[&str]) -> EventList {
        EventList::new(entries.iter().map(|entry| (*entry).to_owned()).collect())
    }

    #[test]
    fn an_entry_is_a_type_or_a_type_with_an_action() {
        let events = list(&["push", "pull_request.opened"]);
        assert!(events.matches("push", &json!({})));
        assert!(events.matches("push", &json!({"action": "any"})));
        assert!(events.matches("pull_request", &json!({"action": "opened"})));
        for payload in [json!({"action": "closed"}), json!({"action": 1}), json!({}), json!(["opened"]), json!(null)] {
            assert!(!events.matches("pull_request", &payload), "{payload}");
        }
        assert!(!events.matches("Push", &json!({})));
        assert!(!events.matches("pus", &json!({})));
        assert!(events.matches("pull_request.opened", &json!({})), "some providers name their types so");
    }

    #[test]
    fn gitlabs_names_have_two_forms() {
        for events in [list(&["Merge Request Hook"]), list(&["merge_request"])] {
            assert!(events.matches("merge_request", &json!({})));
            assert!(events.matches("Merge Request Hook", &json!({})));
            assert!(!events.matches("push", &json!({})));
        }
        assert!(list(&["Push Hook"]).matches("push", &json!({})));
        assert!(list(&["Tag Push Hook"]).lists("tag_push"));
    }

    #[test]
    fn a_ping_must_be_listed_by_its_name() {
        assert!(!list(&[]).lists("ping"));
        assert!(!list(&["ping.x", "pings"]).lists("ping"));
        assert!(list(&["push", "ping"]).lists("ping"));
    }

    proptest! {
        #[test]
        fn no_list_is_every_event(event in ".*", payload in any_json()) {
            prop_assert!(list(&[]).matches(&event, &payload));
        }

        #[test]
        fn what_is_listed_matches(event in ".{0,20}", others in prop::collection::vec(".{0,20}", 0..4), payload in any_json()) {
            let mut entries = others;
            entries.push(event.clone());
            let events = EventList::new(entries);
            prop_assert!(events.lists(&event) && events.matches(&event, &payload));
        }

        #[test]
        fn type_and_action_match_together(event in "[a-z_.]{1,10}", action in "[a-z_.]{1,10}", other in "[a-z_.]{1,10}") {
            let events = list(&[&format!("{event}.{action}")]);
            prop_assert_eq!(events.matches(&event, &json!({"action": action})), true);
            prop_assert_eq!(events.matches(&event, &json!({"action": other})), action == other);
        }
    }
}
