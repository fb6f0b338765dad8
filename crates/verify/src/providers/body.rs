//! Providers that sign the raw body and put the digest into a header of its own.

use std::time::Duration;

use crate::scheme::{Timestamp, TimestampPlace, hmac};
use crate::source::{Source, body, header};

pub(super) fn rows() -> Vec<Source> {
    vec![
        // docs.github.com, "Validating webhook deliveries".
        Source {
            event: vec![header("x-github-event")],
            delivery: vec![header("x-github-delivery")],
            ping: Some(("x-github-event", "ping")),
            ..Source::new("github", "GitHub", hmac("x-hub-signature-256").prefix("sha256="))
        },
        // What Hermes Agent and Doorbell send themselves.
        Source {
            event: vec![header("x-hermes-event")],
            delivery: vec![header("x-hermes-delivery")],
            ..Source::new("hermes", "Hermes Agent, Doorbell", hmac("x-hermes-signature-256").prefix("sha256="))
        },
        // Linear's own SDK reads the time from the body, and from the header where the body has none.
        Source {
            event: vec![header("linear-event"), body("type")],
            delivery: vec![header("linear-delivery")],
            note: "requests older than a minute are refused; `tolerance` changes that",
            ..Source::new(
                "linear",
                "Linear",
                hmac("linear-signature").timestamp(
                    Timestamp::millis([
                        TimestampPlace::Body("webhookTimestamp".into()),
                        TimestampPlace::Header("linear-timestamp".into()),
                    ])
                    .within(Duration::from_mins(1)),
                ),
            )
        },
        Source {
            deprecated: true,
            note: "a captured request can be sent again at any time: prefer generic-v2",
            ..Source::new("generic-v1", "Hermes' generic signature without a timestamp", hmac("x-webhook-signature"))
        },
    ]
}
