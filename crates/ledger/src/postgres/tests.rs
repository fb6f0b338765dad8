//! What is special to PostgreSQL: several nodes on one database.

mod plans;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rules::run_end::{Next, Standing};
use rules::states::{EventState, RunState};
use scratch_postgres::Database;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Options, Store};
use crate::{
    Admission, Admitted, AgentRoom, Boot, ClaimRuns, ClaimedRun, FinishRun, Finished, Key, Ledger as _, NewEvent,
    Renewal, RouteRoom, RunRecord, StoredRequest,
};

/// A time.
const T0: i64 = 1_790_000_000_000;
/// Long enough for anything that happens, so that a test which waits in vain ends.
const PATIENCE: Duration = Duration::from_secs(30);

fn admission(id: &str) -> Admission {
    let event = NewEvent {
        id: id.into(),
        route: "r".into(),
        source: "github".into(),
        event_type: "push".into(),
        delivery_id: id.into(),
        line: None,
        priority: 0,
        hop: 0,
        due_at: None,
        received_at: T0,
        request: StoredRequest { headers: Vec::new(), body: vec![b'x'; 2000] },
    };
    Admission { event, key: None, rate_per_minute: 0 }
}

fn offer(boot: Boot, ids: &[String]) -> ClaimRuns {
    ClaimRuns {
        boot,
        now: T0,
        routes: vec![RouteRoom { route: "r".into(), agent: "a".into(), room: 1000 }],
        agents: vec![AgentRoom { agent: "a".into(), room: 1000, cluster_limit: None }],
        run_ids: ids.to_vec(),
    }
}

async fn claim_one(store: &Store, boot: Boot, run_id: &str) -> ClaimedRun {
    store.claim_runs(offer(boot, &[run_id.to_owned()])).await.unwrap().remove(0)
}

fn success(run: &ClaimedRun, boot: Boot) -> FinishRun {
    FinishRun {
        run_id: run.run_id.clone(),
        boot,
        attempt: run.attempt,
        ended_at: T0,
        state: RunState::Succeeded,
        record: RunRecord { answer: Some("done".into()), ..RunRecord::default() },
        next: Next { state: EventState::Succeeded, reason: None, due_at: None, standing: Standing::default() },
        deliveries: Vec::new(),
    }
}

struct Pair {
    database: Database,
    one: Arc<Store>,
    other: Arc<Store>,
    /// The life of `one`.
    first: Boot,
    /// The life of `other`.
    second: Boot,
}

impl Pair {
    async fn begin() -> Pair {
        let database = Database::create();
        let open = async || Arc::new(Store::connect(&database.url(), &Options::default()).await.unwrap());
        let (one, other) = (open().await, open().await);
        let first = one.begin_boot("one", T0).await.unwrap();
        let second = other.begin_boot("other", T0).await.unwrap();
        Pair { database, one, other, first, second }
    }

    fn node(&self, number: usize) -> (Arc<Store>, Boot) {
        if number.is_multiple_of(2) {
            (Arc::clone(&self.one), self.first)
        } else {
            (Arc::clone(&self.other), self.second)
        }
    }

    /// Lets the lease of the first node end, as time would.
    fn lease_ends(&self) {
        let sql = "UPDATE doorbell.nodes SET lease_until = now() - interval '1 second' WHERE boot =";
        self.database.run(&format!("{sql} {}", self.first));
    }

