//! Routes that are paused, and routes that come and go.

use rules::states::EventState;

use super::scene::{MINUTE, Subject, T0, again_at, event};
use crate::NewEvent;

fn held(reason: &str) -> (EventState, Option<String>) {
    (EventState::Held, Some(reason.to_owned()))
}

const QUEUED: (EventState, Option<String>) = (EventState::Queued, None);

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

pub(super) async fn pausing_holds_and_resuming_frees(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.put(event("ev_2", "s")).await;
    assert!(on.pause("r", T0).await.unwrap());
    assert!(!on.pause("r", T0 + 1).await.unwrap(), "it was paused already");
    assert_eq!(on.status().await.unwrap().paused, ["r"]);
    assert_eq!((on.state("ev_1").await, on.state("ev_2").await), (held("paused"), QUEUED));
    assert_eq!(on.claimed(T0, 9).await, ["ev_2"]);
    assert!(on.resume("r").await.unwrap());
    assert!(!on.resume("r").await.unwrap(), "it was not paused");
    assert_eq!(on.status().await.unwrap().paused, [""; 0]);
    assert_eq!(on.state("ev_1").await, QUEUED);
    assert_eq!(on.claimed(T0, 9).await, ["ev_1"]);
    // A route can be paused before anything comes, and by any name.
    assert!(on.pause("quiet \u{1f515}", T0).await.unwrap());
    assert_eq!(on.put(event("ev_3", "quiet \u{1f515}")).await, EventState::Held);
}

pub(super) async fn a_route_that_has_gone_holds_its_events(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.put(event("ev_2", "s")).await;
    on.reconcile_routes(&names(&["s", "t"])).await.unwrap();
    assert_eq!((on.state("ev_1").await, on.state("ev_2").await), (held("route_missing"), QUEUED));
    assert_eq!(on.put(event("ev_3", "r")).await, EventState::Held, "a request that was under way meanwhile");
    assert_eq!(on.claimed(T0, 9).await, ["ev_2"]);
    on.cancel_event("ev_3", "no", T0).await.unwrap();
    on.retry_event("ev_3").await.unwrap();
    assert_eq!(on.state("ev_3").await, held("route_missing"));
    on.reconcile_routes(&names(&["s", "t"])).await.unwrap();
    assert_eq!(on.claimed(T0, 9).await, [""; 0]);
    on.reconcile_routes(&names(&["r"])).await.unwrap();
    assert_eq!((on.state("ev_1").await, on.state("ev_3").await), (QUEUED, QUEUED));
    assert_eq!(on.claimed(T0, 9).await, ["ev_1", "ev_3"]);
}

pub(super) async fn a_retry_that_waits_keeps_its_time_while_its_route_is_gone(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    on.put(NewEvent { due_at: Some(T0 + 2 * MINUTE), ..event("ev_2", "r") }).await;
    on.put(NewEvent { due_at: Some(T0 + 3 * MINUTE), ..event("ev_3", "r") }).await;
    on.reconcile_routes(&[]).await.unwrap();
    for id in ["ev_1", "ev_2", "ev_3"] {
        assert_eq!(on.state(id).await, held("route_missing"), "{id}");
    }
    assert_eq!(on.claimed(T0 + 2 * MINUTE, 9).await, [""; 0], "two are due and still held");
    on.reconcile_routes(&names(&["r"])).await.unwrap();
    assert_eq!(on.claimed(T0 + 2 * MINUTE, 9).await, ["ev_1", "ev_2"]);
    assert_eq!(on.claimed(T0 + 3 * MINUTE, 9).await, ["ev_3"]);
}

pub(super) async fn a_paused_route_that_has_gone_stays_held_until_both_are_over(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.pause("r", T0).await.unwrap();
    on.reconcile_routes(&[]).await.unwrap();
    assert_eq!(on.state("ev_1").await, held("route_missing"));
    on.reconcile_routes(&names(&["r"])).await.unwrap();
    assert_eq!(on.state("ev_1").await, held("paused"));
    on.reconcile_routes(&[]).await.unwrap();
    assert!(on.resume("r").await.unwrap());
    assert_eq!(on.state("ev_1").await, held("route_missing"));
    on.reconcile_routes(&names(&["r"])).await.unwrap();
    assert_eq!(on.claimed(T0, 9).await, ["ev_1"]);
}

pub(super) async fn before_the_routes_are_told_none_is_missing(on: Subject) {
    assert_eq!(on.put(event("ev_1", "r")).await, EventState::Queued);
    on.reconcile_routes(&[]).await.unwrap();
    assert_eq!(on.state("ev_1").await, held("route_missing"), "to have none is told, too");
}
