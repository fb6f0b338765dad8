//! Ids and jitter: the only randomness.

use rand::Rng as _;
use rules::id;
use uuid::Uuid;

use crate::hex::hex;

/// A new event's id. Ids sort by time, so that the index over them grows at its end.
pub fn event_id() -> String {
    prefixed(id::EVENT)
}

/// A new run's id.
pub fn run_id() -> String {
    prefixed(id::RUN)
}

/// A new delivery's id.
pub fn delivery_id() -> String {
    prefixed(id::DELIVERY)
}

/// A delivery id for a request that brought none.
pub fn fresh_delivery_id() -> String {
    Uuid::now_v7().to_string()
}

/// A W3C `traceparent` (version 00, not sampled) for a run.
pub fn traceparent() -> String {
    // An all-zero id is invalid by the specification; 64 random bits are that once in the life of no machine.
    format!("00-{}-{}-00", secret(16), secret(8))
}

/// From 0 up to, not including, 1.
pub fn jitter() -> f64 {
    rand::random()
}

/// So many random bytes in hexadecimal: for tokens, secrets and trace ids.
pub fn secret(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    rand::rng().fill_bytes(&mut random);
    hex(&random)
}

fn prefixed(prefix: &str) -> String {
    format!("{prefix}{}", Uuid::now_v7().simple())
}
