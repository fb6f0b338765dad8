//! What people do to single events, and what time does to old ones.

use rules::states::EventState;

use super::scene::{
    MINUTE, Subject, T0, again_at, done, duplicate, ended, event, exhausted, interrupted, keyed, message, stored,
};
use crate::{Admission, Error, Ignored, Millis, NewEvent};

/// The text of a conflict about the event.
fn conflict(answer: Result<(), Error>) -> String {
    match answer {
        Err(Error::Conflict(why)) if why.contains("ev_") => why,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn what_waits_can_be_cancelled(on: Subject) {
    let cancel = async |id: &str| on.cancel_event(id, "by hand", T0 + 5).await;
    on.put(event("ev_1", "r")).await;
    on.put(NewEvent { due_at: Some(T0 + MINUTE), ..event("ev_2", "r") }).await;
    on.pause("s", T0).await.unwrap();
    on.put(event("ev_3", "s")).await;
    for id in ["ev_1", "ev_2", "ev_3"] {
        cancel(id).await.unwrap();
        let shown = on.event(id).await.unwrap();
        assert_eq!((shown.state, shown.reason.as_deref()), (EventState::Cancelled, Some("by hand")));
        assert_eq!((shown.finished_at, shown.due_at), (Some(T0 + 5), None));
        assert!(conflict(cancel(id).await).contains("cancelled"));
    }
    on.put(event("ev_4", "r")).await;
    let run = on.claim_one(T0 + 2 * MINUTE).await;
    assert!(conflict(cancel("ev_4").await).contains("running"));
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    cancel("ev_4").await.unwrap();
    on.resume("s").await.unwrap();
    assert_eq!(on.claimed(T0 + 2 * MINUTE, 9).await, [""; 0], "nothing of it runs");
    on.record_ignored(Ignored { event: event("ev_5", "r"), reason: "event".into() }).await.unwrap();
    assert!(conflict(cancel("ev_5").await).contains("ignored"));
    on.answer("ev_6", "x", Vec::new()).await;
    assert!(conflict(cancel("ev_6").await).contains("succeeded"));
    assert_eq!(cancel("ev_none").await.unwrap_err(), Error::NotFound { kind: "event", id: "ev_none".into() });
}

pub(super) async fn what_ended_badly_can_be_retried(on: Subject) {
    on.put(event("ev_1", "r")).await;
    assert!(conflict(on.retry_event("ev_1").await).contains("queued"));
    for (attempt, end) in [(1, again_at(T0 + 9 * MINUTE)), (2, exhausted())] {
        let run = on.claim_one(T0).await;
        assert_eq!(run.attempt, attempt);
        assert!(conflict(on.retry_event("ev_1").await).contains("running"));
        on.end(&run, T0, end).await;
        on.retry_event("ev_1").await.unwrap();
        let shown = on.event("ev_1").await.unwrap();
        assert_eq!(
            (shown.state, shown.reason, shown.due_at, shown.finished_at),
            (EventState::Queued, None, None, None)
        );
    }
    on.cancel_event("ev_1", "no", T0).await.unwrap();
    on.retry_event("ev_1").await.unwrap();
    let run = on.claim_one(T0).await;
    on.end(&run, T0, done()).await;
    assert!(conflict(on.retry_event("ev_1").await).contains("succeeded"));
    on.record_ignored(Ignored { event: event("ev_2", "r"), reason: "event".into() }).await.unwrap();
    assert!(conflict(on.retry_event("ev_2").await).contains("ignored"));
    on.pause("r", T0).await.unwrap();
    on.put(event("ev_3", "r")).await;
    assert!(conflict(on.retry_event("ev_3").await).contains("held"));
    assert_eq!(on.retry_event("ev_none").await.unwrap_err(), Error::NotFound { kind: "event", id: "ev_none".into() });
}

pub(super) async fn a_retry_on_a_paused_route_is_held(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.cancel_event("ev_1", "no", T0).await.unwrap();
    on.pause("r", T0).await.unwrap();
    on.retry_event("ev_1").await.unwrap();
    assert_eq!(on.state("ev_1").await, (EventState::Held, Some("paused".into())));
    assert_eq!(on.claimed(T0, 9).await, [""; 0]);
    on.resume("r").await.unwrap();
    assert_eq!(on.claimed(T0, 9).await, ["ev_1"]);
}

/// An event that was exhausted, and another one that came with its key since.
async fn taken_over(on: &Subject) {
    on.admit(keyed(event("ev_old", "r"), "k")).await.unwrap();
    let run = on.claim_one(T0).await;
    on.end(&run, T0, exhausted()).await;
    assert_eq!(on.admit(keyed(event("ev_new", "r"), "k")).await.unwrap(), stored(EventState::Queued));
}

pub(super) async fn what_another_does_or_has_done_is_not_retried(on: Subject) {
    taken_over(&on).await;
    let before = on.event("ev_old").await.unwrap();
    let refused = async |when: &str| {
        let why = conflict(on.retry_event("ev_old").await);
        assert!(why.starts_with("ev_new has taken its place: same delivery id or dedupe_key"), "{when}: {why}");
        assert_eq!(on.event("ev_old").await.unwrap(), before, "{when}");
        let copy = on.admit(keyed(event("ev_copy", "r"), "k")).await.unwrap();
        assert_eq!(copy, duplicate("ev_new"), "{when}: the key stays where it is");
    };
    refused("queued").await;
    on.pause("r", T0).await.unwrap();
    refused("held").await;
    on.resume("r").await.unwrap();
    let run = on.claim_one(T0).await;
    refused("running").await;
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    refused("waits for its retry").await;
    let run = on.claim_one(T0 + MINUTE).await;
    on.end(&run, T0 + MINUTE, done()).await;
    refused("succeeded").await;
    assert_eq!(on.claimed(T0 + MINUTE, 9).await, [""; 0], "one success under one key");
    // A success that has gone is known no more.
    assert_eq!(on.prune(EventState::Succeeded, T0 + 2 * MINUTE, 9).await.unwrap(), 1);
    on.retry_event("ev_old").await.unwrap();
    assert_eq!(on.claimed(T0 + MINUTE, 9).await, ["ev_old"]);
}

pub(super) async fn a_retry_takes_its_key_back(on: Subject) {
    taken_over(&on).await;
    on.cancel_event("ev_new", "no", T0).await.unwrap();
    on.retry_event("ev_old").await.unwrap();
    assert_eq!(on.admit(keyed(event("ev_3", "r"), "k")).await.unwrap(), duplicate("ev_old"));
    assert!(
        conflict(on.retry_event("ev_new").await).starts_with("ev_old has taken its place"),
        "now it is the other one"
    );
    let run = on.claim_one(T0).await;
    on.end(&run, T0, exhausted()).await;
    on.retry_event("ev_new").await.unwrap();
    assert_eq!(on.admit(keyed(event("ev_4", "r"), "k")).await.unwrap(), duplicate("ev_new"));
    assert!(conflict(on.retry_event("ev_old").await).starts_with("ev_new has taken its place"));
    // Only the one that holds the key takes it along when it goes.
    assert_eq!(on.prune(EventState::Exhausted, T0 + 1, 9).await.unwrap(), 1, "ev_old");
    assert_eq!(on.admit(keyed(event("ev_5", "r"), "k")).await.unwrap(), duplicate("ev_new"));
    let run = on.claim_one(T0).await;
    on.end(&run, T0, exhausted()).await;
    assert_eq!(on.prune(EventState::Exhausted, T0 + 1, 9).await.unwrap(), 1, "ev_new");
    assert_eq!(on.admit(keyed(event("ev_6", "r"), "k")).await.unwrap(), stored(EventState::Queued));
}

pub(super) async fn a_retry_cares_for_its_own_key_only(on: Subject) {
    taken_over(&on).await;
    let ends = [keyed(event("ev_l", "r"), "l"), keyed(event("ev_s", "s"), "k")];
    let no_key = Admission { key: None, ..keyed(event("ev_none", "r"), "k") };
    for admission in ends.into_iter().chain([no_key]) {
        let id = admission.event.id.clone();
        on.admit(admission).await.unwrap();
        on.cancel_event(&id, "no", T0).await.unwrap();
        on.retry_event(&id).await.unwrap();
    }
    let copies = [("r", "k", "ev_new"), ("r", "l", "ev_l"), ("s", "k", "ev_s")];
    for (route, key, holder) in copies {
        assert_eq!(on.admit(keyed(event("ev_copy", route), key)).await.unwrap(), duplicate(holder));
    }
}

/// Puts an event on the route r and lets it end at a time.
async fn ended_at(on: &Subject, id: &str, at: Millis) {
    on.put(event(id, "r")).await;
    let run = on.claim_one(T0).await;
    on.end(&run, at, done()).await;
}

pub(super) async fn pruning_takes_the_longest_ended_first(on: Subject) {
    ended_at(&on, "ev_1", T0 + 3).await;
    ended_at(&on, "ev_2", T0 + 1).await;
    on.put(event("ev_3", "r")).await;
    on.cancel_event("ev_3", "no", T0 + 2).await.unwrap();
    on.record_ignored(Ignored { event: event("ev_4", "r"), reason: "event".into() }).await.unwrap();
    ended_at(&on, "ev_5", T0 + 4).await;
    on.put(event("ev_6", "r")).await;
    let run_id = on.event("ev_2").await.unwrap().runs.remove(0);
    let prune = async |state, limit| on.prune(state, T0 + 4, limit).await.unwrap();
    assert_eq!(prune(EventState::Succeeded, 0).await, 0);
    assert_eq!(prune(EventState::Succeeded, 1).await, 1);
    assert_eq!(on.all_events().await, ["ev_6", "ev_5", "ev_4", "ev_3", "ev_1"]);
    assert_eq!(prune(EventState::Succeeded, 9).await, 1);
    assert_eq!(prune(EventState::Exhausted, 9).await, 0);
    assert_eq!(on.all_events().await, ["ev_6", "ev_5", "ev_4", "ev_3"], "other states stay");
    assert_eq!(prune(EventState::Cancelled, 9).await + prune(EventState::Ignored, 9).await, 2);
    assert_eq!(prune(EventState::Queued, 9).await, 0);
    assert_eq!(on.all_events().await, ["ev_6", "ev_5"], "what has not ended, or not long ago, stays");
    assert!(on.run(&run_id).await.is_err() && on.request("ev_2").await.is_err());
    let status = on.status().await.unwrap();
    assert_eq!(status.events.into_iter().collect::<Vec<_>>(), [(EventState::Queued, 1), (EventState::Succeeded, 1)]);
    // A retried event has not ended any more.
    on.cancel_event("ev_6", "no", T0).await.unwrap();
    on.retry_event("ev_6").await.unwrap();
    assert_eq!(on.prune(EventState::Cancelled, T0 + 9, 9).await.unwrap(), 0);
    assert_eq!(on.prune(EventState::Succeeded, T0 + 9, 9).await.unwrap(), 1);
    assert_eq!(on.all_events().await, ["ev_6"]);
}

pub(super) async fn pruning_spares_what_is_still_to_be_sent(on: Subject) {
    use rules::states::DeliveryState::{Delivered, Exhausted, Failed, Unknown};
    on.answer("ev_1", "x", vec![message("dlv_1"), message("dlv_2")]).await;
    let prune = async || on.prune(EventState::Succeeded, T0 + 1, 9).await.unwrap();
    assert_eq!(prune().await, 0, "pending");
    let taken = on.take(T0, 9).await;
    assert_eq!(prune().await, 0, "on their way");
    assert!(on.finish_delivery(ended(&taken[0], on.boot, Delivered)).await.unwrap());
    assert!(on.finish_delivery(ended(&taken[1], on.boot, Failed)).await.unwrap());
    assert_eq!(prune().await, 0, "one will be tried again");
    for end in [Unknown, Exhausted] {
        on.retry_delivery("dlv_2", T0).await.unwrap();
        let taken = on.take(T0, 9).await;
        assert!(on.finish_delivery(ended(&taken[0], on.boot, end)).await.unwrap());
    }
    assert_eq!(prune().await, 1);
    assert!(on.delivery("dlv_1").await.is_err() && on.delivery("dlv_2").await.is_err());
    assert_eq!(on.status().await.unwrap().deliveries.len(), 0);
}

pub(super) async fn pruning_lets_go_of_keys_but_not_of_newer_ones(on: Subject) {
    on.admit(keyed(event("ev_1", "r"), "k")).await.unwrap();
    on.admit(keyed(event("ev_2", "r"), "l")).await.unwrap();
    for run in on.claim(T0, 9).await {
        on.end(&run, T0, exhausted()).await;
    }
    assert_eq!(on.admit(keyed(event("ev_3", "r"), "k")).await.unwrap(), stored(EventState::Queued));
    assert_eq!(on.prune(EventState::Exhausted, T0 + 1, 9).await.unwrap(), 2);
    assert_eq!(on.admit(keyed(event("ev_4", "r"), "k")).await.unwrap(), duplicate("ev_3"), "the newer one's");
    assert_eq!(on.admit(keyed(event("ev_5", "r"), "l")).await.unwrap(), stored(EventState::Queued), "free");
    let run = on.claim(T0, 1).await.remove(0);
    on.end(&run, T0, interrupted()).await;
    assert_eq!(on.prune(EventState::Exhausted, T0 + 1, 9).await.unwrap(), 0);
}
