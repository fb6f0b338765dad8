//! Listings: filters and pages.

use rules::states::{DeliveryState, EventState, RunState};

use super::scene::{MINUTE, SECOND, Subject, T0, again_at, done, ended, event, exhausted, message};
use crate::api::views::LISTED_TEXT;
use crate::{DeliveryQuery, Error, EventQuery, FinishRun, Ignored, NewEvent, RunQuery};

fn ids(mut events: Vec<crate::Event>) -> Vec<String> {
    events.drain(..).map(|e| e.id).collect()
}

pub(super) async fn pages_are_stable_while_events_come(on: Subject) {
    for number in 1..=5 {
        on.put(event(&format!("ev_{number}"), "r")).await;
    }
    let query = EventQuery { limit: 2, ..EventQuery::default() };
    let first = on.events(query.clone()).await.unwrap();
    assert_eq!(ids(first.items), ["ev_5", "ev_4"]);
    on.put(event("ev_6", "r")).await;
    on.cancel_event("ev_4", "no", T0).await.unwrap();
    assert_eq!(on.prune(EventState::Cancelled, T0 + 1, 9).await.unwrap(), 1, "the row of the cursor goes");
    let second = on.events(EventQuery { cursor: first.next, ..query.clone() }).await.unwrap();
    assert_eq!(ids(second.items), ["ev_3", "ev_2"]);
    let third = on.events(EventQuery { cursor: second.next, ..query.clone() }).await.unwrap();
    assert_eq!((ids(third.items), third.next), (vec!["ev_1".to_owned()], None));
    let whole = on.events(EventQuery { limit: 5, ..query }).await.unwrap();
    assert_eq!((whole.items.len(), whole.next), (5, None), "a page that is just full is the last one");
}

pub(super) async fn events_are_filtered(on: Subject) {
    for number in 1..=12 {
        let route = ["r", "s"][number % 2];
        let delivery_id = format!("d{}", number % 3);
        on.put(NewEvent { delivery_id, ..event(&format!("ev_{number:02}"), route) }).await;
    }
    for (number, run) in on.claim(T0, 6).await.iter().enumerate() {
        match number {
            0 | 3 => on.end(run, T0, done()).await,
            1 => on.end(run, T0, again_at(T0 + MINUTE)).await,
            _ => {}
        }
    }
    on.record_ignored(Ignored { event: event("ev_13", "r"), reason: "event".into() }).await.unwrap();
    let everything = on.events(EventQuery { limit: 99, ..EventQuery::default() }).await.unwrap().items;
    let routes = [None, Some("r"), Some("s"), Some("none")];
    let states: Vec<_> = EventState::ALL.iter().copied().map(Some).chain([None]).collect();
    for route in routes.map(|r| r.map(str::to_owned)) {
        for state in states.iter().copied() {
            for delivery_id in [None, Some("d0"), Some("d2"), Some("none")].map(|d| d.map(str::to_owned)) {
                let mut query = EventQuery {
                    route: route.clone(),
                    state,
                    delivery_id: delivery_id.clone(),
                    limit: 2,
                    ..EventQuery::default()
                };
                let fits = |e: &&crate::Event| {
                    route.as_ref().is_none_or(|r| *r == e.route)
                        && state.is_none_or(|s| s == e.state)
                        && delivery_id.as_ref().is_none_or(|d| *d == e.delivery_id)
                };
                let expected: Vec<_> = everything.iter().filter(fits).cloned().collect();
                let mut found = Vec::new();
                loop {
                    let page = on.events(query.clone()).await.unwrap();
                    found.extend(page.items);
                    let Some(next) = page.next else { break };
                    query.cursor = Some(next);
                }
                assert_eq!(found, expected, "{query:?}");
            }
        }
    }
}

pub(super) async fn since_is_exact_in_spite_of_some_disorder(on: Subject) {
    let minutes = [0, 1, 2, 2, 3, 4, 5, 6];
    for (number, minute) in minutes.into_iter().enumerate() {
        // Every third request took half a minute to arrive.
        let slow = if number % 3 == 2 { 30 * SECOND } else { 0 };
        let received_at = T0 + minute * MINUTE - slow;
        on.put(NewEvent { received_at, ..event(&format!("ev_{number}"), ["r", "s"][number % 2]) }).await;
    }
    let everything = on.events(EventQuery { limit: 99, ..EventQuery::default() }).await.unwrap().items;
    for half_minute in -1..14 {
        let since = T0 + half_minute * 30 * SECOND;
        for route in [None, Some("r".to_owned())] {
            let query = EventQuery { since: Some(since), route: route.clone(), limit: 99, ..EventQuery::default() };
            let found = on.events(query).await.unwrap().items;
            let fits = |e: &&crate::Event| e.received_at >= since && route.as_ref().is_none_or(|r| *r == e.route);
            assert_eq!(found, everything.iter().filter(fits).cloned().collect::<Vec<_>>(), "{half_minute}");
        }
    }
    let query = EventQuery {
        since: Some(T0 + 2 * MINUTE),
        delivery_id: Some("d-ev_3".into()),
        state: Some(EventState::Queued),
        limit: 9,
        ..EventQuery::default()
    };
    assert_eq!(ids(on.events(query.clone()).await.unwrap().items), ["ev_3"]);
    let later = EventQuery { since: Some(T0 + 3 * MINUTE), ..query };
    assert_eq!(ids(on.events(later).await.unwrap().items), [""; 0]);
    let far = EventQuery { since: Some(i64::MIN), limit: 99, ..EventQuery::default() };
    assert_eq!(on.events(far).await.unwrap().items.len(), 8);
}

