//! How runs end.

use rules::run_end::{Next, Standing};
use rules::states::{DeliveryState, EventState, RunState};
use serde_json::json;

use super::scene::{MINUTE, Subject, T0, again_at, done, event, exhausted, interrupted, message};
use crate::{Error, FinishRun, Finished, NewDelivery, NewEvent, RunRecord};

pub(super) async fn a_success_creates_its_deliveries_in_the_same_step(on: Subject) {
    let silent = NewDelivery { state: DeliveryState::Suppressed, ..message("dlv_2") };
    let unusable =
        NewDelivery { state: DeliveryState::Exhausted, error: Some("no chat_id".into()), ..message("dlv_3") };
    on.answer("ev_1", "hello", vec![message("dlv_1"), silent, unusable]).await;
    let event = on.event("ev_1").await.unwrap();
    assert_eq!((event.state, event.finished_at), (EventState::Succeeded, Some(T0)));
    assert_eq!(event.deliveries, ["dlv_1", "dlv_2", "dlv_3"]);
    let first = on.delivery("dlv_1").await.unwrap();
    assert_eq!((first.state, first.attempts, first.due_at), (DeliveryState::Pending, 0, Some(T0)));
    assert_eq!((first.event_id.as_str(), first.route.as_str()), ("ev_1", "r"));
    assert_eq!(first.run_id.as_ref(), event.runs.first());
    assert_eq!(first.content.as_deref(), Some("hello"));
    assert_eq!(on.delivery("dlv_2").await.unwrap().state, DeliveryState::Suppressed);
    let third = on.delivery("dlv_3").await.unwrap();
    assert_eq!((third.state, third.error.as_deref()), (DeliveryState::Exhausted, Some("no chat_id")));
    assert_eq!(on.due().await.unwrap().delivery, Some(T0));
}

pub(super) async fn the_record_shows_what_happened(mut on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    let record = RunRecord {
        exit_code: Some(3),
        error: Some("exit 3".into()),
        answer: Some("half an answer".into()),
        stderr: "w\u{f6}rds".repeat(2000),
        session_id: Some("s-1".into()),
        cost_usd: Some(serde_json::from_str("0.10000000000000000001").unwrap()),
        usage: Some(json!({"z": 1, "a": {"deep": [1.50, null]}})),
    };
    let next = Next { reason: Some("exit 3".into()), ..again_at(T0 + MINUTE) };
    let finish = FinishRun { record: record.clone(), ..on.finish(&run, T0 + 7, next) };
    assert_eq!(on.finish_run(finish).await.unwrap(), Finished::Written);
    on.reopen().await;
    let shown = on.run(&run.run_id).await.unwrap();
    assert_eq!((shown.state, shown.finished_at, shown.exit_code), (RunState::Failed, Some(T0 + 7), Some(3)));
    assert_eq!((shown.error, shown.answer, shown.session_id), (record.error, record.answer, record.session_id));
    assert_eq!(shown.stderr, Some(record.stderr));
    assert_eq!(shown.cost_usd.map(|n| n.to_string()).as_deref(), Some("0.10000000000000000001"));
    assert_eq!(shown.usage.map(|v| v.to_string()), record.usage.map(|v| v.to_string()), "order and digits");
    let event = on.event("ev_1").await.unwrap();
    assert_eq!((event.state, event.reason.as_deref()), (EventState::Failed, Some("exit 3")));
    assert_eq!((event.due_at, event.finished_at), (Some(T0 + MINUTE), None));
}

