//! Whether an event is one that is known already.
//!
//! Every admitted event holds its key, unique per route. A second event with the key is judged by what became of the
//! first one: it must not run twice what went well, and must not swallow what went wrong.

use std::time::Duration;

use crate::retry::after;
use crate::states::EventState;
use crate::template::{Scope, Template, exact};

/// The key of an event within its route: its rendered `dedupe_key`, else its delivery id.
///
/// Keys of the two kinds can never be equal, and neither can keys whose parts differ (`a` + `b#c` against `a#b` + `c`).
/// Where a placeholder of the template does not resolve or is `null`, or only blanks are left, the delivery id is the
/// key: otherwise all such events would be duplicates of the first.
pub fn key(template: Option<&Template>, scope: &Scope, delivery_id: &str) -> String {
    match template.and_then(|template| template.exact(scope)) {
        Some(exact) => format!("key:{}", exact.into_key()),
        None => format!("id:{}", exact::shorten(delivery_id)),
    }
}

/// The event that holds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEvent {
    /// Its state now.
    pub state: EventState,
    /// When it ended, in Unix milliseconds; `None` while it has not.
    pub finished_at: Option<i64>,
}

/// What another event with the same key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same work again: nothing to do.
    Duplicate,
    /// The first one did not do its work, or long ago: admit it, and let it hold the key.
    NewWork,
}

/// Judges an event that came with the key of `known`. `window` is the route's `dedupe_window`, `now` is in Unix
/// milliseconds.
///
/// An unfinished event makes a duplicate however old it is. A success does for the window after its end, and so does
/// a cancelled one: that it was cancelled or stopped was decided. What was exhausted is new work. What was ignored never
/// held a key.
pub fn verdict(known: KnownEvent, window: Duration, now: i64) -> Verdict {
    match known.state {
        EventState::Ignored | EventState::Exhausted => Verdict::NewWork,
        EventState::Held | EventState::Queued | EventState::Running | EventState::Failed => Verdict::Duplicate,
        EventState::Succeeded | EventState::Cancelled => {
            let open_until = known.finished_at.map_or(i64::MAX, |at| after(at, window));
            if now < open_until { Verdict::Duplicate } else { Verdict::NewWork }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::arbitrary::json as any_json;

    const HOUR: Duration = Duration::from_hours(1);

    fn key_of(template: Option<&str>, payload: &Value, id: &str) -> String {
        let scope = Scope {
            payload,
            event_type: "push",
            route: "r",
            delivery_id: id,
            event_id: "ev_1",
            headers: &[],
            body_sha256: "00",
        };
        key(template.map(Template::parse).as_ref(), &scope, id)
    }

    fn judged(state: EventState, age_ms: i64) -> Verdict {
        let now = 1_790_000_000_000;
        let finished_at = state.is_finished().then_some(now - age_ms);
        verdict(KnownEvent { state, finished_at }, HOUR, now)
    }

    #[test]
    fn the_key_is_the_template_or_the_id() {
        let body = json!({"channel": "C1", "ts": "1.2", "null": null, "empty": ""});
        assert_eq!(key_of(None, &body, "d-1"), "id:d-1");
        assert_eq!(key_of(Some("{channel}:{ts}"), &body, "a"), key_of(Some("{channel}:{ts}"), &body, "b"));
        for unresolved in ["{nope}", "{channel}:{nope}", "{null}", "{empty}"] {
            assert_eq!(key_of(Some(unresolved), &body, "d-1"), "id:d-1", "{unresolved}");
        }
    }

    #[test]
    fn different_parts_are_different_keys() {
        let of = |a: &str, b: &str| key_of(Some("{a}#{b}"), &json!({"a": a, "b": b}), "x");
        assert_ne!(of("a", "b#c"), of("a#b", "c"));
        assert_ne!(key_of(Some("{a}"), &json!({"a": "id:d-1"}), "x"), key_of(None, &json!({}), "d-1"));
        let big = |end: &str| json!({"a": {"t": "x".repeat(9000), "end": end}});
        assert_ne!(key_of(Some("{a}"), &big("1"), "x"), key_of(Some("{a}"), &big("2"), "x"), "nothing is cut");
        assert!(key_of(None, &json!({}), &"i".repeat(8000)).len() < 250, "a key fits an index");
    }

    #[test]
    fn unfinished_and_done_are_duplicates() {
        let day = 86_400_000;
        for state in [EventState::Held, EventState::Queued, EventState::Running, EventState::Failed] {
            assert_eq!(judged(state, 0), Verdict::Duplicate, "{state}");
        }
        for state in [EventState::Succeeded, EventState::Cancelled] {
            assert_eq!(judged(state, 3_599_999), Verdict::Duplicate, "{state}");
            assert_eq!(judged(state, 3_600_000), Verdict::NewWork, "{state}");
            assert_eq!(judged(state, -day), Verdict::Duplicate, "{state}: the clock was set back");
        }
        for state in [EventState::Exhausted, EventState::Ignored] {
            assert_eq!(judged(state, 0), Verdict::NewWork, "{state}");
        }
    }

    proptest! {
        #[test]
        fn there_is_always_a_verdict(
            state in prop::sample::select(EventState::ALL.to_vec()),
            finished_at: Option<i64>, window in any::<Duration>(), now: i64,
        ) {
            let found = verdict(KnownEvent { state, finished_at }, window, now);
            prop_assert!(state != EventState::Ignored || found == Verdict::NewWork);
        }

        #[test]
        fn once_new_always_new(age in 0_i64..10_000_000, later in 0_i64..10_000_000) {
            if judged(EventState::Succeeded, age) == Verdict::NewWork {
                prop_assert_eq!(judged(EventState::Succeeded, age + later), Verdict::NewWork);
            }
        }

        #[test]
        fn two_values_are_one_key_only_when_they_are_equal(a in any_json(), b in any_json(), c in any_json(), d in any_json()) {
            let of = |x: &Value, y: &Value| key_of(Some("{x}{y}"), &json!({"x": x, "y": y}), "same");
            // Text and what JSON makes of a value may look alike (`1` and `"1"`); shown values decide.
            let shown = |v: &Value| v.as_str().map_or_else(|| crate::shown::pretty(v), str::to_owned).replace('\0', "\u{fffd}");
            if !a.is_null() && !b.is_null() && !c.is_null() && !d.is_null() {
                let equal = shown(&a) == shown(&c) && shown(&b) == shown(&d);
                let blank = |x: &Value, y: &Value| (shown(x) + &shown(y)).trim().is_empty();
                prop_assume!(!blank(&a, &b) && !blank(&c, &d));
                prop_assert_eq!(of(&a, &b) == of(&c, &d), equal);
            }
        }
    }
}
