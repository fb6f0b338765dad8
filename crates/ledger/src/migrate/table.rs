//! The tables of a ledger, as both stores have them.

use crate::Error;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    /// A number in a file, a truth value in a database.
    Truth,
    Text,
    Blob,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Cell {
    Null,
    Number(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// Values in the order of the table's columns, or of its key.
pub(super) type Row = Vec<Cell>;

/// Bytes of what a row holds of any length.
pub(super) fn bytes_of(row: &Row) -> usize {
    let of = |cell: &Cell| match cell {
        Cell::Null | Cell::Number(_) => 0,
        Cell::Text(text) => text.len(),
        Cell::Blob(bytes) => bytes.len(),
    };
    row.iter().map(of).sum()
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, Kind)],
    /// How many of the first columns are its key.
    pub(super) key: usize,
}

use Kind::{Blob, Number, Text, Truth};

/// In an order in which each may be read beside a copy of those before it. Left out are `meta` (what matters of it has its own
/// way), `counters` (kept by triggers) and `nodes` (no life goes on in a copy).
pub(super) const TABLES: [Table; 9] = [
    Table {
        name: "events",
        key: 1,
        columns: &[
            ("seq", Number),
            ("id", Text),
            ("route", Text),
            ("source", Text),
            ("event_type", Text),
            ("delivery_id", Text),
            ("key", Text),
            ("state", Text),
            ("reason", Text),
            ("ready", Truth),
            ("line", Text),
            ("priority", Number),
            ("due_at", Number),
            ("attempt", Number),
            ("retries_spent", Number),
            ("interruptions", Number),
            ("later_since", Number),
            ("hop", Number),
            ("superseded_by", Text),
            ("received_at", Number),
            ("finished_at", Number),
        ],
    },
    Table {
        name: "requests",
        key: 1,
        columns: &[("event_seq", Number), ("headers", Text), ("codec", Number), ("body", Blob)],
    },
    Table { name: "keys", key: 2, columns: &[("route", Text), ("key", Text), ("event_seq", Number)] },
    Table {
        name: "runs",
        key: 1,
        columns: &[
            ("seq", Number),
            ("id", Text),
            ("event_seq", Number),
            ("route", Text),
            ("agent", Text),
            ("attempt", Number),
            ("boot", Number),
            ("state", Text),
            ("started_at", Number),
            ("finished_at", Number),
            ("exit_code", Number),
            ("error", Text),
            ("session_id", Text),
            ("cost_usd", Text),
            ("usage", Text),
        ],
    },
    Table {
        name: "run_texts",
        key: 1,
        columns: &[("run_seq", Number), ("prompt", Blob), ("answer", Blob), ("stderr", Blob)],
    },
    Table {
        name: "deliveries",
        key: 1,
        columns: &[
            ("seq", Number),
            ("id", Text),
            ("event_seq", Number),
            ("run_seq", Number),
            ("target", Text),
            ("state", Text),
            ("attempts", Number),
            ("spent", Number),
            ("boot", Number),
            ("error", Text),
            ("extra", Text),
            ("due_at", Number),
            ("created_at", Number),
            ("delivered_at", Number),
        ],
    },
    Table { name: "routes", key: 1, columns: &[("route", Text)] },
    Table { name: "pauses", key: 1, columns: &[("route", Text), ("since", Number)] },
    Table { name: "rates", key: 1, columns: &[("route", Text), ("began", Number), ("admitted", Number)] },
];

/// Facts of `meta` that go along.
pub(super) const META: [&str; 2] = ["routes_told", "time"];

/// The tables whose rows are numbered, in the order of a side's marks.
pub(super) const NUMBERED: [&str; 3] = ["events", "runs", "deliveries"];

impl Table {
    pub(super) fn key_of(&self, row: &Row) -> Row {
        row[..self.key].to_vec()
    }

    /// The names of its columns, for SQL.
    pub(super) fn listed(&self) -> String {
        names(self.columns)
    }

    /// The names of its key's columns, for SQL.
    pub(super) fn key_listed(&self) -> String {
        names(&self.columns[..self.key])
    }
}

fn names(columns: &[(&str, Kind)]) -> String {
    columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// What gateways write of themselves and tell anew: it goes when a copy begins.
pub(super) const TOLD_ANEW: &str =
    "DELETE FROM routes; DELETE FROM rates; DELETE FROM nodes; DELETE FROM meta WHERE name = 'routes_told'";

/// A table with something that is not to be lost, and its rows.
pub(super) fn filled(mut number: impl FnMut(&str) -> Result<i64, Error>) -> Result<Option<(&'static str, i64)>, Error> {
    for table in TABLES.iter().filter(|table| !["routes", "rates"].contains(&table.name)) {
        let rows = number(&format!("SELECT count(*) FROM {}", table.name))?;
        if rows > 0 {
            return Ok(Some((table.name, rows)));
        }
    }
    Ok(None)
}

/// What a ledger is told apart by: its marks, the rows of each table, and the states of its events.
pub(super) fn outline(marks: [i64; 4], mut number: impl FnMut(&str) -> Result<i64, Error>) -> Result<String, Error> {
    let mut parts: Vec<String> = marks.iter().map(ToString::to_string).collect();
    for table in &TABLES {
        parts.push(number(&format!("SELECT count(*) FROM {}", table.name))?.to_string());
    }
    for sql in [
        "SELECT count(*) FROM events WHERE finished_at IS NOT NULL",
        "SELECT CAST(coalesce(sum(attempt), 0) AS bigint) FROM events",
        "SELECT CAST(coalesce(sum(attempts), 0) AS bigint) FROM deliveries",
    ] {
        parts.push(number(sql)?.to_string());
    }
    Ok(parts.join(" "))
}
