//! A stored request, parsed again: what templates of a route are filled from.

use ledger::StoredRequest;
use rules::template::Scope;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::headers::first;

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
        Ok(Stored { headers: request.headers, payload, body_sha256 })
    }

    /// The scope of this request's templates.
    pub fn scope<'a>(&'a self, event_type: &'a str, route: &'a str, delivery_id: &'a str, event_id: &'a str) -> Scope<'a> {
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
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}
