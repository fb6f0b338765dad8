//! Events of one line run one at a time, in order of arrival.

use std::collections::BTreeMap;
use std::sync::Arc;

use rules::states::EventState;
use tokio::task::JoinSet;

use super::scene::{MINUTE, Subject, T0, again_at, done, event, in_line};
use crate::NewEvent;

pub(super) async fn a_line_runs_in_order(on: Subject) {
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(in_line(id, "l")).await;
    }
    for id in ["ev_1", "ev_2", "ev_3"] {
        let run = on.claim_one(T0).await;
        assert_eq!(run.event_id, id);
        assert_eq!(on.claimed(T0, 5).await, [""; 0]);
        on.end(&run, T0, done()).await;
    }
}

pub(super) async fn lines_do_not_wait_for_each_other(on: Subject) {
    on.put(in_line("ev_1", "l")).await;
    on.put(in_line("ev_2", "l")).await;
    on.put(in_line("ev_3", "m")).await;
    // The same value on another route is another line; without one there is nothing to wait for.
    on.put(NewEvent { line: Some("l".into()), ..event("ev_4", "s") }).await;
    on.put(event("ev_5", "r")).await;
    on.put(event("ev_6", "r")).await;
    // An empty value is a value.
    on.put(in_line("ev_7", "")).await;
    on.put(in_line("ev_8", "")).await;
    assert_eq!(on.claimed(T0, 10).await, ["ev_1", "ev_3", "ev_4", "ev_5", "ev_6", "ev_7"]);
}

pub(super) async fn a_waiting_retry_holds_its_line(on: Subject) {
    on.put(in_line("ev_1", "l")).await;
    on.put(NewEvent { priority: 5, ..in_line("ev_2", "l") }).await;
    let run = on.claim_one(T0).await;
    assert_eq!(run.event_id, "ev_1", "order goes before priority within a line");
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    assert_eq!(on.state("ev_1").await, (EventState::Failed, Some("timeout".into())));
    assert_eq!(on.due().await.unwrap().event, Some(T0 + MINUTE));
    assert_eq!(on.claimed(T0 + MINUTE - 1, 5).await, [""; 0]);
    let run = on.claim_one(T0 + MINUTE).await;
    assert_eq!((run.event_id.as_str(), run.attempt), ("ev_1", 2));
    on.end(&run, T0 + MINUTE, done()).await;
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, ["ev_2"]);
}

pub(super) async fn a_due_time_holds_its_line(on: Subject) {
    on.put(NewEvent { due_at: Some(T0 + MINUTE), ..in_line("ev_1", "l") }).await;
    on.put(in_line("ev_2", "l")).await;
    assert_eq!(on.claimed(T0, 5).await, [""; 0]);
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, ["ev_1"]);
}

pub(super) async fn an_older_event_that_comes_back_goes_before_what_is_ready(on: Subject) {
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(in_line(id, "l")).await;
    }
    on.cancel_event("ev_1", "not now", T0).await.unwrap();
    on.retry_event("ev_1").await.unwrap();
    let run = on.claim_one(T0).await;
    assert_eq!(run.event_id, "ev_1");
    on.end(&run, T0, done()).await;
    assert_eq!(on.claimed(T0, 5).await, ["ev_2"]);
}

pub(super) async fn an_older_event_that_comes_back_waits_for_the_one_that_runs(on: Subject) {
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(in_line(id, "l")).await;
    }
    on.cancel_event("ev_1", "not now", T0).await.unwrap();
    let run = on.claim_one(T0).await;
    assert_eq!(run.event_id, "ev_2");
    on.retry_event("ev_1").await.unwrap();
    assert_eq!(on.state("ev_1").await.0, EventState::Queued);
    assert_eq!(on.claimed(T0, 5).await, [""; 0]);
    // A change on the other end of the line lets nobody by.
    on.cancel_event("ev_3", "not at all", T0).await.unwrap();
    on.put(in_line("ev_4", "l")).await;
    assert_eq!(on.claimed(T0, 5).await, [""; 0]);
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    let run = on.claim_one(T0 + MINUTE).await;
    assert_eq!(run.event_id, "ev_1", "the oldest, though the other one is due");
    on.end(&run, T0 + MINUTE, done()).await;
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, ["ev_2"]);
}

pub(super) async fn cancelling_the_head_frees_the_next(on: Subject) {
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(in_line(id, "l")).await;
    }
    on.cancel_event("ev_2", "from the middle", T0).await.unwrap();
    on.cancel_event("ev_1", "the head", T0).await.unwrap();
    let run = on.claim_one(T0).await;
    assert_eq!(run.event_id, "ev_3");
    on.put(in_line("ev_4", "l")).await;
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    on.cancel_event("ev_3", "while it waits for its retry", T0).await.unwrap();
    assert_eq!(on.claimed(T0, 5).await, ["ev_4"]);
}

pub(super) async fn parallel_claims_never_run_two_of_a_line(on: Subject) {
    const LINES: usize = 5;
    for number in 0..50 {
        on.put(in_line(&format!("ev_{number:02}"), &format!("l{}", number % LINES))).await;
    }
    let mut seen: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    loop {
        let mut claims = JoinSet::new();
        for _ in 0..4 {
            let (ledger, offer) = (Arc::clone(&on.ledger), on.offer(T0, 4));
            claims.spawn(async move { ledger.claim_runs(offer).await.unwrap() });
        }
        let runs: Vec<_> = claims.join_all().await.into_iter().flatten().collect();
        if runs.is_empty() {
            break;
        }
        assert_eq!(runs.len(), LINES, "one of each line");
        for run in runs {
            let number: usize = run.event_id["ev_".len()..].parse().unwrap();
            seen.entry(number % LINES).or_default().push(run.event_id.clone());
            on.end(&run, T0, done()).await;
        }
    }
    assert!(seen.values().all(|ids| ids.len() == 10 && ids.is_sorted()), "{seen:?}");
}

pub(super) async fn pausing_stops_a_line_and_resuming_starts_it_in_order(on: Subject) {
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(in_line(id, "l")).await;
    }
    let run = on.claim_one(T0).await;
    assert!(on.pause("r", T0).await.unwrap());
    on.put(in_line("ev_4", "l")).await;
    on.end(&run, T0, done()).await;
    assert_eq!(on.claimed(T0, 5).await, [""; 0]);
    on.cancel_event("ev_2", "while it is held", T0).await.unwrap();
    assert!(on.resume("r").await.unwrap());
    for id in ["ev_3", "ev_4"] {
        let run = on.claim_one(T0).await;
        assert_eq!(run.event_id, id);
        // A pause lets the run go on; a resume lets nobody by.
        on.pause("r", T0).await.unwrap();
        on.resume("r").await.unwrap();
        assert_eq!(on.claimed(T0, 5).await, [""; 0]);
        on.end(&run, T0, done()).await;
    }
}

pub(super) async fn a_paused_line_keeps_its_due_times(on: Subject) {
    on.put(NewEvent { due_at: Some(T0 + MINUTE), ..in_line("ev_1", "l") }).await;
    on.put(in_line("ev_2", "l")).await;
    on.put(NewEvent { due_at: Some(T0 + 2 * MINUTE), ..in_line("ev_3", "m") }).await;
    on.pause("r", T0).await.unwrap();
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, [""; 0], "one time has come while the route is paused");
    on.resume("r").await.unwrap();
    assert_eq!(on.event("ev_3").await.unwrap().due_at, Some(T0 + 2 * MINUTE));
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, ["ev_1"]);
    assert_eq!(on.claimed(T0 + 2 * MINUTE, 5).await, ["ev_3"]);
}
