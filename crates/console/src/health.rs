//! Whether the gateway lives, and whether it can take work.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;

use crate::desk::Desk;

/// How long the ledger may take to say that it works: probes ask every few seconds and want an answer.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Ready is who could store an event at this moment. The body of a 503 is one word, `disk_low` or `ledger`: numbers and
/// paths are not for everybody who can reach the port; the log and `status` have them.
pub(crate) async fn ready(State(desk): State<Arc<Desk>>) -> (StatusCode, &'static str) {
    match tokio::time::timeout(PATIENCE, desk.core.ledger.probe()).await {
        Ok(Ok(())) => (StatusCode::OK, "ok\n"),
        Ok(Err(ledger::Error::DiskLow { .. })) => (StatusCode::SERVICE_UNAVAILABLE, "disk_low\n"),
        // It failed, or it did not answer in time.
        Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "ledger\n"),
    }
}
