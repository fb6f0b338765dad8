//! Every query that runs often or over much reads one index from its end, and never a whole table.

use rusqlite::Connection;

use super::open;
use crate::sqlite::{admit, claim, connect, deliver, lines, repair, routes, time, views};
use rules::states::{DeliveryState, EventState, RunState};

/// The steps of a query's plan.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let none = vec![rusqlite::types::Null; statement.parameter_count()];
    let rows = statement.query_map(rusqlite::params_from_iter(none), |row| row.get(3)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Whether a step reads a whole table of rows that become many.
fn scans(step: &str) -> bool {
    const TABLES: [&str; 9] = ["events", "e", "runs", "r", "deliveries", "d", "keys", "requests", "run_texts"];
    step.strip_prefix("SCAN ").is_some_and(|rest| TABLES.contains(&rest.split(' ').next().unwrap_or_default()))
}

/// Asserts that the query reads from `index` at the place that is sought, sorts nothing, and scans nothing.
fn seeks(connection: &Connection, sql: &str, index: &str) {
    let plan = plan(connection, sql);
    let from_index = |step: &String| step.starts_with("SEARCH ") && step.split_whitespace().any(|word| word == index);
    assert!(plan.iter().any(from_index), "no search of {index} in {plan:#?}");
    assert!(!plan.iter().any(|step| scans(step) || step.contains("TEMP B-TREE")), "{plan:#?}");
}

/// For a page of several states: each state seeks its place in the index, and only the rows of the page are sorted together.
fn merges(connection: &Connection, sql: &str, index: &str) {
    let plan = plan(connection, sql);
    let from_table: Vec<_> = plan.iter().filter(|step| !step.contains("subquery") && step.contains("INDEX")).collect();
    assert!(!from_table.is_empty(), "{plan:#?}");
    let sought = |step: &&&String| step.starts_with("SEARCH ") && step.contains(index) && step.contains("state=?");
    assert_eq!(from_table.iter().filter(sought).count(), from_table.len(), "{plan:#?}");
    assert!(!plan.iter().any(|step| scans(step)), "{plan:#?}");
}

async fn with_connection(check: impl FnOnce(&Connection)) {
    use crate::Ledger as _;
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    check(&connect(&home.path().join("doorbell.db"), true).unwrap());
    store.close().await;
}

#[tokio::test]
async fn claims_read_their_indexes() {
    with_connection(|connection| {
        seeks(connection, claim::HEAD, "events_ready");
        seeks(connection, claim::DUE, "events_due");
        seeks(connection, lines::LINE_HEAD, "events_line");
        seeks(connection, lines::LINE_RUNS, "events_by_route");
        seeks(connection, lines::LINE_STANDS_BACK, "events_line_ready");
        seeks(connection, deliver::DUE, "deliveries_due");
        seeks(connection, admit::OLDEST_IGNORED, "events_by_route");
        seeks(connection, repair::HOLDER, "KEY");
        seeks(connection, routes::ROUTES_WAITING, "events_by_route");
        for sql in time::SHIFT {
            assert!(!plan(connection, sql).iter().any(|step| step.ends_with("events") || step.ends_with("deliveries")));
        }
        for sql in [routes::HOLD, routes::FREE] {
            seeks(connection, sql, "events_by_route");
            assert!(plan(connection, sql)[0].contains("state=?"), "not all that the route ever had");
        }
    })
    .await;
}

#[tokio::test]
async fn pruning_reads_its_index() {
    with_connection(|connection| {
        seeks(connection, repair::OLD, "events_finished");
        seeks(connection, repair::OLD, "deliveries_by_event");
        for sql in repair::REMOVE {
            let plan = plan(connection, sql);
            assert!(!plan.iter().any(|step| scans(step)), "{plan:#?}");
        }
    })
    .await;
}

#[tokio::test]
async fn gauges_read_the_ends_of_indexes() {
    with_connection(|connection| {
        seeks(connection, views::status::OLDEST, "events_by_state");
        seeks(connection, views::status::NEXT_EVENT, "events_due");
        seeks(connection, views::status::NEXT_DELIVERY, "deliveries_next");
    })
    .await;
}

#[tokio::test]
async fn listings_read_their_indexes() {
    with_connection(|connection| {
        seeks(connection, views::events::ALL, "PRIMARY");
        seeks(connection, views::events::BY_DELIVERY_ID, "events_by_delivery_id");
        seeks(connection, views::runs::ALL, "PRIMARY");
        seeks(connection, views::runs::BY_EVENT, "runs_by_event");
        seeks(connection, views::deliveries::ALL, "PRIMARY");
        seeks(connection, views::deliveries::BY_EVENT, "deliveries_by_event");
        seeks(connection, &views::deliveries::by_state(DeliveryState::Pending), "deliveries_by_state");
        let states: Vec<_> = EventState::ALL.iter().map(|s| s.as_str()).collect();
        seeks(connection, &views::events::by_states(true, &states[..1]), "events_by_route");
        seeks(connection, &views::events::by_states(false, &states[..1]), "events_by_state");
        merges(connection, &views::events::by_states(true, &states), "events_by_route");
        let states: Vec<_> = RunState::ALL.iter().map(|s| s.as_str()).collect();
        seeks(connection, &views::runs::by_states(false, &states[..1]), "runs_by_state");
        merges(connection, &views::runs::by_states(true, &states), "runs_by_route");
    })
    .await;
}
