//! Entering: keys, rates, what is held and what is ignored.

use std::sync::Arc;
use std::time::Duration;

use rules::states::EventState;
use tokio::task::JoinSet;

use super::scene::{HOUR, MINUTE, SECOND, Subject, T0, again_at, done, duplicate, event, exhausted, keyed, stored};
use crate::api::admit::IGNORED_KEPT;
use crate::{Admission, Admitted, EventQuery, Ignored, Millis, NewEvent, StoredRequest};

fn received(id: &str, at: Millis) -> NewEvent {
    NewEvent { received_at: at, ..event(id, "r") }
}

pub(super) async fn an_unfinished_event_makes_a_duplicate(on: Subject) {
    let late = T0 + 100 * 24 * 60 * MINUTE;
    assert_eq!(on.admit(keyed(event("ev_1", "r"), "k")).await.unwrap(), stored(EventState::Queued));
    assert_eq!(on.admit(keyed(received("ev_2", late), "k")).await.unwrap(), duplicate("ev_1"), "queued");
    let run = on.claim_one(T0).await;
    assert_eq!(on.admit(keyed(received("ev_3", late), "k")).await.unwrap(), duplicate("ev_1"), "running");
    on.end(&run, T0, again_at(late + MINUTE)).await;
    assert_eq!(on.admit(keyed(received("ev_4", late), "k")).await.unwrap(), duplicate("ev_1"), "waits for its retry");
    on.retry_event("ev_1").await.unwrap();
    on.pause("r", T0).await.unwrap();
    assert_eq!(on.admit(keyed(received("ev_5", late), "k")).await.unwrap(), duplicate("ev_1"), "held");
    assert_eq!(on.all_events().await, ["ev_1"]);
}

pub(super) async fn parallel_copies_make_one_event(on: Subject) {
    let mut copies = JoinSet::new();
    for number in 0..60 {
        let ledger = Arc::clone(&on.ledger);
        copies.spawn(async move {
            let admitted = ledger.admit(keyed(event(&format!("ev_{number}"), "r"), "k")).await.unwrap();
            (number, admitted)
        });
    }
    let answers = copies.join_all().await;
    let first: Vec<_> = answers.iter().filter(|(_, a)| *a == stored(EventState::Queued)).map(|(n, _)| *n).collect();
    let [first] = first[..] else { panic!("{answers:?}") };
    let id = format!("ev_{first}");
    assert!(answers.iter().all(|(number, a)| *number == first || *a == duplicate(&id)), "{answers:?}");
    assert_eq!(on.all_events().await, [id]);
}

pub(super) async fn a_success_makes_a_duplicate_for_its_window(on: Subject) {
    let hour = Millis::try_from(HOUR.as_millis()).unwrap();
    let end = T0 + 5 * MINUTE;
    on.admit(keyed(event("ev_1", "r"), "k")).await.unwrap();
    let run = on.claim_one(T0).await;
    on.end(&run, end, done()).await;
    assert_eq!(on.admit(keyed(received("ev_2", end + hour - 1), "k")).await.unwrap(), duplicate("ev_1"));
    assert_eq!(on.admit(keyed(received("ev_3", end + hour), "k")).await.unwrap(), stored(EventState::Queued));
    // The key is the newer event's now.
    assert_eq!(on.admit(keyed(received("ev_4", end + hour), "k")).await.unwrap(), duplicate("ev_3"));
}

pub(super) async fn what_was_exhausted_is_new_work(on: Subject) {
    on.admit(keyed(event("ev_1", "r"), "k")).await.unwrap();
    let run = on.claim_one(T0).await;
    on.end(&run, T0, exhausted()).await;
    assert_eq!(on.admit(keyed(event("ev_2", "r"), "k")).await.unwrap(), stored(EventState::Queued));
    assert_eq!(on.admit(keyed(event("ev_3", "r"), "k")).await.unwrap(), duplicate("ev_2"));
}

pub(super) async fn what_was_cancelled_makes_a_duplicate(on: Subject) {
    on.admit(keyed(event("ev_1", "r"), "k")).await.unwrap();
    on.cancel_event("ev_1", "not wanted", T0 + MINUTE).await.unwrap();
    assert_eq!(on.admit(keyed(received("ev_2", T0 + 2 * MINUTE), "k")).await.unwrap(), duplicate("ev_1"));
}

