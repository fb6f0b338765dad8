//! What the writer promises when a step fails, or the disk is full.

use std::collections::BTreeSet;
use std::sync::Arc;

use rules::run_end::{Next, Standing};
use rules::states::{EventState, RunState};
use tempfile::tempdir;
use tokio::task::JoinSet;

use super::{T0, admission, admit, open, options};
use crate::sqlite::{Options, Store};
use crate::{AgentRoom, ClaimRuns, Error, EventQuery, FinishRun, Finished, Ignored, Ledger as _, RouteRoom, RunRecord};

/// The ids of all events.
async fn stored(store: &Store) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut query = EventQuery { limit: 1000, ..EventQuery::default() };
    loop {
        let page = store.events(query.clone()).await.unwrap();
        found.extend(page.items.into_iter().map(|e| e.id));
        let Some(next) = page.next else { return found };
        query.cursor = Some(next);
    }
}

/// Admits many events at once; which of them were answered Ok.
async fn flood(store: &Arc<Store>, prefix: &str, count: u32) -> BTreeSet<String> {
    let mut admissions = JoinSet::new();
    for number in 0..count {
        let (store, id) = (Arc::clone(store), format!("ev_{prefix}{number}"));
        // A body that does not compress, so that a page is full soon.
        let body: Vec<u8> =
            (0..3000_u32).map(|i| ((i + number).wrapping_mul(2_654_435_761) >> 11).to_le_bytes()[0]).collect();
        admissions.spawn(async move {
            match store.admit(admission(&id, body)).await {
                Ok(_) => Some(id),
                Err(Error::Unavailable(why)) => {
                    assert!(why.contains("full"), "{why}");
                    None
                }
                Err(other) => panic!("{other:?}"),
            }
        });
    }
    admissions.join_all().await.into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_database_keeps_what_was_answered_and_nothing_else() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    let mut answered = flood(&store, "a", 20).await;
    assert_eq!(answered.len(), 20, "there is room yet");
    // Room for some of what comes, in the middle of a batch.
    store.on_writer("PRAGMA max_page_count = 120").await.unwrap();
    let some = flood(&store, "b", 300).await;
    assert!(some.len() < 300, "the limit was not reached");
    answered.extend(some);
    assert_eq!(stored(&store).await, answered, "while it is open");
    // A small batch may still fit where a large one did not; then no more does, and reading goes on.
    let mut one = BTreeSet::new();
    for number in 0..120 {
        one = flood(&store, &format!("c{number}_"), 1).await;
        if one.is_empty() {
            break;
        }
        answered.extend(one.iter().cloned());
    }
    assert!(one.is_empty(), "the limit holds");
    assert_eq!(stored(&store).await, answered);
    store.close().await;
    let store = Arc::new(open(home.path()));
    assert_eq!(stored(&store).await, answered, "after it was opened again");
    // The limit was the connection's: there is room again.
    let more = flood(&store, "d", 50).await;
    assert_eq!(more.len(), 50);
    answered.extend(more);
    assert_eq!(stored(&store).await, answered);
    let counted = store.status().await.unwrap().events[&EventState::Queued];
    assert_eq!(counted, u64::try_from(answered.len()).unwrap());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raised_limit_is_felt_at_once() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    store.on_writer("PRAGMA max_page_count = 60").await.unwrap();
    let first = flood(&store, "a", 100).await;
    assert!(first.len() < 100, "the limit was not reached");
    store.on_writer("PRAGMA max_page_count = 100000").await.unwrap();
    let second = flood(&store, "b", 100).await;
    assert_eq!(second.len(), 100);
    assert_eq!(stored(&store).await, first.union(&second).cloned().collect());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_fails_takes_nothing_of_its_neighbours() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    admit(&store, "ev_taken").await.unwrap();
    let mut admissions = JoinSet::new();
    for number in 0..200 {
        let store = Arc::clone(&store);
        admissions.spawn(async move {
            let taken = number % 3 == 0;
            let id = if taken { "ev_taken".to_owned() } else { format!("ev_{number}") };
            let answer = store.admit(admission(&id, Vec::new())).await;
            assert_eq!(answer.is_err(), taken, "{answer:?}");
            id
        });
    }
    let ids: BTreeSet<String> = admissions.join_all().await.into_iter().collect();
    assert_eq!(stored(&store).await, ids);
    store.close().await;
    let store = open(home.path());
    assert_eq!(stored(&store).await, ids);
    store.close().await;
}

