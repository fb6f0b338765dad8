//! Every statement that runs often or over much finds its rows by an index and reads few of them, in a ledger that holds many.

use rules::states::{DeliveryState, EventState, RunState};
use scratch_postgres::Database;
use serde_json::Value;

use super::{Options, Store};
use crate::Ledger as _;
use crate::postgres::{admit, claim, deliver, recover, repair, routes, time, views};

/// Events that have ended; each has a request, a key, a run and a delivery.
const ENDED: u32 = 30_000;
/// Rows that a statement may look at: a page of 51 for each of eight states, and some.
const FEW: f64 = 450.0;

/// A ledger of many finished events and some that wait, run, or are told.
async fn full() -> Database {
    let database = Database::create();
    let store = Store::connect(&database.url(), &Options::default()).await.unwrap();
    store.begin_boot("node", super::T0).await.unwrap();
    store.close().await;
    database.run(&format!(
        "SET search_path = doorbell;
         INSERT INTO events (id, route, source, event_type, delivery_id, key, state, received_at, finished_at, attempt)
         SELECT 'ev_' || n, 'r' || n % 10, 'github', 'push', 'd-' || n, 'k-' || n,
                CASE n % 10 WHEN 0 THEN 'ignored' WHEN 1 THEN 'exhausted' ELSE 'succeeded' END, n, n, 1
         FROM generate_series(1, {ENDED}) n;
         INSERT INTO runs (id, event_seq, route, agent, attempt, boot, state, started_at, finished_at)
         SELECT 'run_' || seq, seq, route, 'a', 1, 1, 'succeeded', 1, 2 FROM events;
         INSERT INTO deliveries (id, event_seq, run_seq, target, state, extra, created_at)
         SELECT 'dlv_' || seq, seq, seq, 'log', 'delivered', '{{}}', 1 FROM events;
         INSERT INTO requests SELECT seq, '[]', 0, 'x' FROM events;
         INSERT INTO keys SELECT route, key, seq FROM events;
         INSERT INTO run_texts SELECT seq, 'x', 'x', 'x' FROM runs;
         INSERT INTO events (id, route, source, event_type, delivery_id, line, state, ready, due_at, received_at)
         SELECT 'ev_w' || n, 'r' || n % 10, 'github', 'push', 'w-' || n, 'l' || n % 50,
                CASE n % 4 WHEN 0 THEN 'failed' WHEN 1 THEN 'held' ELSE 'queued' END, n % 4 = 2,
                CASE n % 4 WHEN 0 THEN n END, 1
         FROM generate_series(1, 1000) n;
         INSERT INTO runs (id, event_seq, route, agent, attempt, boot, state, started_at)
         SELECT 'run_w' || n, n, 'r1', 'a', 1, n % 3, 'running', 1 FROM generate_series(1, 30) n;
         INSERT INTO deliveries (id, event_seq, run_seq, target, state, extra, created_at, due_at, boot)
         SELECT 'dlv_w' || n, n, n, 'log', CASE n % 2 WHEN 0 THEN 'pending' ELSE 'sending' END, '{{}}', 1,
                CASE n % 2 WHEN 0 THEN n END, n % 3
         FROM generate_series(1, 60) n;"
    ));
    database.run("VACUUM ANALYZE");
    database
}

/// What the statement did with these values, each with its type. What it changed is taken back.
fn plan(database: &Database, sql: &str, values: &[(&str, &str)]) -> Value {
    let types: Vec<_> = values.iter().map(|(kind, _)| *kind).collect();
    let given: Vec<_> = values.iter().map(|(_, value)| *value).collect();
    let list = |words: Vec<&str>| if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) };
    let told = database.run(&format!(
        "BEGIN; SET LOCAL search_path = doorbell; SET LOCAL plan_cache_mode = force_custom_plan;
         PREPARE it {} AS {sql}; EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE it {}; ROLLBACK; DEALLOCATE it",
        list(types),
        list(given)
    ));
    serde_json::from_str(&told.concat()).unwrap()
}

