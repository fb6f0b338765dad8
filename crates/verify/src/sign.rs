//! Our own signing: what Doorbell sends is signed so that the sources `hermes`, `github` and `standard-webhooks` believe it.

use crate::engine::of_secret;
use crate::providers::key_form;
use crate::scheme::{Algorithm, Encoding};
use crate::secret::Secret;

/// The value of `X-Hermes-Signature-256` over `body`: `sha256=` and the HMAC-SHA256 in hex.
pub fn hermes(secret: &Secret, body: &[u8]) -> String {
    prefixed_hex(secret, body)
}

/// The value of `X-Hub-Signature-256` over `body`: `sha256=` and the HMAC-SHA256 in hex.
pub fn github(secret: &Secret, body: &[u8]) -> String {
    prefixed_hex(secret, body)
}

/// The value of `webhook-signature` over `id.timestamp.body`: `v1,` and the HMAC-SHA256 in base64.
///
/// `timestamp_s` is in Unix seconds. A secret that is base64 after `whsec_` is decoded, every other one is used as it
/// stands. Whether a secret that begins with `whsec_` can be decoded is told by [`crate::Verifier::new`] for the source
/// `standard-webhooks`.
pub fn standard(secret: &Secret, id: &str, timestamp_s: i64, body: &[u8]) -> String {
    let key = of_secret(&key_form(), secret).unwrap_or_else(|_| secret.expose().as_bytes().to_vec());
    let digest = Algorithm::Sha256.hmac(&key, &[format!("{id}.{timestamp_s}.").as_bytes(), body]);
    format!("v1,{}", Encoding::Base64.encode(&digest))
}

fn prefixed_hex(secret: &Secret, body: &[u8]) -> String {
    let digest = Algorithm::Sha256.hmac(secret.expose().as_bytes(), &[body]);
    format!("sha256={}", Encoding::Hex.encode(&digest))
}
