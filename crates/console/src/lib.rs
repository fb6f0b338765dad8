//! Who is looking? The admin address: the API that commands and scripts use, metrics, health, and pages for people.
//!
//! Everything here reads the ledger and writes its wishes back to it; nothing here does the gateway's work. `door` judges
//! every request before anything else sees it.

mod api;
mod auth;
mod body;
mod desk;
mod door;
mod headers;
mod health;
mod metrics;
mod origin;
mod page;
mod problem;
mod sign_in;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use gateway::Core;
use gateway::reload::Reloader;

pub use auth::Access;
use desk::Desk;

/// The admin address of a gateway.
pub struct Console {
    desk: Arc<Desk>,
}

impl Console {
    /// A console for a gateway. `admin_url` is the address that it is served on, such as `http://127.0.0.1:8645`: its scheme
    /// decides whether cookies are for HTTPS only, its host is one that browsers may name while the address is open.
    pub fn new(core: Arc<Core>, reloader: Arc<Reloader>, access: Access, admin_url: String) -> Console {
        Console { desk: Arc::new(Desk::new(core, reloader, access, admin_url)) }
    }

    /// The service: `/api/v1/…`, `/metrics`, `/healthz`, `/readyz`, `/` and the sign-in.
    pub fn router(&self) -> Router {
        Router::new()
            .nest("/api/v1", api::router())
            .merge(page::router())
            .merge(sign_in::router())
            .route("/metrics", get(metrics::show))
            .route("/healthz", get(health::alive))
            .route("/readyz", get(health::ready))
            .fallback(problem::unknown_path)
            .method_not_allowed_fallback(problem::method_not_allowed)
            .layer(from_fn_with_state(Arc::clone(&self.desk), door::guard))
            .layer(from_fn(headers::add))
            .with_state(Arc::clone(&self.desk))
    }
}