pub(super) async fn only_the_run_in_flight_is_ended(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    let good = FinishRun { deliveries: vec![message("dlv_1")], ..on.finish(&run, T0, done()) };
    let wrong = [
        FinishRun { attempt: 2, ..good.clone() },
        FinishRun { attempt: 0, ..good.clone() },
        FinishRun { boot: on.boot + 1, ..good.clone() },
        FinishRun { boot: on.boot - 1, ..good.clone() },
        FinishRun { run_id: "run_none".into(), ..good.clone() },
    ];
    for wrong in wrong {
        assert_eq!(on.finish_run(wrong.clone()).await.unwrap(), Finished::Fenced, "{wrong:?}");
        assert_eq!(on.state("ev_1").await.0, EventState::Running);
        assert!(on.event("ev_1").await.unwrap().deliveries.is_empty());
    }
    assert_eq!(on.finish_run(good.clone()).await.unwrap(), Finished::Written);
    let twice = FinishRun { deliveries: vec![message("dlv_2")], ..on.finish(&run, T0 + 1, exhausted()) };
    assert_eq!(on.finish_run(twice).await.unwrap(), Finished::Fenced);
    let event = on.event("ev_1").await.unwrap();
    assert_eq!((event.state, event.deliveries), (EventState::Succeeded, vec!["dlv_1".to_owned()]));
}

pub(super) async fn a_late_result_of_an_earlier_life_is_refused(mut on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    let late = FinishRun { deliveries: vec![message("dlv_1")], ..on.finish(&run, T0, done()) };
    on.next_life().await;
    assert_eq!(on.finish_run(late.clone()).await.unwrap(), Finished::Fenced, "before it is recovered");
    on.end(&run, T0, interrupted()).await;
    let second = on.claim_one(T0).await;
    assert_eq!(second.attempt, 2);
    assert_eq!(on.finish_run(late).await.unwrap(), Finished::Fenced, "while the next run is under way");
    on.end(&second, T0, done()).await;
    let event = on.event("ev_1").await.unwrap();
    assert_eq!((event.state, event.deliveries.len(), event.runs.len()), (EventState::Succeeded, 0, 2));
}

pub(super) async fn a_later_life_ends_what_an_earlier_one_left(mut on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    on.next_life().await;
    on.next_life().await;
    let counted = Standing { interruptions: 1, ..Standing::default() };
    on.end(&run, T0 + 1, Next { standing: counted, ..interrupted() }).await;
    let shown = on.run(&run.run_id).await.unwrap();
    assert_eq!((shown.state, shown.finished_at), (RunState::Interrupted, Some(T0 + 1)));
    let again = on.claim_one(T0).await;
    assert_eq!((again.attempt, again.standing), (2, counted));
}

pub(super) async fn an_interruption_on_a_paused_route_is_held(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    on.pause("r", T0).await.unwrap();
    assert_eq!(on.state("ev_1").await.0, EventState::Running, "a pause lets the run go on");
    on.end(&run, T0, interrupted()).await;
    assert_eq!(on.state("ev_1").await, (EventState::Held, Some("paused".into())));
    on.resume("r").await.unwrap();
    assert_eq!(on.claimed(T0, 5).await, ["ev_1"]);
}

pub(super) async fn a_retry_on_a_paused_route_is_held_when_due(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    on.pause("r", T0).await.unwrap();
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    assert_eq!(on.state("ev_1").await, (EventState::Failed, Some("timeout".into())));
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, [""; 0]);
    assert_eq!(on.state("ev_1").await, (EventState::Held, Some("paused".into())));
    assert_eq!(on.due().await.unwrap().event, None);
    on.resume("r").await.unwrap();
    assert_eq!(on.claimed(T0, 5).await, ["ev_1"]);
}

pub(super) async fn a_run_of_a_route_that_has_gone_leaves_its_event_held(on: Subject) {
    let missing = (EventState::Held, Some("route_missing".to_owned()));
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(event(id, "r")).await;
    }
    let runs = on.claim(T0, 3).await;
    on.reconcile_routes(&["s".into()]).await.unwrap();
    assert_eq!(on.state("ev_1").await.0, EventState::Running);
    on.end(&runs[0], T0, interrupted()).await;
    on.end(&runs[1], T0, again_at(T0 + MINUTE)).await;
    on.end(&runs[2], T0, done()).await;
    assert_eq!(on.state("ev_1").await, missing);
    assert_eq!(on.state("ev_2").await, missing);
    assert_eq!(on.state("ev_3").await.0, EventState::Succeeded);
    on.reconcile_routes(&["r".into(), "s".into()]).await.unwrap();
    assert_eq!(on.claimed(T0, 5).await, ["ev_1"]);
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, ["ev_2"], "its wait went on");
}