pub(super) async fn runs_are_filtered(on: Subject) {
    for number in 1..=6 {
        on.put(event(&format!("ev_{number}"), ["r", "s"][number % 2])).await;
    }
    for run in on.claim(T0, 4).await {
        on.end(&run, T0, again_at(T0)).await;
    }
    let again = on.claim(T0, 3).await;
    on.end(&again[0], T0, done()).await;
    let list = async |query: RunQuery| -> Vec<crate::Run> { on.runs(query).await.unwrap().items };
    let all = RunQuery { limit: 99, ..RunQuery::default() };
    let everything = list(all.clone()).await;
    assert_eq!(everything.len(), 7);
    for event_id in [None, Some("ev_1"), Some("ev_6"), Some("none")].map(|e| e.map(str::to_owned)) {
        for route in [None, Some("r"), Some("none")].map(|r| r.map(str::to_owned)) {
            for state in RunState::ALL.iter().copied().map(Some).chain([None]) {
                let fits = |r: &&crate::Run| {
                    event_id.as_ref().is_none_or(|e| *e == r.event_id)
                        && route.as_ref().is_none_or(|x| *x == r.route)
                        && state.is_none_or(|s| s == r.state)
                };
                let query = RunQuery { event_id: event_id.clone(), route: route.clone(), state, ..all.clone() };
                assert_eq!(list(query).await, everything.iter().filter(fits).cloned().collect::<Vec<_>>());
            }
        }
    }
    let mut one_by_one = Vec::new();
    let mut query = RunQuery { limit: 1, ..RunQuery::default() };
    loop {
        let page = on.runs(query.clone()).await.unwrap();
        one_by_one.extend(page.items);
        let Some(next) = page.next else { break };
        query.cursor = Some(next);
    }
    assert_eq!(one_by_one, everything);
}

pub(super) async fn deliveries_are_filtered(on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1"), message("dlv_2"), message("dlv_3")]).await;
    on.answer("ev_2", "y", vec![message("dlv_4")]).await;
    let taken = on.take(T0, 3).await;
    assert!(on.finish_delivery(ended(&taken[0], on.boot, DeliveryState::Delivered)).await.unwrap());
    let list = async |event_id: Option<&str>, state| -> Vec<String> {
        let mut query = DeliveryQuery { event_id: event_id.map(str::to_owned), state, limit: 2, cursor: None };
        let mut found = Vec::new();
        loop {
            let page = on.deliveries(query.clone()).await.unwrap();
            found.extend(page.items.into_iter().map(|d| d.id));
            let Some(next) = page.next else { return found };
            query.cursor = Some(next);
        }
    };
    assert_eq!(list(None, None).await, ["dlv_4", "dlv_3", "dlv_2", "dlv_1"]);
    assert_eq!(list(Some("ev_1"), None).await, ["dlv_3", "dlv_2", "dlv_1"]);
    assert_eq!(list(Some("ev_1"), Some(DeliveryState::Sending)).await, ["dlv_3", "dlv_2"]);
    assert_eq!(list(None, Some(DeliveryState::Pending)).await, ["dlv_4"]);
    assert_eq!(list(None, Some(DeliveryState::Unknown)).await, [""; 0]);
    assert_eq!(list(Some("none"), None).await, [""; 0]);
}

pub(super) async fn unknown_cursors_are_refused(on: Subject) {
    on.put(event("ev_1", "r")).await;
    for cursor in ["", "1", "b", "b-1", "bx", "ev_1", "b1 ", "\u{1f600}"].map(|c| Some(c.to_owned())) {
        let events = on.events(EventQuery { cursor: cursor.clone(), ..EventQuery::default() }).await;
        assert_eq!(events.unwrap_err(), Error::BadCursor, "{cursor:?}");
        let runs = on.runs(RunQuery { cursor: cursor.clone(), ..RunQuery::default() }).await;
        assert_eq!(runs.unwrap_err(), Error::BadCursor, "{cursor:?}");
        let deliveries = on.deliveries(DeliveryQuery { cursor: cursor.clone(), ..DeliveryQuery::default() }).await;
        assert_eq!(deliveries.unwrap_err(), Error::BadCursor, "{cursor:?}");
    }
}

