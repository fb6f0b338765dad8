//! How answers leave.

use rules::states::DeliveryState;
use serde_json::Value;

use super::scene::{MINUTE, Subject, T0, ended, message};
use crate::{ClaimDeliveries, ClaimedDelivery, DeliveryEnd, Error, NewDelivery, StuckDelivery, TargetRoom};

pub(super) async fn a_claim_marks_what_is_sent(on: Subject) {
    let text = r#"{"chat": 12345678901234567890.10, "b": [null, "x"], "a": {}}"#;
    let Value::Object(extra) = serde_json::from_str(text).unwrap() else { panic!("{text}") };
    let answer = "an answer ".repeat(500);
    on.answer("ev_1", &answer, vec![NewDelivery { extra: extra.clone(), ..message("dlv_1") }]).await;
    let run_id = on.event("ev_1").await.unwrap().runs.remove(0);
    let expected = ClaimedDelivery {
        id: "dlv_1".into(),
        attempt: 1,
        spent: 1,
        target: "log".into(),
        event_id: "ev_1".into(),
        run_id: Some(run_id),
        route: "r".into(),
        event_type: "push".into(),
        provider_delivery_id: "d-ev_1".into(),
        hop: 0,
        content: answer,
        extra: extra.clone(),
        created_at: T0,
    };
    let claimed = on.take(T0, 5).await;
    assert_eq!(claimed, [expected]);
    let before = Value::Object(extra).to_string();
    assert_eq!(Value::Object(claimed[0].extra.clone()).to_string(), before, "order and digits");
    let shown = on.delivery("dlv_1").await.unwrap();
    assert_eq!((shown.state, shown.attempts, shown.due_at), (DeliveryState::Sending, 1, None));
    assert_eq!(on.take(T0 + MINUTE, 5).await, [], "it is on its way");
    let end = DeliveryEnd { now: T0 + 9, ..ended(&claimed[0], on.boot, DeliveryState::Delivered) };
    assert!(on.finish_delivery(end).await.unwrap());
    let shown = on.delivery("dlv_1").await.unwrap();
    assert_eq!((shown.state, shown.delivered_at), (DeliveryState::Delivered, Some(T0 + 9)));
}

pub(super) async fn the_longest_due_goes_first_within_the_room(on: Subject) {
    let at = |id: &str, created_at| NewDelivery { created_at, ..message(id) };
    let elsewhere = NewDelivery { target: "slack".into(), ..message("dlv_5") };
    on.answer("ev_1", "x", vec![at("dlv_1", T0 + 2), at("dlv_2", T0 + 1), at("dlv_3", T0 + 2), at("dlv_4", T0 + 9)])
        .await;
    on.answer("ev_2", "x", vec![elsewhere]).await;
    let ids = |claimed: Vec<ClaimedDelivery>| claimed.into_iter().map(|d| d.id).collect::<Vec<_>>();
    assert_eq!(ids(on.take(T0, 5).await), [""; 0]);
    assert_eq!(ids(on.take(T0 + 2, 0).await), [""; 0]);
    assert_eq!(ids(on.take(T0 + 2, 2).await), ["dlv_2", "dlv_1"]);
    assert_eq!(on.due().await.unwrap().delivery, Some(T0));
    let room = |target: &str, room| TargetRoom { target: target.into(), room };
    let both = ClaimDeliveries { boot: on.boot, now: T0 + 9, targets: vec![room("slack", 1), room("log", 9)] };
    assert_eq!(ids(on.claim_deliveries(both).await.unwrap()), ["dlv_5", "dlv_3", "dlv_4"]);
    assert_eq!(on.due().await.unwrap().delivery, None);
}

pub(super) async fn a_failed_delivery_waits_for_its_time(on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1")]).await;
    let first = on.take(T0, 1).await.remove(0);
    let end = DeliveryEnd {
        error: Some("503".into()),
        due_at: Some(T0 + MINUTE),
        ..ended(&first, on.boot, DeliveryState::Failed)
    };
    assert!(on.finish_delivery(end).await.unwrap());
    let shown = on.delivery("dlv_1").await.unwrap();
    assert_eq!((shown.state, shown.error.as_deref()), (DeliveryState::Failed, Some("503")));
    assert_eq!((shown.due_at, on.due().await.unwrap().delivery), (Some(T0 + MINUTE), Some(T0 + MINUTE)));
    assert_eq!(on.take(T0 + MINUTE - 1, 1).await, []);
    let second = on.take(T0 + MINUTE, 1).await.remove(0);
    assert_eq!((second.attempt, second.spent), (2, 2));
    // What has ended is not due, whatever the caller says.
    let end = DeliveryEnd { due_at: Some(T0), ..ended(&second, on.boot, DeliveryState::Delivered) };
    assert!(on.finish_delivery(end).await.unwrap());
    assert_eq!(on.take(T0 + 9 * MINUTE, 1).await, []);
    assert_eq!(on.delivery("dlv_1").await.unwrap().error, None);
}

