//! Who lives, and what that allows.

use rules::states::DeliveryState;

use super::scene::{Subject, T0, done, ended, event, message};
use crate::{AgentRoom, ClaimRuns, Finished, Inheritance, Node, Renewal};

pub(super) async fn a_life_that_is_over_takes_and_writes_nothing(mut on: Subject) {
    on.answer("ev_1", "one", vec![message("dlv_1"), message("dlv_2")]).await;
    on.put(event("ev_2", "r")).await;
    let run = on.claim_one(T0).await;
    let sent = on.take(T0, 1).await.remove(0);
    on.put(event("ev_3", "r")).await;
    let before = on.boot;
    on.next_life().await;
    let now = std::mem::replace(&mut on.boot, before);
    assert_eq!(on.renew(before).await.unwrap(), Renewal::Lost);
    assert_eq!(on.claimed(T0, 5).await, [""; 0]);
    assert_eq!(on.take(T0, 5).await, []);
    assert!(!on.record_prompt(&run.run_id, before, "late").await.unwrap());
    assert_eq!(on.finish_run(on.finish(&run, T0, done())).await.unwrap(), Finished::Fenced);
    assert!(!on.finish_delivery(ended(&sent, before, DeliveryState::Delivered)).await.unwrap());
    assert!(!on.adopt_delivery(&sent.id, before).await.unwrap());
    // Nor does one that has never begun.
    on.boot = now + 1;
    assert_eq!(on.renew(on.boot).await.unwrap(), Renewal::Lost);
    assert_eq!(on.claimed(T0, 5).await, [""; 0]);
    assert_eq!(on.finish_run(on.finish(&run, T0, done())).await.unwrap(), Finished::Fenced);
    on.boot = now;
    assert_eq!(on.claimed(T0, 5).await, ["ev_3"]);
    assert_eq!(on.orphan_runs(now).await.unwrap()[0].run_id, run.run_id);
    on.end(&run, T0, done()).await;
}

pub(super) async fn a_life_that_ends_itself_leaves_what_it_had(mut on: Subject) {
    on.answer("ev_1", "one", vec![message("dlv_1")]).await;
    on.put(event("ev_2", "r")).await;
    let run = on.claim_one(T0).await;
    on.take(T0, 1).await;
    let before = on.boot;
    on.end_boot(before).await.unwrap();
    on.end_boot(before).await.unwrap();
    assert_eq!(on.renew(before).await.unwrap(), Renewal::Lost);
    assert_eq!(on.finish_run(on.finish(&run, T0, done())).await.unwrap(), Finished::Fenced);
    // The next one need not wait for anything.
    on.boot = on.begin_boot("next", T0).await.unwrap();
    assert_eq!(on.orphan_runs(on.boot).await.unwrap().len(), 1);
    assert_eq!(on.stuck_deliveries(on.boot).await.unwrap().len(), 1);
    assert!(on.adopt_delivery("dlv_1", on.boot).await.unwrap());
    on.end(&run, T0, done()).await;
}

pub(super) async fn a_life_finds_what_it_has_under_way(mut on: Subject) {
    assert_eq!(on.under_way(on.boot).await.unwrap(), Inheritance::default());
    on.answer("ev_1", "one", vec![message("dlv_1"), message("dlv_2")]).await;
    on.put(event("ev_2", "r")).await;
    on.put(event("ev_3", "r")).await;
    let runs = on.claim(T0, 2).await;
    on.take(T0, 1).await;
    on.end(&runs[0], T0, done()).await;
    let own = on.boot;
    let found = on.under_way(own).await.unwrap();
    let run_ids: Vec<_> = found.runs.iter().map(|run| (run.run_id.as_str(), run.event_id.as_str())).collect();
    assert_eq!(run_ids, [(runs[1].run_id.as_str(), "ev_3")]);
    let delivery_ids: Vec<_> = found.deliveries.iter().map(|d| (d.id.as_str(), d.attempt)).collect();
    assert_eq!(delivery_ids, [("dlv_1", 1)]);
    on.next_life().await;
    assert_eq!(on.under_way(on.boot).await.unwrap(), Inheritance::default(), "another's is not its own");
    assert_eq!(on.under_way(own).await.unwrap(), found, "and stays the other's");
}

