//! Providers that sign the body together with a timestamp from a header of its own.

use crate::scheme::{Timestamp, TimestampPlace, hmac};
use crate::source::Source;

pub(super) fn rows() -> Vec<Source> {
    vec![Source::new(
        "generic-v2",
        "Hermes' generic signature",
        hmac("x-webhook-signature-v2")
            .signed("{timestamp}.{body}")
            .timestamp(Timestamp::seconds([TimestampPlace::Header("x-webhook-timestamp".into())])),
    )]
}