pub(super) async fn an_end_is_fenced(on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1")]).await;
    let pending = ClaimedDelivery { attempt: 0, ..on.take(T0, 1).await.remove(0) };
    let good = DeliveryEnd { attempt: 1, ..ended(&pending, on.boot, DeliveryState::Unknown) };
    let wrong = [
        DeliveryEnd { attempt: 0, ..good.clone() },
        DeliveryEnd { attempt: 2, ..good.clone() },
        DeliveryEnd { boot: on.boot + 1, ..good.clone() },
        DeliveryEnd { boot: on.boot - 1, ..good.clone() },
        DeliveryEnd { id: "dlv_none".into(), ..good.clone() },
    ];
    for end in wrong {
        assert!(!on.finish_delivery(end.clone()).await.unwrap(), "{end:?}");
    }
    assert_eq!(on.delivery("dlv_1").await.unwrap().state, DeliveryState::Sending);
    assert!(on.finish_delivery(good.clone()).await.unwrap());
    assert!(
        !on.finish_delivery(DeliveryEnd { state: DeliveryState::Delivered, ..good }).await.unwrap(),
        "it has ended"
    );
    assert_eq!(on.delivery("dlv_1").await.unwrap().state, DeliveryState::Unknown);
    assert_eq!(on.take(T0 + MINUTE, 1).await, [], "never sent again by itself");
}

pub(super) async fn what_an_earlier_life_was_sending_is_taken_over(mut on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1"), message("dlv_2"), message("dlv_3")]).await;
    let taken = on.take(T0, 2).await;
    let earlier = on.boot;
    assert_eq!(on.stuck_deliveries(on.boot).await.unwrap(), [], "its own are not stuck");
    assert!(!on.adopt_delivery("dlv_1", on.boot).await.unwrap());
    on.next_life().await;
    let stuck = |id: &str| StuckDelivery { id: id.into(), attempt: 1, target: "log".into() };
    assert_eq!(on.stuck_deliveries(on.boot).await.unwrap(), [stuck("dlv_1"), stuck("dlv_2")]);
    let own = |delivery| ended(delivery, on.boot, DeliveryState::Unknown);
    assert!(!on.finish_delivery(own(&taken[0])).await.unwrap(), "not before it is taken over");
    assert!(on.adopt_delivery("dlv_1", on.boot).await.unwrap());
    assert!(!on.adopt_delivery("dlv_1", on.boot).await.unwrap(), "once");
    assert_eq!(on.stuck_deliveries(on.boot).await.unwrap(), [stuck("dlv_2")]);
    assert!(!on.finish_delivery(ended(&taken[0], earlier, DeliveryState::Delivered)).await.unwrap(), "too late");
    assert!(on.finish_delivery(own(&taken[0])).await.unwrap());
    for gone in ["dlv_1", "dlv_3", "dlv_none"] {
        assert!(!on.adopt_delivery(gone, on.boot).await.unwrap(), "{gone}");
    }
}

pub(super) async fn people_may_have_it_sent_again(on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1")]).await;
    let conflict = |error: Error, word: &str| match error {
        Error::Conflict(why) => assert!(why.contains("dlv_1") && why.contains(word), "{why}"),
        other => panic!("{other:?}"),
    };
    conflict(on.retry_delivery("dlv_1", T0).await.unwrap_err(), "pending");
    let mut attempt = 0;
    for end in [DeliveryState::Failed, DeliveryState::Unknown, DeliveryState::Exhausted] {
        let taken = on.take(T0 + MINUTE, 1).await.remove(0);
        attempt += 1;
        assert_eq!((taken.attempt, taken.spent), (attempt, 1), "attempts are restored");
        conflict(on.retry_delivery("dlv_1", T0).await.unwrap_err(), "sending");
        let error = Some("no".to_owned());
        assert!(on.finish_delivery(DeliveryEnd { error, ..ended(&taken, on.boot, end) }).await.unwrap());
        on.retry_delivery("dlv_1", T0 + MINUTE).await.unwrap();
        let shown = on.delivery("dlv_1").await.unwrap();
        assert_eq!((shown.state, shown.error, shown.due_at), (DeliveryState::Pending, None, Some(T0 + MINUTE)));
    }
    let taken = on.take(T0 + MINUTE, 1).await.remove(0);
    assert!(on.finish_delivery(ended(&taken, on.boot, DeliveryState::Delivered)).await.unwrap());
    conflict(on.retry_delivery("dlv_1", T0).await.unwrap_err(), "delivered");
    let missing = on.retry_delivery("dlv_none", T0).await.unwrap_err();
    assert_eq!(missing, Error::NotFound { kind: "delivery", id: "dlv_none".into() });
}

pub(super) async fn what_cannot_be_sent_is_never_claimed(on: Subject) {
    let silent = NewDelivery { state: DeliveryState::Suppressed, ..message("dlv_1") };
    let unusable = NewDelivery { state: DeliveryState::Exhausted, ..message("dlv_2") };
    on.answer("ev_1", "x", vec![silent, unusable]).await;
    assert_eq!(on.due().await.unwrap().delivery, None);
    assert_eq!(on.take(T0 + MINUTE, 5).await, []);
    assert!(matches!(on.retry_delivery("dlv_1", T0).await, Err(Error::Conflict(_))), "silence is kept");
    on.retry_delivery("dlv_2", T0).await.unwrap();
    assert_eq!(on.take(T0, 5).await.len(), 1);
}

pub(super) async fn impossible_states_are_refused(on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1")]).await;
    let taken = on.take(T0, 1).await.remove(0);
    for state in [DeliveryState::Sending, DeliveryState::Suppressed] {
        let error = on.finish_delivery(ended(&taken, on.boot, state)).await.unwrap_err();
        assert!(matches!(&error, Error::Conflict(why) if why.contains("dlv_1")), "{error}");
    }
    assert_eq!(on.delivery("dlv_1").await.unwrap().state, DeliveryState::Sending);
}