pub(super) async fn a_dead_life_has_one_heir(mut on: Subject) {
    on.answer("ev_1", "one", vec![message("dlv_1")]).await;
    on.put(event("ev_2", "r")).await;
    on.put(event("ev_3", "r")).await;
    let runs = on.claim(T0, 2).await;
    let sent = on.take(T0, 1).await.remove(0);
    on.end(&runs[1], T0, done()).await;
    let dead = on.boot;
    on.next_life().await;
    let heir = on.boot;
    for (dead, heir) in [(dead, dead), (dead, heir + 1), (heir, heir)] {
        assert_eq!(on.inherit(dead, heir).await.unwrap(), Inheritance::default(), "{heir} is no heir of {dead}");
    }
    let inheritance = on.inherit(dead, heir).await.unwrap();
    let run_ids: Vec<_> = inheritance.runs.iter().map(|run| (run.run_id.as_str(), run.attempt)).collect();
    assert_eq!(run_ids, [(runs[0].run_id.as_str(), 1)]);
    let delivery_ids: Vec<_> = inheritance.deliveries.iter().map(|stuck| stuck.id.as_str()).collect();
    assert_eq!(delivery_ids, ["dlv_1"]);
    // They are its own now: nobody finds them, and only it may end them.
    assert_eq!(on.orphan_runs(heir).await.unwrap(), []);
    assert_eq!(on.orphan_runs(heir + 1).await.unwrap(), []);
    assert_eq!(on.stuck_deliveries(heir + 1).await.unwrap(), []);
    assert_eq!(on.inherit(dead, heir).await.unwrap(), Inheritance::default(), "once");
    assert!(!on.finish_delivery(ended(&sent, dead, DeliveryState::Delivered)).await.unwrap());
    assert!(on.finish_delivery(ended(&sent, heir, DeliveryState::Delivered)).await.unwrap());
    on.end(&runs[0], T0, done()).await;
}

pub(super) async fn a_life_that_goes_on_keeps_its_own(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    for _ in 0..3 {
        assert!(matches!(on.renew(on.boot).await.unwrap(), Renewal::Kept { .. }));
    }
    // Nobody else's end is an end of this one.
    on.end_boot(on.boot + 1).await.unwrap();
    assert!(matches!(on.renew(on.boot).await.unwrap(), Renewal::Kept { .. }));
    assert_eq!(on.orphan_runs(on.boot).await.unwrap(), []);
    on.end(&run, T0, done()).await;
    if let Some(lease) = on.lease() {
        assert!(lease.renew_every < lease.give_up_after && lease.give_up_after < lease.length, "{lease:?}");
    }
}

pub(super) async fn nodes_are_listed_while_they_matter(mut on: Subject) {
    on.answer("ev_1", "one", vec![message("dlv_1")]).await;
    on.put(event("ev_2", "r")).await;
    on.put(event("ev_3", "r")).await;
    let runs = on.claim(T0, 2).await;
    let sent = on.take(T0, 1).await.remove(0);
    let first = Node { boot: on.boot, name: "node".into(), started_at: T0, lives: true, running: 2, sending: 1 };
    assert_eq!(on.nodes().await.unwrap(), std::slice::from_ref(&first));
    on.next_life().await;
    let left = |running, sending| Node { lives: false, running, sending, ..first.clone() };
    let second = Node { boot: on.boot, running: 0, sending: 0, ..first.clone() };
    assert_eq!(on.nodes().await.unwrap(), [left(2, 1), second.clone()]);
    on.end(&runs[0], T0, done()).await;
    assert!(on.adopt_delivery(&sent.id, on.boot).await.unwrap());
    assert_eq!(on.nodes().await.unwrap(), [left(1, 0), Node { sending: 1, ..second.clone() }]);
    assert!(on.finish_delivery(ended(&sent, on.boot, DeliveryState::Delivered)).await.unwrap());
    on.end(&runs[1], T0, done()).await;
    assert_eq!(on.nodes().await.unwrap(), [second]);
    on.end_boot(on.boot).await.unwrap();
    assert_eq!(on.nodes().await.unwrap(), []);
}

pub(super) async fn a_limit_for_all_nodes_counts_every_run_in_flight(mut on: Subject) {
    for number in 0..6 {
        on.put(event(&format!("ev_{number}"), "r")).await;
    }
    let limited = |on: &Subject, limit| {
        let agents = vec![AgentRoom { agent: "a".into(), room: 100, cluster_limit: Some(limit) }];
        ClaimRuns { agents, ..on.offer(T0, 9) }
    };
    let first = on.claim_runs(limited(&on, 2)).await.unwrap();
    assert_eq!(first.len(), 2);
    assert_eq!(on.claim_runs(limited(&on, 2)).await.unwrap(), []);
    assert_eq!(on.claim_runs(limited(&on, 1)).await.unwrap(), [], "lowered below what is in flight");
    // What an earlier life left may still be at work, until somebody has made sure of its end.
    on.next_life().await;
    assert_eq!(on.claim_runs(limited(&on, 3)).await.unwrap().len(), 1);
    on.end(&first[0], T0, done()).await;
    assert_eq!(on.claim_runs(limited(&on, 3)).await.unwrap().len(), 1);
    assert_eq!(on.claim_runs(limited(&on, 3)).await.unwrap(), []);
    // Another agent is not counted, and a node's own room stands beside it.
    let mut other = limited(&on, 1);
    other.agents[0].agent = "b".into();
    other.routes[0].agent = "b".into();
    other.agents[0].room = 0;
    assert_eq!(on.claim_runs(other.clone()).await.unwrap(), []);
    other.agents[0].room = 5;
    assert_eq!(on.claim_runs(other).await.unwrap().len(), 1);
}
