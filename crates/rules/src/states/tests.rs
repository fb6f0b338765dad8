use std::fmt::Display;

use proptest::prelude::*;

use super::*;

/// The states that some row of steps leads to.
fn reachable<S: Copy + PartialEq>(starts: &[S], table: &[Step<S>]) -> Vec<S> {
    let mut found = starts.to_vec();
    while let Some(step) = table.iter().find(|step| found.contains(&step.from) && !found.contains(&step.to)) {
        found.push(step.to);
    }
    found
}

/// What holds for every table.
fn sound<S: Copy + PartialEq + Display>(all: &[S], starts: &[S], table: &[Step<S>], finished: impl Fn(S) -> bool) {
    let found = reachable(starts, table);
    for &state in all {
        assert!(found.contains(&state), "nothing leads to {state}");
        let out: Vec<_> = table.iter().filter(|step| step.from == state).collect();
        if finished(state) {
            assert!(out.iter().all(|step| step.by != By::Gateway), "{state} is no end");
            assert!(out.iter().all(|step| !finished(step.to)), "{state} leads to another end");
        } else {
            assert!(out.iter().any(|step| step.by == By::Gateway), "{state} is a dead end");
        }
    }
    for (n, step) in table.iter().enumerate() {
        assert!(step.from != step.to && !step.why.is_empty());
        assert!(
            !table[..n].iter().any(|s| (s.from, s.to, s.by) == (step.from, step.to, step.by)),
            "{} twice",
            step.why
        );
    }
}

#[test]
fn the_tables_are_sound() {
    sound(EventState::ALL, table::EVENT_STARTS, table::EVENTS, EventState::is_finished);
    sound(DeliveryState::ALL, table::DELIVERY_STARTS, table::DELIVERIES, DeliveryState::is_finished);
}

#[test]
fn events_leave_an_end_only_by_a_retry() {
    let out = |from: EventState| EventState::ALL.iter().copied().filter(|to| from.may_become(*to)).collect::<Vec<_>>();
    assert_eq!(out(EventState::Succeeded), []);
    assert_eq!(out(EventState::Exhausted), [EventState::Held, EventState::Queued]);
    assert_eq!(out(EventState::Cancelled), [EventState::Held, EventState::Queued]);
    assert_eq!(out(EventState::Ignored), []);
}

#[test]
fn what_a_person_may_do() {
    use EventState::{Cancelled, Exhausted, Failed, Held, Queued, Running};
    let that = |may: fn(EventState) -> bool| EventState::ALL.iter().copied().filter(|s| may(*s)).collect::<Vec<_>>();
    assert_eq!(that(EventState::may_be_cancelled), [Held, Queued, Running, Failed]);
    assert_eq!(that(EventState::may_be_retried), [Failed, Exhausted, Cancelled]);
    let again: Vec<_> = DeliveryState::ALL.iter().filter(|s| s.may_be_retried()).map(|s| s.as_str()).collect();
    assert_eq!(again, ["failed", "exhausted", "unknown"]);
}

#[test]
fn nobody_sends_again_what_was_sent_or_silent() {
    for to in DeliveryState::ALL {
        assert!(!DeliveryState::Delivered.may_become(*to));
        assert!(!DeliveryState::Suppressed.may_become(*to));
    }
    assert!(!DeliveryState::Unknown.may_become(DeliveryState::Sending), "not by itself");
}

#[test]
fn a_run_ends_once() {
    for from in RunState::ALL {
        for to in RunState::ALL {
            assert_eq!(from.may_become(*to), !from.is_finished() && to.is_finished(), "{from} to {to}");
        }
    }
}

#[test]
fn words_are_the_same_everywhere() {
    for state in EventState::ALL {
        assert_eq!(state.as_str().parse(), Ok(*state));
        assert_eq!(serde_json::to_string(state).unwrap(), format!("\"{state}\""));
        assert_eq!(serde_json::from_str::<EventState>(&format!("\"{state}\"")).unwrap(), *state);
    }
    for state in RunState::ALL {
        assert_eq!(state.as_str().parse(), Ok(*state));
        assert_eq!(serde_json::to_string(state).unwrap(), format!("\"{state}\""));
    }
    for state in DeliveryState::ALL {
        assert_eq!(state.as_str().parse(), Ok(*state));
        assert_eq!(serde_json::to_string(state).unwrap(), format!("\"{state}\""));
    }
    let error = "done".parse::<RunState>().unwrap_err().to_string();
    assert_eq!(error, "`done` is no state of a run; the states are: running, succeeded, failed, interrupted, stopped");
    assert_eq!(format!("{:>8}|", EventState::Held), "    held|");
}

#[test]
fn the_diagram_has_one_arrow_a_pair() {
    let text = mermaid(table::EVENT_STARTS, table::EVENTS);
    assert!(text.starts_with("stateDiagram-v2\n    [*] --> held\n"), "{text}");
    assert_eq!(text.matches(" failed --> queued:").count(), 1);
    assert!(text.contains("failed --> queued: wait over / retried before its time\n"), "{text}");
    assert!(!text.contains(';'), "a semicolon ends a line in that notation");
    assert!(mermaid(table::DELIVERY_STARTS, table::DELIVERIES).contains("sending --> unknown: "));
}

proptest! {
    #[test]
    fn no_other_word_is_a_state(word in "[a-z_]{0,12}|.*") {
        let known = EventState::ALL.iter().any(|state| state.as_str() == word);
        prop_assert_eq!(word.parse::<EventState>().is_ok(), known);
    }

    #[test]
    fn a_walk_by_the_gateway_alone_stays_in_an_end(choices in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
        let mut state = EventState::Held;
        for choice in choices {
            let out: Vec<_> = table::EVENTS.iter().filter(|s| s.from == state && s.by == By::Gateway).collect();
            prop_assert_eq!(out.is_empty(), state.is_finished());
            if out.is_empty() {
                break;
            }
            state = out[choice.index(out.len())].to;
        }
    }
}
