//! The line an event stands in: events with one value of `serial_by` (or of `session`) run one after the other.

use crate::template::exact::Exact;
use crate::template::{Scope, Template};

/// The value of a route's `serial_by` or `session` for this event, or `None` when the event stands in no line: a
/// placeholder does not resolve or is `null`, or nothing but blanks is left. The value is the rendered text with
/// nothing cut; one that is too long for an index ends in the SHA-256 of the whole.
pub fn value(template: &Template, scope: &Scope) -> Option<String> {
    template.exact(scope).map(Exact::into_text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn line(template: &str, payload: &Value) -> Option<String> {
        let scope = Scope {
            payload,
            event_type: "push",
            route: "r",
            delivery_id: "d",
            event_id: "ev_1",
            headers: &[],
            body_sha256: "00",
        };
        value(&Template::parse(template), &scope)
    }

    #[test]
    fn is_the_rendered_text() {
        assert_eq!(line("{repo}#{n}", &json!({"repo": "a/b", "n": 7})).as_deref(), Some("a/b#7"));
        assert_eq!(line("{url}", &json!({"url": "x/{archive}"})).as_deref(), Some("x/{archive}"));
        assert_eq!(line("all", &json!({})).as_deref(), Some("all"));
        assert_eq!(line("{f}", &json!({"f": false})).as_deref(), Some("false"));
    }

    #[test]
    fn without_a_value_there_is_no_line() {
        for payload in [json!({}), json!({"k": null}), json!({"k": ""}), json!({"k": " \n"}), json!([1])] {
            assert_eq!(line("{k}", &payload), None, "{payload}");
        }
        assert_eq!(line("{a}-{k}", &json!({"a": 1, "k": null})), None);
    }

    #[test]
    fn long_values_stay_apart() {
        let long = |end: &str| line("{k}", &json!({"k": format!("{}{end}", "x".repeat(5000))})).unwrap();
        assert_ne!(long("a"), long("b"));
        assert_eq!(long("a"), long("a"));
        assert!(long("a").len() < 250);
    }
}
