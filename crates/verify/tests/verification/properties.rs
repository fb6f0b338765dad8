//! What holds for every secret, body and header.

use doorbell_verify::{Request, Secret, Settings, Verifier, auto_order, delivery_id, event_type, mask, sign, sources};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::NOW_S;

type Headers = Vec<(String, String)>;

/// Sources whose signature covers the body, with the header that holds it.
const SIGNED: [(&str, &str); 7] = [
    ("svix", "svix-signature"),
    ("standard-webhooks", "webhook-signature"),
    ("linear", "linear-signature"),
    ("github", "x-hub-signature-256"),
    ("hermes", "x-hermes-signature-256"),
    ("generic-v2", "x-webhook-signature-v2"),
    ("generic-v1", "x-webhook-signature"),
];

/// The headers of a request over `body` that `source` believes.
fn signed(source: &str, secret: &Secret, body: &[u8]) -> Headers {
    let hex = |body: &[u8]| sign::hermes(secret, body)["sha256=".len()..].to_owned();
    let now = NOW_S.to_string();
    let pairs = match source {
        "svix" | "standard-webhooks" => {
            let family = if source == "svix" { "svix" } else { "webhook" };
            let signature = sign::standard(secret, "msg_1", NOW_S, body);
            let values = [("id", "msg_1".to_owned()), ("timestamp", now), ("signature", signature)];
            return values.map(|(name, value)| (format!("{family}-{name}"), value)).into();
        }
        "linear" => vec![("linear-signature", hex(body)), ("linear-timestamp", format!("{now}000"))],
        "github" => vec![("x-hub-signature-256", sign::github(secret, body))],
        "hermes" => vec![("x-hermes-signature-256", sign::hermes(secret, body))],
        "generic-v2" => {
            let signature = hex(&[now.as_bytes(), b".", body].concat());
            vec![("x-webhook-timestamp", now), ("x-webhook-signature-v2", signature)]
        }
        "generic-v1" => vec![("x-webhook-signature", hex(body))],
        "gitlab" => vec![("x-gitlab-token", secret.expose().to_owned())],
        "bearer" => vec![("authorization", format!("Bearer {}", secret.expose()))],
        other => panic!("no way to sign for {other}"),
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn verifier(source: &str, secrets: &[&Secret]) -> Verifier {
    let secrets = secrets.iter().map(|secret| (*secret).clone()).collect();
    Verifier::new(&Settings { secrets, ..Settings::of(source) }).expect("settings that work")
}

fn passes(verifier: &Verifier, headers: &[(String, String)], body: &[u8]) -> bool {
    verifier.verify(&Request { headers, body }, NOW_S * 1000).is_ok()
}

fn secret() -> impl Strategy<Value = Secret> {
    "[!-~]{1,80}".prop_filter("shapes with rules of their own", |text| !text.contains("whsec_")).prop_map(Secret::new)
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}

/// Texts that look enough like header values to get past the first checks.
fn header_value() -> impl Strategy<Value = String> {
    let number = prop_oneof![any::<i64>().prop_map(|n| n.to_string()), Just(NOW_S.to_string())];
    let item = prop_oneof![
        any::<String>(),
        "(sha256=|v1,|v1=|Bearer |Basic )?[0-9a-fA-F]{0,70}",
        "(v1,|v1a,|Basic )[A-Za-z0-9+/]{0,50}={0,2}",
        number,
    ];
    prop::collection::vec(item, 1..4).prop_map(|items| items.join(" "))
}

fn hostile_headers() -> impl Strategy<Value = Headers> {
    let names: Vec<String> = auto_order()
        .flat_map(|source| signed(source.name, &Secret::new("x"), b""))
        .map(|(name, _)| name)
        .chain(["x-webhook-secret", "x-github-event", "x-gitlab-event", "x-request-id", "x-sent"].map(str::to_owned))
        .collect();
    prop::collection::vec((prop::sample::select(names), header_value()), 0..8)
}

proptest! {
    #[test]
    fn what_is_signed_is_believed(secret in secret(), body in body()) {
        for source in auto_order() {
            let headers = signed(source.name, &secret, &body);
            prop_assert!(passes(&verifier(source.name, &[&secret]), &headers, &body), "{}", source.name);
            prop_assert!(passes(&verifier("auto", &[&secret]), &headers, &body), "auto: {}", source.name);
        }
    }

    #[test]
    fn every_secret_of_a_rotation_works_and_no_other(ours in secret(), older in secret(), other in secret(), body in body()) {
        prop_assume!(other != ours && other != older);
        for source in auto_order() {
            let verifier = verifier(source.name, &[&ours, &older]);
            for (signer, believed) in [(&ours, true), (&older, true), (&other, false)] {
                prop_assert_eq!(passes(&verifier, &signed(source.name, signer, &body), &body), believed);
            }
        }
    }

    #[test]
    fn one_changed_bit_of_the_body_is_noticed(secret in secret(), body in body(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
        prop_assume!(!body.is_empty());
        let mut changed = body.clone();
        changed[at.index(body.len())] ^= 1 << bit;
        for (source, _) in SIGNED {
            let headers = signed(source, &secret, &body);
            prop_assert!(!passes(&verifier(source, &[&secret]), &headers, &changed), "{source}");
            prop_assert!(!passes(&verifier("auto", &[&secret]), &headers, &changed), "auto: {source}");
        }
    }

    #[test]
    fn a_body_that_is_longer_or_shorter_is_noticed(secret in secret(), body in body(), more in 1..5usize) {
        for (source, _) in SIGNED {
            let headers = signed(source, &secret, &body);
            let longer = [&body[..], &vec![0; more]].concat();
            prop_assert!(!passes(&verifier(source, &[&secret]), &headers, &longer), "{source}");
            if let Some((_, shorter)) = body.split_last() {
                prop_assert!(!passes(&verifier(source, &[&secret]), &headers, shorter), "{source}");
            }
        }
    }

    #[test]
    fn one_changed_bit_of_the_signature_is_noticed(secret in secret(), body in body(), at in any::<prop::sample::Index>(), bit in 0..7u8) {
        for (source, header) in SIGNED {
            let mut headers = signed(source, &secret, &body);
            let value = &mut headers.iter_mut().find(|(name, _)| name == header).expect("the signature").1;
            let mut bytes = value.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).expect("ASCII stays ASCII below the eighth bit");
            let same_digest = value.eq_ignore_ascii_case(&changed) && !value.starts_with("v1,") && at >= value.len() - 64;
            *value = changed;
            prop_assert_eq!(passes(&verifier(source, &[&secret]), &headers, &body), same_digest, "{}", source);
        }
    }

    #[test]
    fn the_case_of_hex_does_not_matter(secret in secret(), body in body(), upper in any::<u64>()) {
        for (source, header) in SIGNED.into_iter().skip(2) {
            let mut headers = signed(source, &secret, &body);
            let value = &mut headers.iter_mut().find(|(name, _)| name == header).expect("the signature").1;
            let start = value.len() - 64;
            let digits = value[start..].chars().enumerate();
            let mixed: String = digits.map(|(at, c)| if upper >> at & 1 == 1 { c.to_ascii_uppercase() } else { c }).collect();
            value.replace_range(start.., &mixed);
            prop_assert!(passes(&verifier(source, &[&secret]), &headers, &body), "{source}");
        }
    }

    #[test]
    fn no_header_makes_it_panic_and_none_is_believed(headers in hostile_headers(), body in body(), now_ms in any::<i64>()) {
        let secret = Secret::new("user:a secret that nobody guesses");
        let settings = |source: &str, options: Value| Settings {
            secrets: vec![secret.clone()],
            options: options.as_object().cloned().unwrap_or_default(),
            ..Settings::of(source)
        };
        let timed = json!({"timestamp_header": "x-sent", "encoding": "base64url"});
        let named = sources().iter().map(|row| settings(row.name, Value::Null));
        for settings in named.chain([settings("auto", Value::Null), settings("hmac", timed)]) {
            let verifier = Verifier::new(&settings).expect("settings that work");
            let verdict = verifier.verify(&Request { headers: &headers, body: &body }, now_ms);
            prop_assert_eq!(verdict.is_ok(), settings.source == "none");
        }
        for row in sources() {
            prop_assert!(!event_type(row, &headers, &Value::Null).is_empty());
            let id = delivery_id(row, &headers, &Value::Null).unwrap_or_default();
            prop_assert!(id.chars().count() <= 255 && !id.chars().any(char::is_control));
            let mut masked = headers.clone();
            mask(row, std::slice::from_ref(&secret), &mut masked);
            prop_assert_eq!(masked.len(), headers.len());
        }
    }
}
