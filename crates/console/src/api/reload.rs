//! Reading the configuration again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use gateway::reload::ReloadError;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::problem::{Kind, Problem};

pub(super) async fn reload(State(desk): State<Arc<Desk>>) -> Result<Json<Value>, Problem> {
    desk.to_the_end(async move |desk| match desk.reloader.reload().await {
        Ok(notes) => Ok(Json(json!({"status": "reloaded", "notes": notes}))),
        Err(ReloadError::Problems(problems)) => Err(Problem::configuration(&problems)),
        Err(error @ ReloadError::Certificate(_)) => Err(Problem::new(Kind::Configuration, error.to_string())),
        Err(ReloadError::Ledger(error)) => Err(error.into()),
    })
    .await
}
