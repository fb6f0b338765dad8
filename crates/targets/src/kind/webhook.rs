//! `webhook`: a signed POST to any receiver.

use std::sync::Arc;

use serde_json::{Map, Value};
use verify::Secret;

use super::{Kind, Resend, Tell};
use crate::key::{IDEMPOTENT, Key, Shape};
use crate::literal::{check_route, check_url, pick};
use crate::mask::Mask;
use crate::message::Message;
use crate::options::{Options, TargetError};
use crate::step::{Http, Invalid, Step, Surroundings};

const STYLES: [&str; 2] = ["hermes", "standard"];

pub(crate) const KIND: Kind = Kind {
    name: "webhook",
    about: "any HTTP receiver, by a signed POST",
    told: "`POST url` with the JSON of `file` and `hop`; headers `X-Hermes-Event: delivery`, `X-Hermes-Delivery`, \
           `X-Hermes-Hop`, `X-Hermes-Signature-256`, or those of Standard Webhooks",
    limit: "none: always one request",
    resend: Resend::IfIdempotent,
    keys: &[
        Key::new("url", Shape::Text, "The receiver's address. A literal, here or in `deliver_extra`.").also_in_route(),
        Key::new("secret", Shape::Text, "The key that signs the body; without one, messages go out unsigned.")
            .credential(),
        Key::new(
            "style",
            Shape::OneOf(&STYLES),
            "Which headers sign it: `hermes` (`X-Hermes-…`) or `standard` (Standard Webhooks: `webhook-id`, \
             `webhook-timestamp`, `webhook-signature`).",
        )
        .default("hermes"),
        Key::new("headers", Shape::Pairs, "Further headers, literals.").credential(),
        IDEMPOTENT,
    ],
    read,
};

/// What the request itself needs, or what says who sent it: not for `headers`.
const OWN_HEADERS: [&str; 8] = [
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
    "upgrade",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
];

#[derive(Clone, Copy, Debug)]
enum Style {
    Hermes,
    Standard,
}

struct Webhook {
    url: Option<String>,
    secret: Option<Secret>,
    style: Style,
    headers: Vec<(String, String)>,
}

/// Address and header values may be credentials.
impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("secret", &self.secret).field("style", &self.style).finish_non_exhaustive()
    }
}

fn read(options: &mut Options) -> Arc<dyn Tell> {
    let url = options.text("url");
    if let Some(why) = url.as_deref().and_then(|url| check_url(url).err()) {
        options.error("url", why);
    }
    let style = if options.one_of("style", &STYLES) == "standard" { Style::Standard } else { Style::Hermes };
    let secret = options.text("secret").map(Secret::new);
    let headers = options.pairs("headers");
    for (name, value) in &headers {
        if let Some(why) = header_error(name, value) {
            options.error(&format!("headers.{name}"), why);
        }
    }
    Arc::new(Webhook { url, secret, style, headers })
}

/// What is wrong with a configured header; never says its value.
fn header_error(name: &str, value: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    if !is_token(name) {
        Some("not a header's name: letters, digits and - only")
    } else if OWN_HEADERS.contains(&lower.as_str()) || lower.starts_with("x-hermes-") {
        Some("set by Doorbell; leave it out")
    } else if value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        None
    } else {
        Some("its value holds a control character or one outside ASCII, which a header cannot carry")
    }
}

/// A token of RFC 9110, 5.6.2.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

impl Tell for Webhook {
    fn plan(&self, message: &Message, around: &Surroundings) -> Result<Step, Invalid> {
        let url = pick("url", &message.extra, self.url.as_deref(), check_url)?.trim().to_owned();
        let mut record = message.record();
        record.insert("hop".to_owned(), message.next_hop().into());
        let body = Value::Object(record).to_string().into_bytes();
        let mut headers = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("X-Hermes-Hop".to_owned(), message.next_hop().to_string()),
        ];
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
            headers.push(("User-Agent".to_owned(), concat!("doorbell/", env!("CARGO_PKG_VERSION")).to_owned()));
        }
        self.sign(message, around.now_ms, &body, &mut headers);
        headers.extend(self.headers.iter().cloned());
        let mask = self.mask(&url);
        Ok(Step::Http(Http { method: "POST", url, headers, body, mask }))
    }

    fn check_route(&self, extra: &Map<String, Value>) -> Vec<TargetError> {
        check_route("url", extra, self.url.is_some(), check_url).into_iter().collect()
    }

    fn note(&self) -> Option<&'static str> {
        self.secret.is_none().then_some("unsigned")
    }
}

impl Webhook {
    /// Adds the headers that say which message this is and who sent it.
    fn sign(&self, message: &Message, now_ms: i64, body: &[u8], headers: &mut Vec<(String, String)>) {
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        let id = message.delivery_id.as_str();
        match self.style {
            Style::Hermes => {
                add("X-Hermes-Event", "delivery".to_owned());
                add("X-Hermes-Delivery", id.to_owned());
                if let Some(secret) = &self.secret {
                    add("X-Hermes-Signature-256", verify::sign::hermes(secret, body));
                }
            }
            Style::Standard => {
                let timestamp = now_ms.div_euclid(1000);
                add("webhook-id", id.to_owned());
                add("webhook-timestamp", timestamp.to_string());
                if let Some(secret) = &self.secret {
                    add("webhook-signature", verify::sign::standard(secret, id, timestamp, body));
                }
            }
        }
    }

    fn mask(&self, url: &str) -> Mask {
        let mut mask = Mask::default();
        mask.url(url);
        if let Some(secret) = &self.secret {
            mask.secret(secret.expose());
        }
        for (_, value) in &self.headers {
            mask.value(value);
        }
        mask
    }
}

#[cfg(test)]
mod tests;
