//! Who runs next.

use std::collections::BTreeSet;
use std::sync::Arc;

use rules::run_end::Standing;
use rules::states::{EventState, RunState};
use tokio::task::JoinSet;

use super::scene::{MINUTE, Subject, T0, done, event};
use crate::{AgentRoom, ClaimRuns, ClaimedRun, NewEvent, RouteRoom, RunQuery};

fn with_priority(id: &str, route: &str, priority: i64) -> NewEvent {
    NewEvent { priority, ..event(id, route) }
}

pub(super) async fn priority_goes_first_then_arrival(on: Subject) {
    on.put(with_priority("ev_1", "r", 0)).await;
    on.put(with_priority("ev_2", "s", 0)).await;
    on.put(with_priority("ev_3", "s", i64::MIN)).await;
    on.put(with_priority("ev_4", "t", 7)).await;
    on.put(with_priority("ev_5", "r", 7)).await;
    on.put(with_priority("ev_6", "t", i64::MAX)).await;
    on.put(with_priority("ev_7", "r", 0)).await;
    assert_eq!(on.claimed(T0, 4).await, ["ev_6", "ev_4", "ev_5", "ev_1"]);
    assert_eq!(on.claimed(T0, 10).await, ["ev_2", "ev_7", "ev_3"]);
    assert_eq!(on.claimed(T0, 10).await, [""; 0]);
}

pub(super) async fn rooms_bound_a_claim(on: Subject) {
    for number in 0..4 {
        for route in ["r", "s", "t"] {
            on.put(event(&format!("ev_{route}{number}"), route)).await;
        }
    }
    let offer = |routes: &[(&str, &str, u32)], agents: &[(&str, u32)], most| ClaimRuns {
        routes: routes
            .iter()
            .map(|(route, agent, room)| RouteRoom { route: (*route).into(), agent: (*agent).into(), room: *room })
            .collect(),
        agents: agents
            .iter()
            .map(|(agent, room)| AgentRoom { agent: (*agent).into(), room: *room, cluster_limit: None })
            .collect(),
        ..on.offer(T0, most)
    };
    let claim = async |claim| -> Vec<String> {
        on.claim_runs(claim).await.unwrap().into_iter().map(|r: ClaimedRun| r.event_id).collect()
    };
    // The routes' room, and routes that are not named.
    let two = [("r", "a", 1), ("s", "a", 2)];
    assert_eq!(claim(offer(&two, &[("a", 9)], 9)).await, ["ev_r0", "ev_s0", "ev_s1"]);
    // The agents' room; what it keeps out lets others by.
    let mixed = [("r", "a", 9), ("s", "b", 9)];
    assert_eq!(claim(offer(&mixed, &[("a", 1), ("b", 2)], 9)).await, ["ev_r1", "ev_s2", "ev_s3"]);
    // Agents that are not named, no room, no ids.
    assert_eq!(claim(offer(&[("t", "c", 9)], &[("a", 9)], 9)).await, [""; 0]);
    assert_eq!(claim(offer(&[("t", "a", 0)], &[("a", 9)], 9)).await, [""; 0]);
    assert_eq!(claim(offer(&[("t", "a", 9)], &[("a", 0)], 9)).await, [""; 0]);
    assert_eq!(claim(offer(&[("t", "a", 9)], &[("a", 9)], 0)).await, [""; 0]);
    assert_eq!(claim(offer(&[("t", "a", 9)], &[("a", 9)], 2)).await, ["ev_t0", "ev_t1"]);
    assert_eq!(on.status().await.unwrap().running, 8);
}

pub(super) async fn a_route_named_twice_offers_its_events_once(on: Subject) {
    on.put(event("ev_1", "r")).await;
    on.put(event("ev_2", "r")).await;
    let mut offer = on.offer(T0, 5);
    offer.routes = vec![
        RouteRoom { route: "r".into(), agent: "a".into(), room: 1 },
        RouteRoom { route: "r".into(), agent: "a".into(), room: 9 },
    ];
    let claimed = on.claim_runs(offer).await.unwrap();
    assert_eq!(claimed.len(), 1, "the first entry's room counts: {claimed:?}");
    assert_eq!(on.runs(RunQuery { limit: 9, ..RunQuery::default() }).await.unwrap().items.len(), 1);
}

