//! Ids and jitter: the only randomness.

use rand::Rng as _;
use rules::id;
use uuid::Uuid;

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
    let mut bytes = [0; 24];
    rand::rng().fill_bytes(&mut bytes);
    // All-zero ids are invalid by the specification.
    bytes[0] |= 1;
    bytes[16] |= 1;
    let hex = |part: &[u8]| part.iter().map(|b| format!("{b:02x}")).collect::<String>();
    format!("00-{}-{}-00", hex(&bytes[..16]), hex(&bytes[16..]))
}

/// From 0 up to, not including, 1.
pub fn jitter() -> f64 {
    rand::random()
}

fn prefixed(prefix: &str) -> String {
    format!("{prefix}{}", Uuid::now_v7().simple())
}
