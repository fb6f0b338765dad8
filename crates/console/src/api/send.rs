//! Work for a route that no provider rings for.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use config::Config;
use gateway::ingest::{self, InsideError, Send, Sent};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::body;
use crate::desk::Desk;
use crate::problem::{Kind, Problem};

/// Room for all but the payload.
const FRAME: usize = 16 << 10;
/// The longest wait that may be asked for: what [`span::Span`] allows.
const LONGEST_WAIT_MS: u64 = 36_500 * 24 * 60 * 60 * 1000;

/// The body of `POST /api/v1/send`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    route: String,
    /// Any JSON, `null` included.
    #[serde(default, deserialize_with = "present")]
    payload: Option<Value>,
    /// Instead of `payload`: JSON text that is to arrive byte for byte.
    payload_base64: Option<String>,
    id: Option<String>,
    /// How long it is to wait before it runs.
    in_ms: Option<u64>,
    #[serde(default)]
    hop: u32,
    #[serde(default)]
    from_run: bool,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

pub(super) async fn send(State(desk): State<Arc<Desk>>, body: Body) -> Result<(StatusCode, Json<Value>), Problem> {
    let config = desk.core.config();
    let body = body::read(body, largest(&config), config.server.body_timeout).await?;
    let order: Order = serde_json::from_slice(&body).map_err(|error| Problem::new(Kind::BadBody, error.to_string()))?;
    let send = order.read(&config)?;
    desk.to_the_end(async move |desk| answer(ingest::send(&desk.core, send).await)).await
}

/// The largest body that any route could take, in the longer of its two spellings.
fn largest(config: &Config) -> usize {
    let payload = config.routes.values().map(|route| route.max_body_bytes).max().unwrap_or_default();
    (payload / 3 + 1).saturating_mul(4).saturating_add(FRAME)
}

impl Order {
    fn read(self, config: &Config) -> Result<Send, Problem> {
        let bad = |detail: &str| Problem::new(Kind::BadBody, detail);
        if !config.routes.contains_key(&self.route) {
            return Err(Problem::route(&self.route));
        }
        let payload = match (self.payload, self.payload_base64) {
            (None, None) => Vec::new(),
            (Some(payload), None) => payload.to_string().into_bytes(),
            (None, Some(text)) => STANDARD.decode(text).map_err(|_| bad("payload_base64 is not base64"))?,
            (Some(_), Some(_)) => return Err(bad("give payload or payload_base64, not both")),
        };
        if self.id.as_ref().is_some_and(String::is_empty) {
            return Err(bad("id is empty; leave it out to have one made"));
        }
        if self.in_ms.is_some_and(|wait| wait > LONGEST_WAIT_MS) {
            return Err(bad("in_ms: at most 36500 days"));
        }
        let delay = self.in_ms.map(Duration::from_millis);
        Ok(Send { route: self.route, payload, id: self.id, delay, hop: self.hop, from_run: self.from_run })
    }
}

/// What became of it, in the words of the public port.
pub(super) fn answer(sent: Result<Sent, InsideError>) -> Result<(StatusCode, Json<Value>), Problem> {
    match sent {
        Ok(sent @ Sent::Accepted { .. }) => Ok((StatusCode::ACCEPTED, Json(json!(sent)))),
        Ok(sent @ (Sent::Duplicate { .. } | Sent::Ignored { .. })) => Ok((StatusCode::OK, Json(json!(sent)))),
        Ok(Sent::Limited { retry_after }) => {
            let detail = "the route has admitted as many events as its rate_limit allows in this minute";
            Err(Problem::new(Kind::RateLimited, detail).after(retry_after.as_secs().max(1)))
        }
        // A route that is not there at all was refused before, or is that of an event which is there.
        Err(error @ InsideError::UnknownRoute(_)) => Err(Problem::new(Kind::Conflict, error.to_string())),
        Err(error @ InsideError::TooLarge { .. }) => Err(Problem::new(Kind::TooLarge, error.to_string())),
        Err(error @ InsideError::NotFromAgents(_)) => Err(Problem::new(Kind::NotFromRuns, error.to_string())),
        Err(error @ InsideError::Unparsable(_)) => Err(Problem::new(Kind::UnreadablePayload, error.to_string())),
        Err(InsideError::Ledger(error)) => Err(error.into()),
    }
}
