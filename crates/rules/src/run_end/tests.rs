use proptest::prelude::*;

use super::*;

const NOW: i64 = 1_790_000_000_000;
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;

fn policy(max_retries: u32) -> Policy {
    let backoff = Backoff { first: Duration::from_mins(1), cap: Duration::from_mins(30) };
    Policy { max_retries, backoff }
}

fn end(ending: Ending, standing: Standing) -> Next {
    judge(ending, standing, &policy(3), NOW, 1.0)
}

fn failure() -> Ending {
    Ending::Failed { reason: "exit 1".to_owned() }
}

#[test]
fn failures_are_retried_until_none_is_left() {
    let mut standing = Standing::default();
    for (n, wait) in [(1, 1), (2, 2), (3, 4)] {
        let next = end(failure(), standing);
        assert_eq!((next.state, next.reason.as_deref()), (EventState::Failed, Some("exit 1")));
        assert_eq!(next.due_at, Some(NOW + wait * MINUTE));
        assert_eq!(next.standing.retries_spent, n);
        standing = next.standing;
    }
    let last = end(failure(), standing);
    assert_eq!((last.state, last.reason.as_deref(), last.due_at), (EventState::Exhausted, Some("exit 1"), None));
}

#[test]
fn later_spends_no_retry_and_waits_as_long_again() {
    let mut standing = Standing::default();
    let mut now = NOW;
    let mut waits = Vec::new();
    for _ in 0..7 {
        let next = judge(Ending::Later, standing, &policy(0), now, 1.0);
        assert_eq!((next.state, next.reason.as_deref()), (EventState::Failed, Some("unavailable")));
        waits.push((next.due_at.unwrap() - now) / MINUTE);
        (standing, now) = (next.standing, next.due_at.unwrap());
    }
    assert_eq!(waits, [1, 1, 2, 4, 8, 16, 30]);
    assert_eq!(standing, Standing { later_since: Some(NOW), ..Standing::default() });
}

#[test]
fn what_could_not_be_begun_costs_nothing() {
    let standing = Standing { retries_spent: 3, interruptions: 4, later_since: Some(NOW - DAY) };
    for _ in 0..100 {
        let next = end(Ending::Unstarted, standing);
        assert_eq!(next, Next { state: EventState::Queued, reason: None, due_at: None, standing });
    }
}

#[test]
fn later_ends_after_a_day() {
    let row = |since| Standing { later_since: Some(since), ..Standing::default() };
    let nearly = end(Ending::Later, row(NOW - DAY + MINUTE));
    assert_eq!(
        (nearly.state, nearly.due_at),
        (EventState::Failed, Some(NOW + MINUTE)),
        "the last try is at the day's end"
    );
    let over = end(Ending::Later, row(NOW - DAY));
    assert_eq!((over.state, over.reason.as_deref()), (EventState::Exhausted, Some("unavailable")));
    let again = end(failure(), row(NOW - DAY));
    assert_eq!(again.standing.later_since, None, "another end begins a new row");
}

#[test]
fn five_interruptions_in_a_row_are_a_crash_loop() {
    let mut standing = Standing { retries_spent: 2, ..Standing::default() };
    for n in 1..5 {
        let next = end(Ending::Interrupted, standing);
        assert_eq!((next.state, next.reason, next.due_at), (EventState::Queued, None, None));
        assert_eq!(next.standing, Standing { retries_spent: 2, interruptions: n, later_since: None });
        standing = next.standing;
    }
    let last = end(Ending::Interrupted, standing);
    assert_eq!((last.state, last.reason.as_deref()), (EventState::Exhausted, Some("crash_loop")));
    for by_itself in [failure(), Ending::Later, Ending::Succeeded] {
        assert_eq!(end(by_itself, standing).standing.interruptions, 0);
    }
}

#[test]
fn a_stop_and_a_success_are_final() {
    let stop = end(Ending::Stopped, Standing::default());
    assert_eq!((stop.state, stop.reason.as_deref(), stop.due_at), (EventState::Cancelled, Some("stopped"), None));
    let success = end(Ending::Succeeded, Standing { retries_spent: 3, interruptions: 4, later_since: Some(1) });
    assert_eq!((success.state, success.reason, success.due_at), (EventState::Succeeded, None, None));
}

fn any_ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        Just(Ending::Succeeded),
        Just(failure()),
        Just(Ending::Later),
        Just(Ending::Interrupted),
        Just(Ending::Stopped)
    ]
}

proptest! {
    #[test]
    fn follows_the_table_and_never_waits_in_the_past(
        ending in any_ending(), retries_spent: u32, interruptions: u32, later_since: Option<i64>,
        max_retries: u32, first in any::<Duration>(), now in 0_i64..i64::MAX / 2, jitter in 0.0..1.0,
    ) {
        let policy = Policy { max_retries, backoff: Backoff { first, cap: Duration::from_mins(30) } };
        let next = judge(ending, Standing { retries_spent, interruptions, later_since }, &policy, now, jitter);
        prop_assert!(EventState::Running.may_become(next.state));
        prop_assert_eq!(next.due_at.is_some(), next.state == EventState::Failed);
        prop_assert!(next.due_at.is_none_or(|due| due >= now));
        prop_assert!(next.standing.retries_spent <= retries_spent.saturating_add(1));
    }

    #[test]
    fn every_row_of_ends_comes_to_an_end(endings in prop::collection::vec(any_ending(), 1..60), max_retries in 0_u32..5) {
        let (mut standing, mut now, mut failures) = (Standing::default(), NOW, 0);
        for ending in endings {
            failures += u32::from(matches!(ending, Ending::Failed { .. }));
            let next = judge(ending, standing, &policy(max_retries), now, 0.5);
            prop_assert!(failures <= max_retries || next.state != EventState::Failed || next.reason.as_deref() == Some("unavailable"));
            if next.state.is_finished() {
                break;
            }
            (standing, now) = (next.standing, next.due_at.unwrap_or(now));
        }
        prop_assert!(failures <= max_retries + 1);
    }
}
