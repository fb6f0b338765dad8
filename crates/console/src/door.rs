//! Who is let in, judged before any handler. What is not named here needs the token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::desk::Desk;
use crate::problem::Problem;

/// Paths that say nothing but whether the gateway works; probes name whatever host they like.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// Paths that a browser without a session is shown. They show no data without one, and other sites may link to them.
const PAGES: [&str; 5] = ["/", "/open", "/sign-in", "/sign-out", "/style.css"];

pub(crate) async fn guard(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    match judge(&desk, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn judge(desk: &Desk, request: &Request) -> Result<(), Problem> {
    let (path, headers) = (request.uri().path(), request.headers());
    if HEALTH.contains(&path) {
        return Ok(());
    }
    if desk.keeper.is_open() {
        desk.own.check_host(headers)?;
    }
    let is_page = PAGES.contains(&path);
    if !(is_page && request.method().is_safe()) {
        desk.own.check_site(headers)?;
    }
    if is_page { Ok(()) } else { desk.keeper.check(headers) }
}