#[tokio::test]
async fn a_disk_that_is_nearly_full_takes_no_events_but_ends_runs() {
    let home = tempdir().unwrap();
    let store = open(home.path());
    let boot = store.begin_boot(T0).await.unwrap();
    admit(&store, "ev_1").await.unwrap();
    store.close().await;
    let store = Store::open(&Options { min_free: u64::MAX, ..options(home.path()) }).unwrap();
    let low = store.admit(admission("ev_2", Vec::new())).await.unwrap_err();
    assert!(matches!(low, Error::DiskLow { wanted: u64::MAX, free } if free > 0), "{low:?}");
    let ignored = Ignored { event: admission("ev_3", Vec::new()).event, reason: "event".into() };
    assert!(matches!(store.record_ignored(ignored).await, Err(Error::DiskLow { .. })));
    let probed = store.probe().await.unwrap_err();
    assert!(matches!(probed, Error::DiskLow { wanted: u64::MAX, free } if free > 0), "{probed:?}");
    assert_eq!(store.event("ev_1").await.unwrap().state, EventState::Queued);
    let claim = ClaimRuns {
        boot,
        now: T0,
        routes: vec![RouteRoom { route: "r".into(), agent: "a".into(), room: 1 }],
        agents: vec![AgentRoom { agent: "a".into(), room: 1 }],
        run_ids: vec!["run_1".into()],
    };
    let run = store.claim_runs(claim).await.unwrap().remove(0);
    let finish = FinishRun {
        run_id: run.run_id,
        boot,
        attempt: run.attempt,
        ended_at: T0,
        state: RunState::Succeeded,
        record: RunRecord { answer: Some("paid for".into()), ..RunRecord::default() },
        next: Next { state: EventState::Succeeded, reason: None, due_at: None, standing: Standing::default() },
        deliveries: Vec::new(),
    };
    assert_eq!(store.finish_run(finish).await.unwrap(), Finished::Written);
    assert_eq!(store.run("run_1").await.unwrap().answer.as_deref(), Some("paid for"));
    assert_eq!(store.prune(EventState::Succeeded, T0 + 1, 9).await.unwrap(), 1);
    store.close().await;
}

#[tokio::test]
async fn a_probe_says_whether_the_writer_can_write() {
    const BREAK: &str = "CREATE TEMP TRIGGER broken BEFORE UPDATE ON meta BEGIN SELECT RAISE(FAIL, 'on purpose'); END";
    const MEND: &str = "DROP TRIGGER IF EXISTS broken";
    let home = tempdir().unwrap();
    let store = open(home.path());
    for writable in [true, false, true] {
        store.on_writer(if writable { MEND } else { BREAK }).await.unwrap();
        match store.probe().await {
            Ok(()) => assert!(writable),
            Err(Error::Unavailable(why)) => assert!(!writable && why.contains("on purpose"), "{why}"),
            Err(other) => panic!("{other:?}"),
        }
    }
    store.close().await;
    // Each of them reached the file: a write of the same bytes would not.
    let raw = rusqlite::Connection::open(home.path().join("doorbell.db")).unwrap();
    let probes: i64 = raw.query_row("SELECT value FROM meta WHERE name = 'probes'", [], |row| row.get(0)).unwrap();
    assert_eq!(probes, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_handed_in_before_closing_is_kept() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    let mut admissions = JoinSet::new();
    for number in 0..150 {
        let (store, id) = (Arc::clone(&store), format!("ev_{number}"));
        admissions.spawn(async move { (id.clone(), store.admit(admission(&id, Vec::new())).await) });
    }
    let first = admissions.join_next().await.unwrap().unwrap();
    store.close().await;
    let mut kept = BTreeSet::new();
    for (id, answer) in admissions.join_all().await.into_iter().chain([first]) {
        match answer {
            Ok(_) => assert!(kept.insert(id)),
            Err(error) => assert_eq!(error, Error::Closed),
        }
    }
    let store = open(home.path());
    assert_eq!(stored(&store).await, kept);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_panics_costs_its_batch_and_not_the_ledger() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    for round in 0..3 {
        let mut admissions = JoinSet::new();
        for number in 0..40 {
            let (store, id) = (Arc::clone(&store), format!("ev_{round}_{number}"));
            admissions.spawn(async move { (id.clone(), store.admit(admission(&id, Vec::new())).await) });
        }
        let before = stored(&store).await;
        let broken = store.break_off().await.unwrap_err();
        assert!(matches!(&broken, Error::Unavailable(why) if why.contains("broke off")), "{broken:?}");
        let mut acknowledged = BTreeSet::new();
        for (id, answer) in admissions.join_all().await {
            match answer {
                Ok(_) => assert!(acknowledged.insert(id)),
                Err(Error::Unavailable(why)) => assert!(why.contains("broke off"), "{why}"),
                Err(other) => panic!("{other:?}"),
            }
        }
        let now = stored(&store).await;
        assert!(acknowledged.is_subset(&now) && before.is_subset(&now));
        admit(&store, &format!("ev_after_{round}")).await.unwrap();
    }
    let kept = stored(&store).await;
    store.close().await;
    let store = open(home.path());
    assert_eq!(stored(&store).await, kept);
    store.close().await;
}
