//! One event of each kind, written by the store as the gateway has it write.

use std::path::Path;
use std::time::Duration;

use ledger::sqlite::Store;
use ledger::{
    Admission, Admitted, AgentRoom, Boot, ClaimDeliveries, ClaimRuns, ClaimedRun, DeliveryEnd, FinishRun, Finished,
    Key, Ledger, NewDelivery, NewEvent, RouteRoom, RunRecord, StoredRequest, TargetRoom,
};
use rules::run_end::{Next, Standing};
use rules::states::{DeliveryState, EventState, RunState};
use rusqlite::{Connection, params};

use super::multiply::Example;
use super::{BODY_BYTES, Content, options};
use crate::gateway::{SECRET, other_route};
use crate::request::Shape;
use crate::stub::now_ms;

/// Those that are wanted.
#[derive(Default)]
pub(super) struct Examples {
    pub(super) finished: Option<Example>,
    pub(super) waiting: Option<Example>,
    pub(super) in_line: Option<Example>,
}

/// Writes an event of each kind that the content has.
pub(super) async fn of_each(home: &Path, content: Content) -> Examples {
    let store = Store::open(&options(home)).expect("a ledger");
    let boot = store.begin_boot("bench", now_ms()).await.expect("a boot");
    let mut ids = [None, None, None];
    if content.finished > 0 {
        ids[0] = Some(finished(&store, boot).await);
    }
    if content.waiting > 0 {
        ids[1] = Some(admit(&store, "queue", None).await);
    }
    if content.in_line > 0 {
        ids[2] = Some(admit(&store, "line", Some("push")).await);
    }
    store.close().await;
    let connection = Connection::open(options(home).path).expect("the ledger's file");
    let [finished, waiting, in_line] = ids.map(|id| id.map(|id| example(&connection, &id)));
    Examples { finished, waiting, in_line }
}

/// An event that succeeded and whose answer was delivered; answers its id.
pub(super) async fn finished(store: &dyn Ledger, boot: Boot) -> String {
    let route = other_route(0);
    let id = admit(store, &route, None).await;
    let run = claim(store, boot, &[route]).await.expect("the event runs");
    finish(store, boot, &run, true).await;
    deliver(store, boot).await;
    id
}

fn example(connection: &Connection, id: &str) -> Example {
    let number =
        |sql: &str| connection.query_row(sql, params![id], |row| row.get::<_, Option<i64>>(0)).expect("numbers");
    Example {
        event: number("SELECT seq FROM events WHERE id = ?1").expect("the event"),
        run: number("SELECT max(seq) FROM runs WHERE event_seq = (SELECT seq FROM events WHERE id = ?1)"),
        delivery: number("SELECT max(seq) FROM deliveries WHERE event_seq = (SELECT seq FROM events WHERE id = ?1)"),
    }
}

fn fresh(prefix: &str) -> String {
    format!("{prefix}{}", uuid::Uuid::now_v7().simple())
}

/// Stores an event as ingest does; answers its id.
pub(crate) async fn admit(store: &dyn Ledger, route: &str, line: Option<&str>) -> String {
    // As long as those that are made of it.
    let delivery_id = fresh("")[11..].to_owned();
    let delivery_id = format!("{}-{}", &delivery_id[..8], &delivery_id[8..20]);
    let request = Shape::github(route, SECRET, BODY_BYTES).make(&delivery_id, 0);
    let id = fresh("ev_");
    let event = NewEvent {
        id: id.clone(),
        route: route.to_owned(),
        source: "github".into(),
        event_type: "push".into(),
        delivery_id: delivery_id.clone(),
        line: line.map(str::to_owned),
        priority: 0,
        hop: 0,
        due_at: None,
        received_at: now_ms(),
        request: StoredRequest { headers: request.headers(), body: request.body() },
    };
    let key = Key { text: format!("id:{delivery_id}"), window: Duration::from_hours(1) };
    let admitted = store.admit(Admission { event, key: Some(key), rate_per_minute: 0 }).await.expect("an admission");
    assert!(matches!(admitted, Admitted::Stored { state: EventState::Queued }), "{admitted:?}");
    id
}

/// Starts one run of these routes, as the scheduler does: all of them offered, one agent.
pub(crate) async fn claim(store: &dyn Ledger, boot: Boot, routes: &[String]) -> Option<ClaimedRun> {
    let room = |route: &String| RouteRoom { route: route.clone(), agent: "stamp".into(), room: u32::MAX };
    let claim = ClaimRuns {
        boot,
        now: now_ms(),
        routes: routes.iter().map(room).collect(),
        agents: vec![AgentRoom { agent: "stamp".into(), room: 1, cluster_limit: None }],
        run_ids: vec![fresh("run_")],
    };
    store.claim_runs(claim).await.expect("a claim").pop()
}

/// Ends a run with success, and with an answer to deliver when that is wanted.
pub(crate) async fn finish(store: &dyn Ledger, boot: Boot, run: &ClaimedRun, with_delivery: bool) {
    let now = now_ms();
    let prompt = format!("A push of main: {}", "the words of a prompt of usual length. ".repeat(20));
    store.record_prompt(&run.run_id, boot, &prompt).await.expect("a prompt");
    let delivery = NewDelivery {
        id: fresh("dlv_"),
        target: "log".into(),
        state: DeliveryState::Pending,
        error: None,
        extra: serde_json::Map::new(),
        created_at: now,
    };
    let record = RunRecord {
        exit_code: Some(0),
        answer: Some("The answer of an agent that was asked about a push, in a few lines. ".repeat(5)),
        ..RunRecord::default()
    };
    let end = FinishRun {
        run_id: run.run_id.clone(),
        boot,
        attempt: run.attempt,
        ended_at: now,
        state: RunState::Succeeded,
        record,
        next: Next { state: EventState::Succeeded, reason: None, due_at: None, standing: Standing::default() },
        deliveries: if with_delivery { vec![delivery] } else { Vec::new() },
    };
    assert_eq!(store.finish_run(end).await.expect("an end"), Finished::Written);
}

async fn deliver(store: &dyn Ledger, boot: Boot) {
    let now = now_ms();
    let targets = vec![TargetRoom { target: "log".into(), room: 1 }];
    let claimed = store.claim_deliveries(ClaimDeliveries { boot, now, targets }).await.expect("a claim");
    for delivery in claimed {
        let end = DeliveryEnd {
            id: delivery.id,
            boot,
            attempt: delivery.attempt,
            state: DeliveryState::Delivered,
            error: None,
            due_at: None,
            now,
        };
        assert!(store.finish_delivery(end).await.expect("an end"), "the delivery was ours");
    }
}
