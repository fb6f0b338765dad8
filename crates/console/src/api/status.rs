//! How it stands, in counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use rules::states::{DeliveryState, EventState};
use serde::Serialize;

use super::routes::{RouteStatus, statuses};
use crate::desk::Desk;
use crate::problem::Problem;

/// The answer of `GET /api/v1/status`. Every state is there, those without anything with 0.
#[derive(Serialize)]
pub(super) struct StatusView {
    version: &'static str,
    node: String,
    uptime_s: u64,
    events: BTreeMap<EventState, u64>,
    runs: Runs,
    deliveries: BTreeMap<DeliveryState, u64>,
    hooks: BTreeMap<String, u64>,
    routes: Vec<RouteStatus>,
}

#[derive(Serialize)]
struct Runs {
    running: u64,
}

pub(super) async fn show(State(desk): State<Arc<Desk>>) -> Result<Json<StatusView>, Problem> {
    let status = desk.core.ledger.status().await?;
    Ok(Json(StatusView {
        version: env!("CARGO_PKG_VERSION"),
        node: desk.node.clone(),
        uptime_s: desk.started.elapsed().as_secs(),
        events: complete(EventState::ALL, &status.events),
        runs: Runs { running: status.running },
        deliveries: complete(DeliveryState::ALL, &status.deliveries),
        hooks: BTreeMap::new(),
        routes: statuses(&desk.core.config(), &status.paused),
    }))
}

fn complete<S: Copy + Ord>(all: &[S], counts: &BTreeMap<S, u64>) -> BTreeMap<S, u64> {
    all.iter().map(|state| (*state, counts.get(state).copied().unwrap_or_default())).collect()
}
