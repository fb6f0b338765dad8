//! One-time links that sign a browser in: `doorbell open` prints one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::auth;
use crate::desk::Desk;

pub(super) async fn issue(State(desk): State<Arc<Desk>>) -> Json<Value> {
    let url = format!("{}/open?code={}", desk.own.url, desk.keeper.new_code());
    Json(json!({"url": url, "expires_in_s": auth::CODE.as_secs()}))
}