pub(super) async fn a_due_time_is_waited_for(on: Subject) {
    on.put(NewEvent { due_at: Some(T0 + 2 * MINUTE), ..event("ev_1", "r") }).await;
    on.put(NewEvent { due_at: Some(T0 + MINUTE), ..event("ev_2", "r") }).await;
    assert_eq!(on.due().await.unwrap().event, Some(T0 + MINUTE));
    assert_eq!(on.state("ev_1").await, (EventState::Queued, None));
    assert_eq!(on.claimed(T0 + MINUTE - 1, 5).await, [""; 0]);
    assert_eq!(on.claimed(T0 + MINUTE, 5).await, ["ev_2"]);
    assert_eq!(on.due().await.unwrap().event, Some(T0 + 2 * MINUTE));
    // When it has come, arrival decides again.
    on.put(event("ev_3", "r")).await;
    assert_eq!(on.claimed(T0 + 2 * MINUTE, 5).await, ["ev_1", "ev_3"]);
    assert_eq!(on.due().await.unwrap().event, None);
}

pub(super) async fn many_due_at_once_all_run(on: Subject) {
    for number in 0..300 {
        on.put(NewEvent { due_at: Some(T0 + MINUTE), ..event(&format!("ev_{number}"), "r") }).await;
    }
    let mut claimed = BTreeSet::new();
    for round in 0..4 {
        let mut offer = on.offer(T0 + MINUTE, 200);
        offer.routes[0].room = 200;
        offer.agents[0].room = 200;
        let runs = on.claim_runs(offer).await.unwrap();
        assert!(round > 1 || !runs.is_empty(), "a store may look at them in parts, but not at none");
        claimed.extend(runs.into_iter().map(|r| r.event_id));
    }
    assert_eq!(claimed.len(), 300);
    assert_eq!(on.due().await.unwrap().event, None);
}

pub(super) async fn parallel_claims_take_each_event_once(on: Subject) {
    for number in 0..60 {
        on.put(event(&format!("ev_{number}"), ["r", "s", "t"][number % 3])).await;
    }
    let mut claims = JoinSet::new();
    for _ in 0..12 {
        let (ledger, offer) = (Arc::clone(&on.ledger), on.offer(T0, 5));
        claims.spawn(async move { ledger.claim_runs(offer).await.unwrap() });
    }
    let claimed: Vec<String> = claims.join_all().await.into_iter().flatten().map(|r| r.event_id).collect();
    assert_eq!(claimed.len(), 60);
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>().len(), 60);
}

pub(super) async fn a_taken_run_id_leaves_the_event(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    on.put(event("ev_2", "r")).await;
    on.put(event("ev_3", "r")).await;
    let offer = ClaimRuns { run_ids: vec!["run_new".into(), run.run_id.clone()], ..on.offer(T0, 0) };
    on.claim_runs(offer).await.unwrap_err();
    assert_eq!(on.state("ev_2").await.0, EventState::Queued, "the whole claim is taken back");
    assert!(on.run("run_new").await.is_err());
    assert_eq!(on.run(&run.run_id).await.unwrap().event_id, "ev_1");
    assert_eq!(on.claimed(T0, 5).await, ["ev_2", "ev_3"]);
}

pub(super) async fn the_prompt_is_kept_for_the_life_that_runs(on: Subject) {
    on.put(event("ev_1", "r")).await;
    let run = on.claim_one(T0).await;
    let prompt = "do it ".repeat(1000);
    assert!(on.record_prompt(&run.run_id, on.boot, "a first one").await.unwrap());
    assert!(on.record_prompt(&run.run_id, on.boot, &prompt).await.unwrap());
    assert!(!on.record_prompt(&run.run_id, on.boot + 1, "no").await.unwrap(), "another life's");
    assert!(!on.record_prompt("run_none", on.boot, "no").await.unwrap());
    on.end(&run, T0, done()).await;
    assert!(!on.record_prompt(&run.run_id, on.boot, "no").await.unwrap(), "it has ended");
    assert_eq!(on.run(&run.run_id).await.unwrap().prompt, Some(prompt));
}

pub(super) async fn what_is_claimed_says_what_it_is(on: Subject) {
    let new = NewEvent { hop: 3, line: Some("l".into()), ..event("ev_1", "s") };
    on.put(new).await;
    let offer = on.offer(T0 + 5, 1);
    let run_id = offer.run_ids[0].clone();
    let claimed = on.claim_runs(offer).await.unwrap();
    let expected = ClaimedRun {
        run_id: run_id.clone(),
        attempt: 1,
        event_id: "ev_1".into(),
        route: "s".into(),
        agent: "a".into(),
        event_type: "push".into(),
        delivery_id: "d-ev_1".into(),
        hop: 3,
        standing: Standing::default(),
    };
    assert_eq!(claimed, [expected]);
    let run = on.run(&run_id).await.unwrap();
    assert_eq!((run.state, run.started_at, run.finished_at), (RunState::Running, T0 + 5, None));
    let event = on.event("ev_1").await.unwrap();
    assert_eq!((event.state, event.attempt, event.session.as_deref()), (EventState::Running, 1, Some("l")));
    assert_eq!(event.runs, [run_id]);
}
