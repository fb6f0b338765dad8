//! How it stands, in counts.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use gateway::standing::Standing;

use crate::desk::Desk;
use crate::problem::Problem;

pub(super) async fn show(State(desk): State<Arc<Desk>>) -> Result<Json<Standing>, Problem> {
    Ok(Json(Standing::of(&desk.core, Some(desk.started.elapsed().as_secs())).await?))
}