    async fn admit(&self, count: usize) {
        for number in 0..count {
            self.one.admit(admission(&format!("ev_{number}"))).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_node_left_is_taken_over_and_the_dead_write_nothing() {
    let on = Pair::begin().await;
    on.admit(3).await;
    let run = claim_one(&on.one, on.first, "run_1").await;
    let rest = claim_one(&on.one, on.first, "run_2").await;
    assert_eq!(on.other.orphan_runs(on.second).await.unwrap(), []);
    assert_eq!(on.other.finish_run(success(&run, on.second)).await.unwrap(), Finished::Fenced, "it lives");
    on.lease_ends();
    // It was frozen and wakes: nothing that it writes counts, and it is given nothing.
    assert_eq!(on.one.finish_run(success(&run, on.first)).await.unwrap(), Finished::Fenced);
    assert!(!on.one.record_prompt("run_1", on.first, "late").await.unwrap());
    assert_eq!(on.one.claim_runs(offer(on.first, &["run_9".into()])).await.unwrap(), []);
    let orphans: Vec<_> = on.other.orphan_runs(on.second).await.unwrap().into_iter().map(|o| o.run_id).collect();
    assert_eq!(orphans, ["run_1", "run_2"]);
    assert_eq!(on.other.finish_run(success(&run, on.second)).await.unwrap(), Finished::Written);
    // From now on its life is over, for the other run too.
    assert_eq!(on.one.renew(on.first).await.unwrap(), Renewal::Lost);
    assert_eq!(on.one.finish_run(success(&rest, on.first)).await.unwrap(), Finished::Fenced);
    let again = on.one.begin_boot("one", T0).await.unwrap();
    assert_eq!(on.one.finish_run(success(&rest, again)).await.unwrap(), Finished::Written);
    assert_eq!(on.other.finish_run(success(&rest, on.second)).await.unwrap(), Finished::Fenced);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_that_nobody_used_costs_nothing() {
    let on = Pair::begin().await;
    on.admit(1).await;
    let run = claim_one(&on.one, on.first, "run_1").await;
    on.lease_ends();
    assert_eq!(on.other.orphan_runs(on.second).await.unwrap().len(), 1);
    assert!(matches!(on.one.renew(on.first).await.unwrap(), Renewal::Kept { .. }));
    assert_eq!(on.other.finish_run(success(&run, on.second)).await.unwrap(), Finished::Fenced, "it is back");
    assert_eq!(on.one.finish_run(success(&run, on.first)).await.unwrap(), Finished::Written);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_claimers_never_get_one_event_and_get_them_all() {
    let on = Pair::begin().await;
    on.admit(60).await;
    let mut claims = JoinSet::new();
    for number in 0..12 {
        let (store, boot) = on.node(number);
        let ids: Vec<String> = (0..5).map(|n| format!("run_{number}_{n}")).collect();
        claims.spawn(async move { store.claim_runs(offer(boot, &ids)).await.unwrap() });
    }
    let claimed: Vec<String> = claims.join_all().await.into_iter().flatten().map(|r| r.event_id).collect();
    assert_eq!((claimed.len(), claimed.iter().collect::<BTreeSet<_>>().len()), (60, 60));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_that_come_to_several_nodes_make_one_event() {
    let on = Pair::begin().await;
    let mut copies = JoinSet::new();
    for number in 0..60 {
        let (store, _) = on.node(number);
        let key = Some(Key { text: format!("k{}", number % 3), window: Duration::from_mins(5) });
        let copy = Admission { key, ..admission(&format!("ev_{number}")) };
        copies.spawn(async move { store.admit(copy).await.unwrap() });
    }
    let answers = copies.join_all().await;
    assert_eq!(answers.iter().filter(|a| matches!(a, Admitted::Stored { .. })).count(), 3);
    assert_eq!(on.other.status().await.unwrap().events[&EventState::Queued], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_for_all_nodes_is_kept_by_claims_at_the_same_time() {
    let on = Pair::begin().await;
    on.admit(20).await;
    let mut claims = JoinSet::new();
    for number in 0..8 {
        let (store, boot) = on.node(number);
        let mut claim = offer(boot, &[format!("run_{number}_a"), format!("run_{number}_b")]);
        claim.agents[0].cluster_limit = Some(3);
        claims.spawn(async move { store.claim_runs(claim).await.unwrap().len() });
    }
    assert_eq!(claims.join_all().await.into_iter().sum::<usize>(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_hears_of_work_that_came_to_another() {
    let on = Pair::begin().await;
    for id in ["ev_1", "ev_2", "ev_3"] {
        on.one.admit(admission(id)).await.unwrap();
        timeout(PATIENCE, on.other.changed()).await.expect("it is told");
    }
    // Where nothing comes through it looks by itself.
    let behind = Store::connect(&on.database.bouncer_url(), &Options::default()).await.unwrap();
    timeout(PATIENCE, behind.changed()).await.expect("it looks after a while");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_of_the_future_is_refused_unless_it_says_otherwise() {
    let database = Database::create();
    let connect = async || Store::connect(&database.url(), &Options::default()).await;
    connect().await.unwrap().close().await;
    database.run("UPDATE doorbell.meta SET value = 99 WHERE name IN ('schema', 'min_reader')");
    let refusal = connect().await.err().expect("a refusal").to_string();
    assert!(refusal.contains("schema 99") && refusal.contains("newer doorbell"), "{refusal}");
    database.run("UPDATE doorbell.meta SET value = 1 WHERE name = 'min_reader'");
    connect().await.unwrap().close().await;
    assert_eq!(database.run("SELECT value FROM doorbell.meta WHERE name = 'schema'"), ["99"], "it keeps its number");
}
