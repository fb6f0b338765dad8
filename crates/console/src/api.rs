//! `/api/v1`: one file a noun. Answers are the ledger's views as JSON; errors are problems.

mod deliveries;
mod events;
mod id;
mod nodes;
mod open_code;
mod query;
mod reload;
mod routes;
mod runs;
mod send;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::desk::Desk;

pub(crate) use routes::{RouteView, views as route_views};

pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new()
        .route("/status", get(status::show))
        .route("/nodes", get(nodes::list))
        .route("/routes", get(routes::list))
        .route("/routes/{name}/pause", post(routes::pause))
        .route("/routes/{name}/resume", post(routes::resume))
        .route("/events", get(events::list))
        .route("/events/{id}", get(events::show))
        .route("/events/{id}/body", get(events::body))
        .route("/events/{id}/retry", post(events::retry))
        .route("/events/{id}/replay", post(events::replay))
        .route("/events/{id}/cancel", post(events::cancel))
        .route("/runs", get(runs::list))
        .route("/runs/{id}", get(runs::show))
        .route("/runs/{id}/stop", post(runs::stop))
        .route("/deliveries", get(deliveries::list))
        .route("/deliveries/{id}", get(deliveries::show))
        .route("/deliveries/{id}/retry", post(deliveries::retry))
        .route("/send", post(send::send))
        .route("/reload", post(reload::reload))
        .route("/open-code", post(open_code::issue))
}
