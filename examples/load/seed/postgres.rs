//! Many finished events in a PostgreSQL database, made as those of a file are: one that the store has written, multiplied by SQL.

use ledger::Ledger;
use rules::states::EventState;
use scratch_postgres::Server;

use super::{DAY_MS, one};
use crate::stub::now_ms;

/// A delivery id that no other event has, spread over the index as providers' ids are.
const DELIVERY_ID: &str = "to_hex((n * 2654435761) & 4294967295) || '-' || lpad(to_hex(n), 12, '0')";

/// The columns of each table that are made new for the copy number `n` of the one event that is there; `{time}` is when that
/// was received. Every other column is copied.
const TABLES: [(&str, &[(&str, &str)]); 6] = [
    (
        "events",
        &[
            ("seq", "t.seq + n"),
            ("id", "left(t.id, -12) || lpad(to_hex(n), 12, '0')"),
            ("route", "'other-' || n % 10"),
            ("delivery_id", "{delivery_id}"),
            ("key", "'id:' || {delivery_id}"),
            ("received_at", "{time} + n"),
            ("finished_at", "{time} + n"),
        ],
    ),
    ("requests", &[("event_seq", "t.event_seq + n")]),
    ("keys", &[("route", "'other-' || n % 10"), ("key", "'id:' || {delivery_id}"), ("event_seq", "t.event_seq + n")]),
    (
        "runs",
        &[
            ("seq", "t.seq + n"),
            ("id", "left(t.id, -12) || lpad(to_hex(n), 12, '0')"),
            ("event_seq", "t.event_seq + n"),
            ("route", "'other-' || n % 10"),
            ("started_at", "{time} + n"),
            ("finished_at", "{time} + n"),
        ],
    ),
    ("run_texts", &[("run_seq", "t.run_seq + n")]),
    (
        "deliveries",
        &[
            ("seq", "t.seq + n"),
            ("id", "left(t.id, -12) || lpad(to_hex(n), 12, '0')"),
            ("event_seq", "t.event_seq + n"),
            ("run_seq", "t.run_seq + n"),
            ("created_at", "{time} + n"),
            ("delivered_at", "{time} + n"),
        ],
    ),
];

/// Fills an empty ledger, which is the database of `url`, with finished events.
pub(crate) async fn fill(server: &Server, url: &str, store: &dyn Ledger, count: u64) {
    let boot = store.begin_boot("bench", now_ms()).await.expect("a boot");
    one::finished(store, boot).await;
    store.end_boot(boot).await.expect("its end");
    for (table, new) in TABLES {
        copy(server, url, table, new, count - 1);
    }
    server.run(url, "VACUUM ANALYZE");
    let succeeded = store.status().await.expect("counts").events[&EventState::Succeeded];
    assert_eq!(succeeded, count, "finished events");
    store.close().await;
}

fn copy(server: &Server, url: &str, table: &str, new: &[(&str, &str)], count: u64) {
    let time = (now_ms() - DAY_MS).to_string();
    let listed = format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'doorbell' AND table_name = '{table}'
         ORDER BY ordinal_position"
    );
    let columns = server.run(url, &listed);
    assert!(new.iter().all(|(name, _)| columns.iter().any(|column| column == name)), "columns of {table}: {columns:?}");
    let value = |column: &String| match new.iter().find(|(name, _)| name == column) {
        Some((_, sql)) => sql.replace("{time}", &time).replace("{delivery_id}", DELIVERY_ID),
        None => format!("t.{column}"),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let sql = format!(
        "SET search_path = doorbell; INSERT INTO {table} ({}) SELECT {} FROM generate_series(1, {count}) n, {table} t;",
        columns.join(", "),
        values.join(", ")
    );
    server.run(url, &sql);
    if columns.iter().any(|column| column == "seq") {
        let last =
            format!("SELECT setval(pg_get_serial_sequence('doorbell.{table}', 'seq'), max(seq)) FROM doorbell.{table}");
        server.run(url, &last);
    }
}