pub(super) async fn keys_are_those_of_a_route(on: Subject) {
    on.admit(keyed(event("ev_1", "r"), "k")).await.unwrap();
    assert_eq!(on.admit(keyed(event("ev_2", "s"), "k")).await.unwrap(), stored(EventState::Queued));
    assert_eq!(on.admit(keyed(event("ev_3", "r"), "other")).await.unwrap(), stored(EventState::Queued));
    // Without a key nothing is a duplicate, not even the same delivery id.
    let twin = NewEvent { delivery_id: "d-ev_1".into(), ..event("ev_4", "r") };
    assert_eq!(on.put(twin).await, EventState::Queued);
}

fn limited(id: &str, route: &str, at: Millis) -> Admission {
    let event = NewEvent { received_at: at, ..event(id, route) };
    Admission { event, key: None, rate_per_minute: 2 }
}

pub(super) async fn the_rate_limit_tells_when_to_come_again(on: Subject) {
    let wait = |seconds| Admitted::Limited { retry_after: Duration::from_secs(seconds) };
    for id in ["ev_1", "ev_2"] {
        assert_eq!(on.admit(limited(id, "r", T0)).await.unwrap(), stored(EventState::Queued));
    }
    assert_eq!(on.admit(limited("ev_3", "r", T0 + 10 * SECOND)).await.unwrap(), wait(50));
    assert_eq!(on.admit(limited("ev_3", "r", T0 + MINUTE - 1)).await.unwrap(), wait(1), "at least a second");
    assert_eq!(on.admit(limited("ev_3", "s", T0)).await.unwrap(), stored(EventState::Queued), "each route has its own");
    assert_eq!(on.admit(limited("ev_4", "r", T0 + MINUTE)).await.unwrap(), stored(EventState::Queued), "a new minute");
    let unlimited = Admission { rate_per_minute: 0, ..limited("ev_5", "r", T0 + MINUTE) };
    assert_eq!(on.admit(unlimited).await.unwrap(), stored(EventState::Queued));
    assert_eq!(
        on.admit(limited("ev_6", "r", T0 + MINUTE)).await.unwrap(),
        stored(EventState::Queued),
        "0 counts nothing"
    );
    assert_eq!(on.admit(limited("ev_7", "r", T0 + MINUTE)).await.unwrap(), wait(60));
    assert_eq!(on.admit(limited("ev_7", "r", T0)).await.unwrap(), stored(EventState::Queued), "the clock went back");
    assert_eq!(on.all_events().await.len(), 7);
}

pub(super) async fn only_what_is_admitted_spends_a_token(on: Subject) {
    let copy = |id| Admission { rate_per_minute: 2, ..keyed(event(id, "r"), "k") };
    assert_eq!(on.admit(copy("ev_1")).await.unwrap(), stored(EventState::Queued));
    for _ in 0..5 {
        assert_eq!(on.admit(copy("ev_2")).await.unwrap(), duplicate("ev_1"));
    }
    on.record_ignored(Ignored { event: event("ev_3", "r"), reason: "event".into() }).await.unwrap();
    on.admit(limited("ev_1", "r", T0)).await.unwrap_err();
    assert_eq!(on.admit(limited("ev_4", "r", T0)).await.unwrap(), stored(EventState::Queued));
    // A duplicate is told so, however busy the route.
    assert_eq!(on.admit(copy("ev_5")).await.unwrap(), duplicate("ev_1"));
    for _ in 0..5 {
        assert!(matches!(on.admit(limited("ev_6", "r", T0)).await.unwrap(), Admitted::Limited { .. }));
    }
    // What was turned away did not take its key either.
    let turned_away = Admission { rate_per_minute: 2, ..keyed(event("ev_7", "r"), "new") };
    assert!(matches!(on.admit(turned_away).await.unwrap(), Admitted::Limited { .. }));
    assert_eq!(on.admit(keyed(event("ev_8", "r"), "new")).await.unwrap(), stored(EventState::Queued));
}

pub(super) async fn a_paused_route_holds_what_comes(on: Subject) {
    on.pause("r", T0).await.unwrap();
    let admission = Admission { rate_per_minute: 1, ..keyed(event("ev_1", "r"), "k") };
    assert_eq!(on.admit(admission).await.unwrap(), stored(EventState::Held));
    assert_eq!(on.state("ev_1").await, (EventState::Held, Some("paused".into())));
    assert_eq!(on.admit(keyed(event("ev_2", "r"), "k")).await.unwrap(), duplicate("ev_1"));
    assert!(matches!(on.admit(limited("ev_3", "r", T0)).await.unwrap(), Admitted::Stored { .. }));
    assert!(matches!(on.admit(limited("ev_4", "r", T0)).await.unwrap(), Admitted::Limited { .. }), "it spent a token");
    assert_eq!(on.put(event("ev_5", "s")).await, EventState::Queued);
    assert_eq!(on.claimed(T0, 5).await, ["ev_5"]);
}