/// The nodes of a plan, each before those below it.
fn nodes(plan: &Value) -> Vec<&Value> {
    match plan {
        Value::Array(all) => all.iter().flat_map(nodes).collect(),
        Value::Object(node) => {
            let own = node.contains_key("Node Type").then_some(plan);
            own.into_iter().chain(node.values().flat_map(nodes)).collect()
        }
        _ => Vec::new(),
    }
}

/// How many rows of tables a node looked at.
fn looked_at(node: &Value) -> f64 {
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    let scans = node["Index Name"].is_string() || node["Node Type"] == "Seq Scan";
    let rows = number("Actual Rows") + number("Rows Removed by Filter");
    if scans { rows * number("Actual Loops") } else { 0.0 }
}

/// Asserts that the statement finds its rows by an index of `wanted`, scans no table that grows, and looks at few rows.
fn seeks(database: &Database, wanted: &str, sql: &str, values: &[(&str, &str)]) {
    let plan = plan(database, sql, values);
    let nodes = nodes(&plan);
    let indexes: Vec<_> = nodes.iter().filter_map(|node| node["Index Name"].as_str()).collect();
    assert!(wanted.split('|').any(|index| indexes.contains(&index)), "no {wanted} but {indexes:?} for {sql}: {plan:#}");
    let grows = |node: &&&Value| {
        let tables = ["events", "runs", "deliveries", "requests", "keys", "run_texts"];
        node["Node Type"] == "Seq Scan" && tables.iter().any(|table| node["Relation Name"] == *table)
    };
    assert_eq!(nodes.iter().filter(grows).count(), 0, "{sql}: {plan:#}");
    let rows: f64 = nodes.iter().map(|node| looked_at(node)).sum();
    assert!(rows <= FEW, "{rows} rows for {sql}: {plan:#}");
}

const ROUTES: (&str, &str) = ("text[]", "'{r1,r2,r3,r4,r5}'");
const SEQS: (&str, &str) = ("bigint[]", "'{101,102,103,104,105}'");
const NOW: (&str, &str) = ("bigint", "40");
const LATEST: (&str, &str) = ("bigint", "9223372036854775807");
const FIRST: (&str, &str) = ("bigint", "0");
const ROWS: (&str, &str) = ("bigint", "51");
const BOOT: (&str, &str) = ("bigint", "1");
const ROUTE: (&str, &str) = ("text", "'r1'");
const NOTHING: (&str, &str) = ("text", "NULL");