pub(super) async fn a_taken_delivery_id_takes_the_whole_end_back(on: Subject) {
    on.answer("ev_1", "one", vec![message("dlv_1")]).await;
    on.put(event("ev_2", "r")).await;
    let run = on.claim_one(T0).await;
    for taken in [vec![message("dlv_2"), message("dlv_1")], vec![message("dlv_3"), message("dlv_3")]] {
        let finish = FinishRun { deliveries: taken, ..on.finish(&run, T0, done()) };
        on.finish_run(finish).await.unwrap_err();
        let event = on.event("ev_2").await.unwrap();
        assert_eq!((event.state, event.deliveries.len()), (EventState::Running, 0));
        assert_eq!(on.run(&run.run_id).await.unwrap().state, RunState::Running);
        assert!(on.delivery("dlv_2").await.is_err() && on.delivery("dlv_3").await.is_err());
    }
    on.end(&run, T0, done()).await;
}

pub(super) async fn an_event_queued_for_a_time_waits_for_it(on: Subject) {
    for (id, line) in [("ev_1", None), ("ev_2", Some("l".to_owned()))] {
        on.put(NewEvent { line, ..event(id, "r") }).await;
        let run = on.claim_one(T0).await;
        on.end(&run, T0, Next { due_at: Some(T0 + MINUTE), ..interrupted() }).await;
        assert_eq!(on.state(id).await.0, EventState::Queued);
        assert_eq!(on.claimed(T0, 5).await, [""; 0]);
        assert_eq!(on.claimed(T0 + MINUTE, 5).await, [id]);
    }
    // What has ended waits for nothing, whatever the caller says.
    on.put(event("ev_3", "r")).await;
    let run = on.claim_one(T0).await;
    on.end(&run, T0, Next { due_at: Some(T0), ..done() }).await;
    assert_eq!(on.due().await.unwrap().event, None);
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, [""; 0]);
    assert_eq!(on.state("ev_3").await.0, EventState::Succeeded);
}

pub(super) async fn impossible_ends_are_refused(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    let good = on.finish(&run, T0, done());
    let with_event = |state| FinishRun { next: Next { state, ..done() }, ..good.clone() };
    let with_delivery =
        |state| FinishRun { deliveries: vec![NewDelivery { state, ..message("dlv_1") }], ..good.clone() };
    let impossible = [
        FinishRun { state: RunState::Running, ..good.clone() },
        with_event(EventState::Running),
        with_event(EventState::Ignored),
        with_delivery(DeliveryState::Sending),
        with_delivery(DeliveryState::Delivered),
    ];
    for finish in impossible {
        let error = on.finish_run(finish).await.unwrap_err();
        assert!(matches!(&error, Error::Conflict(why) if why.contains("cannot")), "{error}");
        assert_eq!(on.state("ev_1").await.0, EventState::Running);
    }
    on.end(&run, T0, done()).await;
}

pub(super) async fn the_standing_goes_from_run_to_run(mut on: Subject) {
    on.put(event("ev_1", "r")).await;
    let standing = Standing { retries_spent: 2, interruptions: 1, later_since: Some(T0 - 5) };
    let run = on.claim_one(T0).await;
    on.end(&run, T0, Next { standing, ..interrupted() }).await;
    let run = on.claim_one(T0).await;
    assert_eq!((run.attempt, run.standing), (2, standing));
    on.next_life().await;
    assert_eq!(on.orphan_runs(on.boot).await.unwrap()[0].standing, standing);
    on.end(&run, T0, Next { standing, ..exhausted() }).await;
    on.retry_event("ev_1").await.unwrap();
    let run = on.claim_one(T0).await;
    assert_eq!((run.attempt, run.standing), (3, Standing::default()), "a person's retry begins anew");
}
