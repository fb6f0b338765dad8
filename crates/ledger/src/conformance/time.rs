//! What becomes of waiting when somebody sets the clock.

use rules::run_end::{Next, Standing};
use rules::states::DeliveryState;

use super::scene::{MINUTE, SECOND, Subject, T0, again_at, ended, event, message};
use crate::{DeliveryEnd, NewEvent};

const HOUR: i64 = 60 * MINUTE;

pub(super) async fn the_time_that_was_noted_is_answered(mut on: Subject) {
    assert_eq!(on.keep_time(T0, Some(0)).await.unwrap(), None);
    assert_eq!(on.keep_time(T0 + HOUR, Some(0)).await.unwrap(), Some(T0));
    assert_eq!(on.keep_time(T0, Some(HOUR)).await.unwrap(), Some(T0 + HOUR));
    on.next_life().await;
    assert_eq!(on.keep_time(T0 + 1, None).await.unwrap(), Some(T0), "a later life knows it");
}

pub(super) async fn what_waits_does_not_wait_for_a_clock_that_was_set_back(on: Subject) {
    on.put(event("ev_retry", "r")).await;
    let run = on.claim_one(T0).await;
    let standing = Standing { later_since: Some(T0), ..Standing::default() };
    on.end(&run, T0, Next { standing, ..again_at(T0 + MINUTE) }).await;
    on.put(NewEvent { due_at: Some(T0 + 2 * MINUTE), ..event("ev_due", "s") }).await;
    on.put(event("ev_ready", "t")).await;
    on.keep_time(T0 - HOUR, Some(HOUR)).await.unwrap();
    assert_eq!(on.event("ev_retry").await.unwrap().due_at, Some(T0 - HOUR + MINUTE));
    assert_eq!(on.due().await.unwrap().event, Some(T0 - HOUR + MINUTE));
    assert_eq!(on.claimed(T0 - HOUR + MINUTE - SECOND, 9).await, ["ev_ready"]);
    let retry = on.claim_one(T0 - HOUR + MINUTE).await;
    assert_eq!(
        (retry.event_id.as_str(), retry.standing.later_since),
        ("ev_retry", Some(T0 - HOUR)),
        "it has said \"later\" for as long as before"
    );
    assert_eq!(on.claimed(T0 - HOUR + 2 * MINUTE, 9).await, ["ev_due"]);
}

pub(super) async fn a_delivery_does_not_wait_for_a_clock_that_was_set_back(on: Subject) {
    on.answer("ev_1", "x", vec![message("dlv_1"), message("dlv_2")]).await;
    let sent = on.take(T0, 1).await.remove(0);
    let end = DeliveryEnd { due_at: Some(T0 + MINUTE), ..ended(&sent, on.boot, DeliveryState::Failed) };
    on.finish_delivery(end).await.unwrap();
    on.keep_time(T0, Some(0)).await.unwrap();
    on.keep_time(T0 - HOUR, None).await.unwrap();
    let taken = async |now| on.take(now, 9).await.into_iter().map(|d| d.id).collect::<Vec<_>>();
    assert_eq!(taken(T0 - HOUR).await, ["dlv_2"], "what is due stays due");
    assert_eq!(taken(T0 - HOUR + MINUTE - 1).await, [""; 0]);
    assert_eq!(taken(T0 - HOUR + MINUTE).await, ["dlv_1"]);
}

pub(super) async fn a_clock_that_goes_forward_moves_nothing(on: Subject) {
    on.put(NewEvent { due_at: Some(T0 + MINUTE), ..event("ev_1", "r") }).await;
    on.keep_time(T0, None).await.unwrap();
    for back in [Some(0), Some(-HOUR), None] {
        on.keep_time(T0 + HOUR, back).await.unwrap();
        assert_eq!(on.event("ev_1").await.unwrap().due_at, Some(T0 + MINUTE));
    }
    assert_eq!(on.claimed(T0 + HOUR, 9).await, ["ev_1"]);
    assert_eq!(on.claimed(T0 + HOUR, 9).await, [""; 0], "once");
}
