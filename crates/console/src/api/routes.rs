//! Routes: what is configured, and whether it runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use config::{Config, Route};
use gateway::standing::RouteStanding;
use ledger::Page;
use serde::Serialize;

use super::id::Id;
use crate::desk::Desk;
use crate::problem::Problem;

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

fn view(route: &Route, config: &Config, paused: &[String]) -> RouteView {
    let RouteStanding { name, state, reason } = RouteStanding::of(route, paused);
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

/// All routes with what is configured, in the order of their names.
pub(crate) fn views(config: &Config, paused: &[String]) -> Vec<RouteView> {
    config.routes.values().map(|route| view(route, config, paused)).collect()
}

/// There are as many as somebody wrote down, so that one page always holds them.
pub(super) async fn list(State(desk): State<Arc<Desk>>) -> Result<Json<Page<RouteView>>, Problem> {
    let paused = desk.core.ledger.status().await?.paused;
    Ok(Json(Page { items: views(&desk.core.config(), &paused), next: None }))
}

pub(super) async fn pause(State(desk): State<Arc<Desk>>, Id(name): Id) -> Result<Json<RouteStanding>, Problem> {
    desk.to_the_end(|desk| hold(desk, name, true)).await
}

pub(super) async fn resume(State(desk): State<Arc<Desk>>, Id(name): Id) -> Result<Json<RouteStanding>, Problem> {
    desk.to_the_end(|desk| hold(desk, name, false)).await
}

/// Pauses or resumes; doing it twice changes nothing and is no error.
async fn hold(desk: Arc<Desk>, name: String, hold: bool) -> Result<Json<RouteStanding>, Problem> {
    let core = &desk.core;
    let config = core.config();
    let route = config.routes.get(&name).ok_or_else(|| Problem::route(&name))?;
    if hold {
        core.pause(&name).await?;
    } else {
        core.resume(&name).await?;
    }
    let paused = if hold { vec![name] } else { Vec::new() };
    Ok(Json(RouteStanding::of(route, &paused)))
}
