//! The gateways of this ledger.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use ledger::{Node, Page};

use crate::desk::Desk;
use crate::problem::Problem;

/// Those that live, and those that died and left something; few enough for one page.
pub(super) async fn list(State(desk): State<Arc<Desk>>) -> Result<Json<Page<Node>>, Problem> {
    Ok(Json(Page { items: desk.core.ledger.nodes().await?, next: None }))
}
