//! What a new life finds.

use rules::run_end::Standing;
use rules::states::EventState;

use super::scene::{MINUTE, Subject, T0, again_at, done, event, in_line, keyed, message};
use crate::{DeliveryQuery, Error, EventQuery, Ignored, OrphanRun, RunQuery};

pub(super) async fn lives_are_numbered(mut on: Subject) {
    let first = on.boot;
    assert!(first > 0);
    on.next_life().await;
    assert_eq!(on.boot, first + 1);
    assert_eq!(on.begin_boot("node", T0).await.unwrap(), first + 2);
}

pub(super) async fn orphans_are_found(mut on: Subject) {
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.put(event(id, "r")).await;
    }
    let runs = on.claim(T0, 2).await;
    on.end(&runs[0], T0, done()).await;
    assert_eq!(on.orphan_runs(on.boot).await.unwrap(), []);
    on.next_life().await;
    let own = on.claim_one(T0).await;
    assert_eq!(own.event_id, "ev_3", "what an earlier life left stays running until it is dealt with");
    let orphan = OrphanRun {
        run_id: runs[1].run_id.clone(),
        attempt: 1,
        event_id: "ev_2".into(),
        route: "r".into(),
        agent: "a".into(),
        standing: Standing::default(),
    };
    assert_eq!(on.orphan_runs(on.boot).await.unwrap(), [orphan]);
}

/// Everything that can be read, as text.
async fn everything(on: &Subject) -> String {
    let events = on.events(EventQuery { limit: 1000, ..EventQuery::default() }).await.unwrap();
    let runs = on.runs(RunQuery { limit: 1000, ..RunQuery::default() }).await.unwrap();
    let deliveries = on.deliveries(DeliveryQuery { limit: 1000, ..DeliveryQuery::default() }).await.unwrap();
    let mut requests = Vec::new();
    for event in &events.items {
        requests.push(on.request(&event.id).await.unwrap());
    }
    let (status, due) = (on.status().await.unwrap(), on.due().await.unwrap());
    format!("{events:#?}{runs:#?}{deliveries:#?}{requests:#?}{status:#?}{due:#?}")
}

pub(super) async fn everything_survives_a_restart(mut on: Subject) {
    on.answer("ev_1", "one", vec![message("dlv_1"), message("dlv_2")]).await;
    on.admit(keyed(event("ev_2", "s"), "k")).await.unwrap();
    on.put(in_line("ev_3", "l")).await;
    on.put(in_line("ev_4", "l")).await;
    on.record_ignored(Ignored { event: event("ev_5", "t"), reason: "filter".into() }).await.unwrap();
    on.pause("t", T0).await.unwrap();
    on.put(event("ev_6", "t")).await;
    on.take(T0, 1).await;
    let run = on.claim(T0, 1).await.remove(0);
    on.end(&run, T0, again_at(T0 + MINUTE)).await;
    let before = everything(&on).await;
    on.reopen().await;
    assert_eq!(everything(&on).await, before);
    on.reconcile_routes(&["r".into(), "s".into()]).await.unwrap();
    on.reopen().await;
    on.resume("t").await.unwrap();
    assert_eq!(on.state("ev_6").await, (EventState::Held, Some("route_missing".into())), "it knows its routes");
    assert!(matches!(on.admit(keyed(event("ev_7", "s"), "k")).await.unwrap(), crate::Admitted::Duplicate { .. }));
    assert_eq!(on.claimed(T0 + MINUTE, 9).await, ["ev_2", "ev_3"]);
}

pub(super) async fn a_probe_changes_nothing(mut on: Subject) {
    on.put(event("ev_1", "r")).await;
    let before = everything(&on).await;
    for _ in 0..3 {
        on.probe().await.unwrap();
    }
    assert_eq!(everything(&on).await, before);
    on.reopen().await;
    on.probe().await.unwrap();
    assert_eq!(everything(&on).await, before);
}

pub(super) async fn a_closed_ledger_says_so(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.close().await;
    on.close().await;
    assert_eq!(on.event("ev_1").await.unwrap_err(), Error::Closed);
    assert_eq!(on.admit(keyed(event("ev_2", "r"), "k")).await.unwrap_err(), Error::Closed);
    assert_eq!(on.claim_runs(on.offer(T0, 1)).await.unwrap_err(), Error::Closed);
    assert_eq!(on.status().await.unwrap_err(), Error::Closed);
    assert_eq!(on.probe().await.unwrap_err(), Error::Closed);
}
