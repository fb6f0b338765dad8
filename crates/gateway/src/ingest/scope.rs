//! A stored request, parsed again: what templates of a route are filled from.

use config::Route;
use ledger::{Key, StoredRequest};
use rules::template::Scope;
use rules::{dedupe, line};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::headers::first;
use crate::hex::hex;

/// The largest body after inflation that a stored event may have; it was admitted below the limit of its time.
const LIMIT: usize = 1 << 30;

/// A request with its parsed payload.
#[derive(Debug)]
pub struct Stored {
    headers: Vec<(String, String)>,
    payload: Value,
    body_sha256: String,
}

/// A stored request that cannot be read again.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// Its body cannot be inflated.
    #[error("the stored body cannot be inflated: {0}")]
    Inflate(#[from] payload::InflateError),
    /// Its body cannot be parsed.
    #[error("the stored body cannot be parsed: {0}")]
    Parse(#[from] payload::ParseError),
}

impl Stored {
    /// Parses a stored request.
    pub fn parse(request: StoredRequest) -> Result<Stored, StoredError> {
        let body = payload::inflate(&request.body, first(&request.headers, "content-encoding"), LIMIT)?;
        let payload = payload::parse(&body, first(&request.headers, "content-type"))?;
        let body_sha256 = body_sha256(&request.body);
        let headers = request.headers.into_iter().filter(|(name, _)| !is_signature(name)).collect();
        Ok(Stored { headers, payload, body_sha256 })
    }

    /// The payload.
    pub(super) fn payload(&self) -> &Value {
        &self.payload
    }

    /// The headers, without signatures.
    pub(super) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The event type that the payload names, for what no source has named.
    pub(super) fn event_type(&self) -> String {
        verify::source("none").map_or_else(|| "unknown".into(), |source| verify::event_type(source, &[], &self.payload))
    }

    /// The scope of this request's templates.
    pub fn scope<'a>(
        &'a self,
        event_type: &'a str,
        route: &'a str,
        delivery_id: &'a str,
        event_id: &'a str,
    ) -> Scope<'a> {
        Scope {
            payload: &self.payload,
            event_type,
            route,
            delivery_id,
            event_id,
            headers: &self.headers,
            body_sha256: &self.body_sha256,
        }
    }
}

/// The digest of a body as received, in hexadecimal.
pub(super) fn body_sha256(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}

/// A prompt has no use for a signature, and whoever reads one beside its body could ring with it.
fn is_signature(header: &str) -> bool {
    header.contains("signature")
}

/// Where an event stands among the others of its route.
pub(super) struct Place {
    /// What must not come twice.
    pub(super) key: Key,
    /// The line it waits in.
    pub(super) line: Option<String>,
}

/// The key and the line that the route gives an event.
pub(super) fn place(route: &Route, scope: &Scope<'_>) -> Place {
    let text = dedupe::key(route.dedupe_key.as_ref(), scope, scope.delivery_id);
    Place {
        key: Key { text, window: route.dedupe_window },
        line: route.serial_by.as_ref().and_then(|template| line::value(template, scope)),
    }
}
