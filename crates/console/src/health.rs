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

pub(crate) async fn ready(State(desk): State<Arc<Desk>>) -> (StatusCode, &'static str) {
    match tokio::time::timeout(PATIENCE, desk.core.ledger.status()).await {
        Ok(Ok(_)) => (StatusCode::OK, "ok\n"),
        // Why is not said to everybody who can reach the port; the log and `status` say it.
        Ok(Err(_)) => (StatusCode::SERVICE_UNAVAILABLE, "the ledger cannot be used\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the ledger does not answer\n"),
    }
}
