//! Deliveries: looking at them, and sending one again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use ledger::{Delivery, DeliveryQuery, Page};
use serde_json::{Value, json};

use super::id::Id;
use super::query::Query;
use crate::desk::Desk;
use crate::problem::Problem;

pub(super) async fn list(State(desk): State<Arc<Desk>>, uri: Uri) -> Result<Json<Page<Delivery>>, Problem> {
    let query = Query::read(&uri, &["event_id", "state"])?;
    let query = DeliveryQuery {
        event_id: query.text("event_id"),
        state: query.state()?,
        limit: query.limit()?,
        cursor: query.cursor(),
    };
    Ok(Json(desk.core.ledger.deliveries(query).await?))
}

pub(super) async fn show(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<Json<Delivery>, Problem> {
    Ok(Json(desk.core.ledger.delivery(&id).await?))
}

pub(super) async fn retry(State(desk): State<Arc<Desk>>, Id(id): Id) -> Result<(StatusCode, Json<Value>), Problem> {
    desk.to_the_end(async move |desk| {
        desk.core.retry_delivery(&id).await?;
        Ok((StatusCode::ACCEPTED, Json(json!({"status": "retried", "id": id}))))
    })
    .await
}
