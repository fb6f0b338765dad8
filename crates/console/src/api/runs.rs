//! Runs: looking at them, and stopping one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use gateway::run::StopWish;
use ledger::{Page, Run, RunQuery};
use serde_json::{Value, json};

use super::id::Id;
use super::query::Query;
use crate::desk::Desk;
use crate::problem::{Kind, Problem};

pub(super) async fn list(State(desk): State<Arc<Desk>>, uri: Uri) -> Result<Json<Page<Run>>, Problem> {
    let query = Query::read(&uri, &["event_id", "route", "state"])?;
    let query = RunQuery {
        event_id: query.text("event_id"),
        route: query.text("route"),
        state: query.state()?,
        limit: query.limit()?,
        cursor: query.cursor(),
    };
    Ok(Json(desk.core.ledger.runs(query).await?))
}

pub(super) async fn show(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<Json<Run>, Problem> {
    Ok(Json(desk.core.ledger.run(&id).await?))
}

/// Asks a run to stop; its event ends as cancelled when it has.
pub(super) async fn stop(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<(StatusCode, Json<Value>), Problem> {
    if desk.core.flights.stop(&id, StopWish::Person) {
        tracing::info!(run_id = id, "run stopped by hand");
        return Ok((StatusCode::ACCEPTED, Json(json!({"status": "stopping", "id": id}))));
    }
    let run = desk.core.ledger.run(&id).await?;
    let detail = if run.state.is_finished() {
        format!("{id} has already ended: {}", run.state)
    } else if desk.core.ledger.lease().is_some() {
        format!("{id} is not in flight in this gateway: stop it where it runs (`doorbell nodes` lists the others)")
    } else {
        format!("{id} is not in flight in this gateway: it is just ending, or another life of the gateway left it")
    };
    Err(Problem::new(Kind::Conflict, detail))
}
