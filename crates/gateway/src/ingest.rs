//! Taking requests: from the socket to the ledger.
//!
//! The order of the steps is the product's promise: nothing but counters is written before the signature has passed, and
//! nothing is acknowledged before the event is on disk. `pipeline.rs` is that order; the other files are its steps.

mod answer;
mod body;
mod conditions;
mod headers;
mod inside;
mod pipeline;
mod scope;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use tokio::sync::Semaphore;

pub use inside::{InsideError, Send, Sent, replay, send};
pub use scope::{Stored, StoredError};

use crate::Core;
use answer::Answer;

/// Bytes of bodies that may be in flight at once; further senders wait, then are told to come back.
const BODIES_IN_FLIGHT: usize = 64 << 20;

/// What handlers share.
struct Ingest {
    core: Arc<Core>,
    /// One permit is a KiB.
    bodies: Semaphore,
}

/// The public port: `/health`, `/webhooks/{route}` and `/p/{profile}/webhooks/{route}`, each of these two with or without a
/// slash at its end: senders add one, and few follow a redirect with the body.
pub fn router(core: Arc<Core>) -> Router {
    let ingest = Arc::new(Ingest { core, bodies: Semaphore::new(BODIES_IN_FLIGHT / 1024) });
    Router::new()
        .route("/health", get(health))
        .route("/webhooks/{route}", any(default_profile))
        .route("/webhooks/{route}/", any(default_profile))
        .route("/p/{profile}/webhooks/{route}", any(named_profile))
        .route("/p/{profile}/webhooks/{route}/", any(named_profile))
        .fallback(async |request: Request| refuse(request, Answer::NotFound))
        .method_not_allowed_fallback(async |request: Request| refuse(request, Answer::MethodNotAllowed("GET, HEAD")))
        .with_state(ingest)
}

async fn health() -> Response {
    Answer::Healthy.into_response()
}

/// Answers a request whose body nobody wants.
fn refuse(request: Request<Body>, answer: Answer) -> Response {
    body::linger(request.into_body());
    answer.into_response()
}

/// A path whose escapes are no UTF-8 names nothing.
type Named<T> = Result<Path<T>, PathRejection>;

async fn default_profile(State(ingest): State<Arc<Ingest>>, path: Named<String>, request: Request) -> Response {
    match path {
        Ok(Path(route)) => respond(ingest, "default".into(), route, request).await,
        Err(_) => refuse(request, Answer::NotFound),
    }
}

async fn named_profile(State(ingest): State<Arc<Ingest>>, path: Named<(String, String)>, request: Request) -> Response {
    match path {
        Ok(Path((profile, route))) => respond(ingest, profile, route, request).await,
        Err(_) => refuse(request, Answer::NotFound),
    }
}

async fn respond(ingest: Arc<Ingest>, profile: String, route: String, request: Request) -> Response {
    let tracker = ingest.core.tasks.clone();
    // A sender may hang up at any moment, and its handler is dropped then. A task of its own goes on.
    let work = tracker.spawn(async move {
        let began = Instant::now();
        let (known, answer) = pipeline::run(&ingest, &profile, &route, request).await;
        let label = if known { route.as_str() } else { "" };
        ingest.core.signals.request(label, answer.outcome(), answer.status().as_u16(), began.elapsed());
        answer
    });
    // A panic in the pipeline is a fault of ours: nothing was promised, the sender comes back.
    work.await.unwrap_or(Answer::CannotStore { retry_after: pipeline::COME_BACK }).into_response()
}
