//! Events: looking at them, and what a person may do with one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use gateway::ingest;
use ledger::{Event, EventQuery, Page};
use serde_json::{Value, json};

use super::id::Id;
use super::query::Query;
use super::send;
use crate::desk::Desk;
use crate::problem::Problem;

pub(super) async fn list(State(desk): State<Arc<Desk>>, uri: Uri) -> Result<Json<Page<Event>>, Problem> {
    let query = Query::read(&uri, &["route", "state", "delivery_id", "since"])?;
    let query = EventQuery {
        route: query.text("route"),
        state: query.state()?,
        delivery_id: query.text("delivery_id"),
        since: query.since(desk.core.clock.now())?,
        limit: query.limit()?,
        cursor: query.cursor(),
    };
    Ok(Json(desk.core.ledger.events(query).await?))
}

pub(super) async fn show(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<Json<Event>, Problem> {
    Ok(Json(desk.core.ledger.event(&id).await?))
}

/// The bytes as they came. A stranger wrote them: no browser is to take them for a page.
pub(super) async fn body(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<Response, Problem> {
    let request = desk.core.ledger.request(&id).await?;
    let headers = [(header::CONTENT_TYPE, "application/octet-stream"), (header::CONTENT_DISPOSITION, "attachment")];
    Ok((headers, request.body).into_response())
}

/// The same event again.
pub(super) async fn retry(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<(StatusCode, Json<Value>), Problem> {
    desk.to_the_end(async move |desk| {
        desk.core.retry_event(&id).await?;
        Ok((StatusCode::ACCEPTED, Json(json!({"status": "retried", "id": id}))))
    })
    .await
}

/// A new event from the stored request, by the rules of today.
pub(super) async fn replay(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<(StatusCode, Json<Value>), Problem> {
    desk.to_the_end(async move |desk| {
        let sent = ingest::replay(&desk.core, &id).await;
        if sent.is_ok() {
            tracing::info!(event_id = id, "event replayed by hand");
        }
        send::answer(sent)
    })
    .await
}

/// The end of an event that waits.
pub(super) async fn cancel(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<Json<Value>, Problem> {
    desk.to_the_end(async move |desk| {
        desk.core.cancel_event(&id).await?;
        Ok(Json(json!({"status": "cancelled", "id": id})))
    })
    .await
}
