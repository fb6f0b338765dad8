//! Sources for senders without a row: a route's `options` say how they sign.

use crate::scheme::{Scheme, TokenForm, hmac, token};
use crate::source::{Setting, Source};

const EVENT_HEADER: Setting =
    Setting { key: "event_header", meaning: "header with the event type; asked before the usual places" };
const ID_HEADER: Setting =
    Setting { key: "id_header", meaning: "header with the delivery id; asked before the usual places" };

const HMAC: &[Setting] = &[
    Setting { key: "header", meaning: "header with the signature; `x-webhook-signature` without it" },
    Setting { key: "algorithm", meaning: "`md5`, `sha1`, `sha256` (default), `sha384` or `sha512`" },
    Setting { key: "encoding", meaning: "how the digest is written: `hex` (default), `base64` or `base64url`" },
    Setting { key: "prefix", meaning: "text before the digest, such as `sha256=`" },
    Setting {
        key: "signed",
        meaning: "what is signed: text with `{body}`, `{timestamp}` and `{header:name}`; \
                  without it `{body}`, with a `timestamp_header` `{timestamp}.{body}`",
    },
    Setting { key: "timestamp_header", meaning: "header with the time of sending; must be part of `signed`" },
    Setting { key: "timestamp_unit", meaning: "`s` (default) or `ms`" },
    Setting { key: "secret_encoding", meaning: "how the secret is written: `raw` (default), `base64` or `hex`" },
    ID_HEADER,
    EVENT_HEADER,
];

const TOKEN: &[Setting] = &[
    Setting { key: "header", meaning: "header that equals the secret; `x-webhook-secret` without it" },
    ID_HEADER,
    EVENT_HEADER,
];

const NAMES: &[Setting] = &[ID_HEADER, EVENT_HEADER];

pub(super) fn rows() -> Vec<Source> {
    vec![
        Source { options: HMAC, ..Source::new("hmac", "Any HMAC, described by options", hmac("x-webhook-signature")) },
        Source {
            options: TOKEN,
            ..Source::new("token", "A header that equals the secret", token("x-webhook-secret", TokenForm::Plain))
        },
        Source {
            options: NAMES,
            note: "the secret is `user:password`",
            ..Source::new("basic", "Basic authentication", token("authorization", TokenForm::Basic))
        },
        Source {
            options: NAMES,
            note: "anyone who reaches the address is believed; requests that came through a proxy are refused",
            ..Source::new("none", "No authentication", Scheme::Open)
        },
    ]
}