pub(super) async fn limits_have_ends(on: Subject) {
    for number in 0..1003 {
        on.put(event(&format!("ev_{number}"), "r")).await;
    }
    let count = async |limit| {
        let page = on.events(EventQuery { limit, ..EventQuery::default() }).await.unwrap();
        (page.items.len(), page.next.is_some())
    };
    assert_eq!(count(0).await, (1, true));
    assert_eq!(count(1000).await, (1000, true));
    assert_eq!(count(u32::MAX).await, (1000, true));
}

pub(super) async fn long_texts_are_cut_in_listings_only(on: Subject) {
    // Two bytes a character, so that the cut falls into one.
    let text = format!("a{}", "\u{e9}".repeat(LISTED_TEXT));
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    assert!(on.record_prompt(&run.run_id, on.boot, &text).await.unwrap());
    let mut finish = FinishRun { deliveries: vec![message("dlv_1")], ..on.finish(&run, T0, exhausted()) };
    finish.record.answer = Some(text.clone());
    finish.record.stderr.clone_from(&text);
    on.finish_run(finish).await.unwrap();
    let cut = format!("a{}\u{2026}", "\u{e9}".repeat((LISTED_TEXT - 1) / 2));
    let listed = on.runs(RunQuery { limit: 1, ..RunQuery::default() }).await.unwrap().items.remove(0);
    assert_eq!(
        [listed.prompt, listed.answer, listed.stderr],
        [Some(cut.clone()), Some(cut.clone()), Some(cut.clone())]
    );
    let whole = on.run(&run.run_id).await.unwrap();
    assert_eq!(
        [whole.prompt, whole.answer, whole.stderr],
        [Some(text.clone()), Some(text.clone()), Some(text.clone())]
    );
    let listed = on.deliveries(DeliveryQuery { limit: 1, ..DeliveryQuery::default() }).await.unwrap().items.remove(0);
    assert_eq!(listed.content, Some(cut));
    assert_eq!(on.delivery("dlv_1").await.unwrap().content, Some(text));
}

pub(super) async fn unknown_ids_are_named(on: Subject) {
    let missing = |kind| Error::NotFound { kind, id: "x".into() };
    assert_eq!(on.event("x").await.unwrap_err(), missing("event"));
    assert_eq!(on.request("x").await.unwrap_err(), missing("event"));
    assert_eq!(on.run("x").await.unwrap_err(), missing("run"));
    assert_eq!(on.delivery("x").await.unwrap_err(), missing("delivery"));
}

pub(super) async fn the_counters_are_those_of_the_listing(on: Subject) {
    assert_eq!(on.status().await.unwrap(), crate::Status::default(), "nothing yet");
    on.answer("ev_1", "x", vec![message("dlv_1"), message("dlv_2")]).await;
    on.take(T0, 1).await;
    on.pause("t", T0).await.unwrap();
    for (number, route) in ["r", "r", "s", "t"].into_iter().enumerate() {
        on.put(NewEvent { received_at: T0 + 1, ..event(&format!("ev_w{number}"), route) }).await;
    }
    let run = on.claim(T0, 1).await.remove(0);
    let status = on.status().await.unwrap();
    let events: Vec<_> = status.events.into_iter().collect();
    assert_eq!(
        events,
        [(EventState::Held, 1), (EventState::Queued, 2), (EventState::Running, 1), (EventState::Succeeded, 1)]
    );
    let deliveries: Vec<_> = status.deliveries.into_iter().collect();
    assert_eq!(deliveries, [(DeliveryState::Pending, 1), (DeliveryState::Sending, 1)]);
    assert_eq!((status.running, status.paused), (1, vec!["t".to_owned()]));
    assert_eq!(status.oldest_waiting, Some(T0 + 1));
    on.end(&run, T0, done()).await;
    assert_eq!(on.status().await.unwrap().running, 0);
}

pub(super) async fn what_waits_for_a_time_is_not_the_oldest_that_waits(on: Subject) {
    let came = |id: &str, after: i64| NewEvent { received_at: T0 + after, ..event(id, "r") };
    let oldest = async || on.status().await.unwrap().oldest_waiting;
    on.put(NewEvent { due_at: Some(T0 + MINUTE), ..came("ev_1", 1) }).await;
    assert_eq!(oldest().await, None, "it could not run yet");
    on.put(came("ev_2", 2)).await;
    on.put(came("ev_3", 3)).await;
    assert_eq!(oldest().await, Some(T0 + 2));
    assert_eq!(on.claimed(T0, 1).await, ["ev_2"]);
    assert_eq!(oldest().await, Some(T0 + 3));
    assert_eq!(on.claimed(T0 + MINUTE, 0).await, [""; 0]);
    assert_eq!(oldest().await, Some(T0 + 1), "its time has come");
}
