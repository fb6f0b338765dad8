//! Routes: what is configured, and whether it runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use config::{Config, Route};
use ledger::Page;
use serde::Serialize;

use super::id::Id;
use crate::desk::Desk;
use crate::problem::Problem;

/// Whether a route works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RouteStatus {
    pub(crate) name: String,
    /// `active`, `paused` or `disabled`.
    pub(crate) state: &'static str,
    pub(crate) reason: Option<&'static str>,
}

/// A route as `GET /api/v1/routes` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RouteView {
    pub(crate) name: String,
    pub(crate) state: &'static str,
    pub(crate) reason: Option<&'static str>,
    /// Its path on the public port.
    pub(crate) path: String,
    /// The same with `server.public_url`, where that is set.
    pub(crate) url: Option<String>,
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) deliver: Vec<String>,
    pub(crate) description: String,
}

fn status(route: &Route, paused: &[String]) -> RouteStatus {
    let (state, reason) = if !route.enabled {
        ("disabled", Some("enabled: false"))
    } else if paused.contains(&route.name) {
        ("paused", Some("by_hand"))
    } else {
        ("active", None)
    };
    RouteStatus { name: route.name.clone(), state, reason }
}

fn view(route: &Route, config: &Config, paused: &[String]) -> RouteView {
    let RouteStatus { name, state, reason } = status(route, paused);
    let path = match route.profile.as_str() {
        "default" => format!("/webhooks/{name}"),
        profile => format!("/p/{profile}/webhooks/{name}"),
    };
    RouteView {
        name,
        state,
        reason,
        url: config.server.public_url.as_ref().map(|url| format!("{url}{path}")),
        path,
        source: route.verifier.source_name().to_owned(),
        agent: route.agent.clone(),
        deliver: route.deliver.iter().map(|delivery| delivery.target.clone()).collect(),
        description: route.description.clone(),
    }
}

/// All routes, in the order of their names.
pub(super) fn statuses(config: &Config, paused: &[String]) -> Vec<RouteStatus> {
    config.routes.values().map(|route| status(route, paused)).collect()
}

/// All routes with what is configured, in the order of their names.
pub(crate) fn views(config: &Config, paused: &[String]) -> Vec<RouteView> {
    config.routes.values().map(|route| view(route, config, paused)).collect()
}

/// There are as many as somebody wrote down, so that one page always holds them.
pub(super) async fn list(State(desk): State<Arc<Desk>>) -> Result<Json<Page<RouteView>>, Problem> {
    let paused = desk.core.ledger.status().await?.paused;
    Ok(Json(Page { items: views(&desk.core.config(), &paused), next: None }))
}

pub(super) async fn pause(State(desk): State<Arc<Desk>>, Id(name): Id) -> Result<Json<RouteStatus>, Problem> {
    desk.to_the_end(|desk| hold(desk, name, true)).await
}

pub(super) async fn resume(State(desk): State<Arc<Desk>>, Id(name): Id) -> Result<Json<RouteStatus>, Problem> {
    desk.to_the_end(|desk| hold(desk, name, false)).await
}

/// Pauses or resumes; doing it twice changes nothing and is no error.
async fn hold(desk: Arc<Desk>, name: String, hold: bool) -> Result<Json<RouteStatus>, Problem> {
    let core = &desk.core;
    let config = core.config();
    let route = config.routes.get(&name).ok_or_else(|| Problem::route(&name))?;
    let changed = if hold {
        core.ledger.pause(&name, core.clock.now()).await?
    } else {
        let changed = core.ledger.resume(&name).await?;
        core.runs_bell.notify_one();
        changed
    };
    if changed {
        tracing::info!(route = name, "{}", if hold { "route paused" } else { "route resumed" });
    }
    let paused = if hold { vec![name] } else { Vec::new() };
    Ok(Json(status(route, &paused)))
}
