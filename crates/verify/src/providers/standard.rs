//! Standard Webhooks and what came before it: `id.timestamp.body`, base64, several signatures in one header.
//! Protocol: the specification at standardwebhooks.com; Svix' libraries for the older header names.

use crate::scheme::{Hmac, KeyForm, Parse, Timestamp, TimestampPlace, hmac};
use crate::source::{Setting, Source, body, header};

/// What a secret of this family begins with when the rest is base64.
pub(crate) const WHSEC: &str = "whsec_";

/// How such a secret becomes a key, unless a route says otherwise.
pub(crate) fn key_form() -> KeyForm {
    KeyForm::Base64After(WHSEC.into())
}

const OPTIONS: &[Setting] = &[Setting {
    key: "secret_encoding",
    meaning: "`raw` uses the whole text of the secret as key, `base64` decodes it with or without `whsec_`; \
              without this option only a secret that begins with `whsec_` is decoded",
}];

pub(super) fn rows() -> Vec<Source> {
    vec![
        Source {
            event: vec![body("type")],
            delivery: vec![header("svix-id")],
            options: OPTIONS,
            ..Source::new("svix", "Svix", signed_by("svix-signature", "svix-id", "svix-timestamp"))
        },
        Source {
            event: vec![body("type")],
            delivery: vec![header("webhook-id")],
            options: OPTIONS,
            ..Source::new(
                "standard-webhooks",
                "Standard Webhooks",
                signed_by("webhook-signature", "webhook-id", "webhook-timestamp"),
            )
        },
    ]
}

fn signed_by(signature: &'static str, id: &str, timestamp: &'static str) -> Hmac {
    hmac(signature)
        .parse(Parse::StandardWebhooks)
        .base64()
        .key(key_form())
        .signed(format!("{{header:{id}}}.{{timestamp}}.{{body}}"))
        .timestamp(Timestamp::seconds([TimestampPlace::Header(timestamp.into())]))
}
