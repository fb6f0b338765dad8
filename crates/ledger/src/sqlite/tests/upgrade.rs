//! Files of earlier schemas.

use rules::states::EventState;
use rusqlite::Connection;
use tempfile::tempdir;

use super::{T0, admission, open};
use crate::{EventQuery, Ledger as _, RunQuery};

const FIRST: &str = include_str!("../../migrations/0001_first.sql");

/// What a gateway of the first schema left: an event that ran when it died, one that waits, one that has succeeded.
const LEFT: &str = "
    INSERT INTO events (seq, id, route, source, event_type, delivery_id, key, state, ready, attempt, received_at, finished_at) VALUES
        (1, 'ev_1', 'r', 'github', 'push', 'd1', 'id:d1', 'succeeded', 0, 1, 1, 2),
        (2, 'ev_2', 'r', 'github', 'push', 'd2', 'id:d2', 'running', 0, 1, 3, NULL),
        (3, 'ev_3', 'r', 'github', 'push', 'd3', 'id:d3', 'queued', 1, 0, 4, NULL);
    INSERT INTO requests VALUES (1, '[]', 0, x'7b7d'), (2, '[]', 0, x'7b7d'), (3, '[]', 0, x'7b7d');
    INSERT INTO keys VALUES ('r', 'id:d1', 1), ('r', 'id:d2', 2), ('r', 'id:d3', 3);
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
    assert_eq!(
        [EventState::Succeeded, EventState::Running, EventState::Queued].map(|state| status.events[&state]),
        [1, 1, 1]
    );
    store.admit(admission("ev_4", b"{}".to_vec())).await.unwrap();
    let query = EventQuery { limit: 10, ..EventQuery::default() };
    let ids: Vec<String> = store.events(query).await.unwrap().items.into_iter().map(|event| event.id).collect();
    assert_eq!(ids, ["ev_4", "ev_3", "ev_2", "ev_1"]);
    assert_eq!(store.runs(RunQuery { limit: 10, ..RunQuery::default() }).await.unwrap().items.len(), 2);
    store.close().await;
    // And once more, when there is nothing to do.
    open(home.path()).close().await;
}
