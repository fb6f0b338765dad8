//! `/metrics`: the counters of this process, and gauges that are read from the ledger when somebody asks.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ledger::{Millis, Status};
use rules::states::{DeliveryState, EventState};

use crate::desk::Desk;

/// The format that `prometheus-client` writes; Prometheus has read it since 2.5.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How long the ledger may take. A scrape has its own deadline, and the counters are worth having without the gauges.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn show(State(desk): State<Arc<Desk>>) -> Response {
    let mut text = desk.core.signals.encoded();
    match tokio::time::timeout(PATIENCE, desk.core.ledger.status()).await {
        Ok(Ok(status)) => text.push_str(&gauges(&status, desk.core.clock.now())),
        Ok(Err(error)) => tracing::warn!(%error, "metrics without the gauges of the ledger"),
        Err(_) => tracing::warn!("metrics without the gauges of the ledger: it did not answer in time"),
    }
    text.push_str("# EOF\n");
    ([(header::CONTENT_TYPE, OPENMETRICS)], text).into_response()
}

fn gauges(status: &Status, now: Millis) -> String {
    let mut text = String::new();
    head(&mut text, "doorbell_events", "Events in the ledger by state.");
    for state in EventState::ALL {
        let count = status.events.get(state).copied().unwrap_or_default();
        let _ = writeln!(text, "doorbell_events{{state=\"{state}\"}} {count}");
    }
    head(&mut text, "doorbell_queue_age_seconds", "How long the oldest event that may run has waited.");
    let waited = status.oldest_waiting.map_or(0, |since| now.saturating_sub(since).max(0));
    let _ = writeln!(text, "doorbell_queue_age_seconds {}.{:03}", waited / 1000, waited % 1000);
    head(&mut text, "doorbell_deliveries_waiting", "Deliveries that are still to be sent, or sent again.");
    let waiting: u64 =
        [DeliveryState::Pending, DeliveryState::Failed].iter().filter_map(|s| status.deliveries.get(s)).sum();
    let _ = writeln!(text, "doorbell_deliveries_waiting {waiting}");
    text
}

/// The lines before a gauge. Writing to a string cannot fail.
fn head(text: &mut String, name: &str, help: &str) {
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
}