fn text(quoted: &'static str) -> (&'static str, &'static str) {
    ("text", quoted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_and_admissions_find_their_rows() {
    let on = full().await;
    seeks(&on, "events_ready", claim::HEAD, &[ROUTES, ("bigint[]", "'{}'")]);
    seeks(&on, "events_due", claim::DUE, &[NOW, ROWS]);
    let head = on.run("SELECT min(seq) FROM doorbell.events WHERE ready").concat();
    let run = [("bigint", head.as_str()), text("'run_new'"), text("'a'"), BOOT, NOW];
    seeks(&on, "events_pkey", claim::TAKE, &run);
    seeks(&on, "runs_in_flight", claim::IN_FLIGHT, &[("text[]", "'{a,b}'")]);
    seeks(&on, "deliveries_due", deliver::TAKE, &[text("'log'"), NOW, ROWS, BOOT]);
    let keys = ("text[]", "'{k-1,k-2,k-3,k-4,new}'");
    seeks(&on, "keys_pkey", admit::HOLDERS, &[ROUTES, keys]);
    seeks(&on, "events_by_route", admit::OLDEST_IGNORED, &[text("'r0'"), ROWS]);
    seeks(&on, "keys_pkey", repair::HOLDER, &[ROUTE, text("'k-1'"), ("bigint", "7")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_dead_left_is_found_by_what_is_under_way() {
    let on = full().await;
    for sql in [recover::ORPHANS, recover::RUNS_OF] {
        seeks(&on, "runs_in_flight|runs_by_state", sql, &[BOOT]);
    }
    for sql in [recover::STUCK, recover::DELIVERIES_OF] {
        seeks(&on, "deliveries_under_way|deliveries_by_state", sql, &[BOOT]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn routes_times_and_gauges_read_the_ends_of_indexes() {
    let on = full().await;
    seeks(&on, "events_by_route", routes::ROUTES_WAITING, &[]);
    seeks(&on, "events_by_route", routes::HOLD, &[ROUTE, text("'paused'")]);
    seeks(&on, "events_by_route", routes::FREE, &[ROUTE]);
    seeks(&on, "events_by_state", views::status::OLDEST, &[]);
    seeks(&on, "events_due", views::status::NEXT_EVENT, &[]);
    seeks(&on, "deliveries_next", views::status::NEXT_DELIVERY, &[]);
    seeks(&on, "events_due", time::SHIFT[0], &[NOW]);
    seeks(&on, "deliveries_next", time::SHIFT[2], &[NOW]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_reads_what_it_removes() {
    let on = full().await;
    seeks(&on, "events_finished", repair::OLD, &[text("'succeeded'"), ("bigint", "20000"), ROWS]);
    let indexes =
        ["run_texts_pkey", "runs_by_event", "deliveries_by_event", "keys_by_event", "requests_pkey", "events_pkey"];
    for (index, sql) in indexes.into_iter().zip(repair::REMOVE) {
        seeks(&on, index, sql, &[SEQS]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_read_from_their_end() {
    let on = full().await;
    let event = text("'ev_7'");
    seeks(&on, "events_pkey", views::events::ALL, &[LATEST, FIRST, FIRST, ROWS]);
    let by_delivery_id = [text("'d-7'"), LATEST, FIRST, FIRST, NOTHING, NOTHING, ROWS];
    seeks(&on, "events_by_delivery_id", views::events::BY_DELIVERY_ID, &by_delivery_id);
    let all: Vec<_> = EventState::ALL.iter().map(|state| state.as_str()).collect();
    for some in [all.clone(), vec!["succeeded"], vec!["running"]] {
        let values = |route| [route, LATEST, FIRST, ROWS, FIRST];
        seeks(&on, "events_by_route", &views::events::by_states(true, &some), &values(ROUTE));
        seeks(&on, "events_by_state", &views::events::by_states(false, &some), &values(NOTHING));
    }
    seeks(&on, "runs_by_event", views::events::LOAD, &[SEQS]);
    seeks(&on, "runs_pkey", views::runs::ALL, &[LATEST, ROWS]);
    seeks(&on, "runs_by_event", views::runs::BY_EVENT, &[event, LATEST, NOTHING, NOTHING, ROWS]);
    let all: Vec<_> = RunState::ALL.iter().map(|state| state.as_str()).collect();
    for some in [all.clone(), vec!["succeeded"], vec!["stopped"]] {
        let values = |route| [route, LATEST, FIRST, ROWS];
        seeks(&on, "runs_by_route", &views::runs::by_states(true, &some), &values(ROUTE));
        seeks(&on, "runs_by_state", &views::runs::by_states(false, &some), &values(NOTHING));
    }
    seeks(&on, "runs_pkey", views::runs::LOAD, &[SEQS]);
    seeks(&on, "deliveries_pkey", views::deliveries::ALL, &[LATEST, ROWS]);
    seeks(&on, "deliveries_by_event", views::deliveries::BY_EVENT, &[event, LATEST, NOTHING, ROWS]);
    for state in [DeliveryState::Delivered, DeliveryState::Unknown] {
        let state = format!("'{}'", state.as_str());
        seeks(&on, "deliveries_by_state", views::deliveries::BY_STATE, &[("text", &state), LATEST, ROWS]);
    }
    seeks(&on, "deliveries_pkey", views::deliveries::LOAD, &[SEQS]);
}