pub(super) async fn ignored_events_occupy_no_key(on: Subject) {
    let ignored = Ignored { event: NewEvent { due_at: Some(T0), ..event("ev_1", "r") }, reason: "filter".into() };
    on.record_ignored(ignored).await.unwrap();
    let shown = on.event("ev_1").await.unwrap();
    assert_eq!((shown.state, shown.reason.as_deref()), (EventState::Ignored, Some("filter")));
    assert_eq!((shown.finished_at, shown.due_at), (Some(T0), None));
    assert_eq!(on.request("ev_1").await.unwrap().body, b"ev_1");
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, [""; 0], "it never runs");
    let again = NewEvent { delivery_id: "d-ev_1".into(), ..event("ev_2", "r") };
    assert_eq!(on.admit(keyed(again, "id:d-ev_1")).await.unwrap(), stored(EventState::Queued));
}

pub(super) async fn ignored_events_are_capped(on: Subject) {
    on.put(event("ev_kept", "r")).await;
    on.record_ignored(Ignored { event: event("ev_other", "s"), reason: "event".into() }).await.unwrap();
    let mut ignored = JoinSet::new();
    for part in 0..50 {
        let ledger = Arc::clone(&on.ledger);
        ignored.spawn(async move {
            for number in 0..IGNORED_KEPT / 50 {
                let event = event(&format!("ev_{part}_{number}"), "r");
                ledger.record_ignored(Ignored { event, reason: "event".into() }).await.unwrap();
            }
        });
    }
    ignored.join_all().await;
    let count = async || on.status().await.unwrap().events[&EventState::Ignored];
    assert_eq!(count().await, IGNORED_KEPT + 1);
    let oldest = oldest_ignored(&on).await;
    for id in ["ev_a", "ev_b"] {
        on.record_ignored(Ignored { event: event(id, "r"), reason: "event".into() }).await.unwrap();
    }
    assert_eq!(count().await, IGNORED_KEPT + 1, "the oldest went");
    assert!(on.event(&oldest).await.is_err() && on.request(&oldest).await.is_err());
    for kept in ["ev_kept", "ev_other", "ev_a", "ev_b"] {
        on.event(kept).await.unwrap();
    }
}

/// The ignored event of the route r that came first.
async fn oldest_ignored(on: &Subject) -> String {
    let mut query =
        EventQuery { route: Some("r".into()), state: Some(EventState::Ignored), limit: 1000, ..EventQuery::default() };
    loop {
        let page = on.events(query.clone()).await.unwrap();
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => return page.items.last().unwrap().id.clone(),
        }
    }
}

pub(super) async fn a_request_comes_back_as_it_was(mut on: Subject) {
    let headers = vec![
        ("x-b".to_owned(), "2".to_owned()),
        ("x-a".to_owned(), "\u{e9} \u{1f600}".to_owned()),
        ("x-b".to_owned(), String::new()),
    ];
    let noise: Vec<u8> = (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let bodies = [Vec::new(), b"{\"a\": 1.0}".to_vec(), vec![b'x'; 100_000], noise, vec![0xff, 0, 0xfe]];
    for (number, body) in bodies.iter().enumerate() {
        let request = StoredRequest { headers: headers.clone(), body: body.clone() };
        on.put(NewEvent { request, ..event(&format!("ev_{number}"), "r") }).await;
    }
    on.reopen().await;
    for (number, body) in bodies.into_iter().enumerate() {
        let request = on.request(&format!("ev_{number}")).await.unwrap();
        assert_eq!(request, StoredRequest { headers: headers.clone(), body });
    }
}

pub(super) async fn a_taken_id_leaves_nothing(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.admit(keyed(NewEvent { priority: 9, ..event("ev_1", "s") }, "k")).await.unwrap_err();
    let shown = on.event("ev_1").await.unwrap();
    assert_eq!(shown.route, "r");
    assert_eq!(on.all_events().await, ["ev_1"]);
    assert_eq!(on.admit(keyed(event("ev_2", "s"), "k")).await.unwrap(), stored(EventState::Queued), "the key is free");
}
