//! Files of earlier schemas.

use std::time::Duration;

use rules::states::EventState;
use rusqlite::Connection;
use tempfile::tempdir;

use super::{T0, admission, open};
use crate::{Admission, Admitted, AgentRoom, ClaimRuns, EventQuery, Key, Ledger as _, RouteRoom, RunQuery};

const FIRST: &str = include_str!("../../migrations/0001_first.sql");

/// What a gateway of the first schema left when it was killed: an event in each state, what ran, what was told, a pause.
const LEFT: &str = "
    INSERT INTO events (seq, id, route, source, event_type, delivery_id, key, state, ready, attempt, received_at, finished_at) VALUES
        (1, 'ev_1', 'r', 'github', 'push', 'd1', 'id:d1', 'succeeded', 0, 1, 1, 2),
        (2, 'ev_2', 'r', 'github', 'push', 'd2', 'id:d2', 'running', 0, 1, 3, NULL),
        (3, 'ev_3', 'r', 'github', 'push', 'd3', 'id:d3', 'queued', 1, 0, 4, NULL),
        (4, 'ev_4', 'p', 'github', 'push', 'd4', 'id:d4', 'held', 0, 0, 4, NULL),
        (5, 'ev_5', 'r', 'github', 'push', 'd5', 'id:d5', 'failed', 0, 1, 4, NULL),
        (6, 'ev_6', 'r', 'github', 'push', 'd6', 'id:d6', 'exhausted', 0, 4, 4, 5),
        (7, 'ev_7', 'r', 'github', 'push', 'd7', 'id:d7', 'cancelled', 0, 0, 4, 5),
        (8, 'ev_8', 'r', 'github', 'push', 'd8', NULL, 'ignored', 0, 0, 4, 5);
    UPDATE events SET due_at = 10 WHERE seq = 5;
    UPDATE events SET reason = 'paused' WHERE seq = 4;
    INSERT INTO requests SELECT seq, '[]', 0, x'7b7d' FROM events;
    INSERT INTO keys SELECT route, key, seq FROM events WHERE key IS NOT NULL;
    INSERT INTO pauses VALUES ('p', 4);
    INSERT INTO runs (seq, id, event_seq, route, agent, attempt, boot, state, started_at, finished_at) VALUES
        (1, 'run_1', 1, 'r', 'a', 1, 6, 'succeeded', 1, 2), (2, 'run_2', 2, 'r', 'a', 1, 7, 'running', 3, NULL);
    INSERT INTO deliveries (seq, id, event_seq, run_seq, target, state, boot, extra, created_at) VALUES
        (1, 'dlv_1', 1, 1, 'log', 'sending', 7, '{}', 2);";

/// A file of the first schema, as that version left it.
fn file_of_the_first(path: &std::path::Path) {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
             CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
             INSERT INTO meta VALUES ('schema', 1), ('boot', 7);",
        )
        .unwrap();
    connection.execute_batch(FIRST).unwrap();
    connection.execute_batch(LEFT).unwrap();
}

#[tokio::test]
async fn a_file_of_the_first_schema_is_used_on() {
    let home = tempdir().unwrap();
    file_of_the_first(&home.path().join("doorbell.db"));
    let store = open(home.path());
    let boot = store.begin_boot("next", T0).await.unwrap();
    assert_eq!(boot, 8, "lives are numbered on");
    let orphans = store.orphan_runs(boot).await.unwrap();
    assert_eq!(orphans.iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(), ["run_2"]);
    assert!(store.adopt_delivery("dlv_1", boot).await.unwrap());
    let status = store.status().await.unwrap();
    for state in EventState::ALL {
        assert_eq!(status.events[state], 1, "{state}");
    }
    store.admit(admission("ev_9", b"{}".to_vec())).await.unwrap();
    let key = Some(Key { text: "id:d1".into(), window: Duration::from_hours(1_000_000) });
    let again = store.admit(Admission { key, ..admission("ev_10", Vec::new()) }).await.unwrap();
    assert!(matches!(again, Admitted::Duplicate { .. }), "{again:?}");
    let query = EventQuery { limit: 10, ..EventQuery::default() };
    let ids: Vec<String> = store.events(query).await.unwrap().items.into_iter().map(|event| event.id).collect();
    assert_eq!(ids, ["ev_9", "ev_8", "ev_7", "ev_6", "ev_5", "ev_4", "ev_3", "ev_2", "ev_1"]);
    // What waits goes on: the one that is due for its retry, the one of a resumed route, and those that were ready.
    assert!(store.resume("p").await.unwrap());
    let room = |route: &str| RouteRoom { route: route.into(), agent: "a".into(), room: 10 };
    let claim = ClaimRuns {
        boot,
        now: T0,
        routes: vec![room("r"), room("p")],
        agents: vec![AgentRoom { agent: "a".into(), room: 10, cluster_limit: None }],
        run_ids: (3..10).map(|number| format!("run_{number}")).collect(),
    };
    let mut begun: Vec<String> = store.claim_runs(claim).await.unwrap().into_iter().map(|run| run.event_id).collect();
    begun.sort();
    assert_eq!(begun, ["ev_3", "ev_4", "ev_5", "ev_9"]);
    assert_eq!(store.runs(RunQuery { limit: 10, ..RunQuery::default() }).await.unwrap().items.len(), 6);
    store.close().await;
    // And once more, when there is nothing to do.
    open(home.path()).close().await;
}
