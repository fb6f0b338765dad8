use serde_json::json;

use super::*;
use crate::target::Target;

const AROUND: Surroundings = Surroundings { home: "/h", now_ms: 1_790_000_000_999, environment: &[] };

fn plan(more: &Value, message: &Message) -> Http {
    let mut raw = json!({"url": "https://example.test/in"});
    raw.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    match Target::resolve("webhook", &raw).unwrap().plan(message, &AROUND).unwrap() {
        Step::Http(http) => http,
        other => panic!("{other:?}"),
    }
}

fn header<'a>(http: &'a Http, name: &str) -> Option<&'a str> {
    http.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

#[test]
fn one_signed_body_with_the_next_hop() {
    let http = plan(&json!({"secret": "out-secret", "headers": {"X-Fixed": "yes"}}), &Message::sample("ü", &json!({})));
    assert_eq!((http.method, http.url.as_str()), ("POST", "https://example.test/in"));
    let wanted = r#"{"id":"dlv_1","event_id":"ev_1","run_id":"run_1","route":"r","event":"issues","delivery_id":"d-1","content":"ü","created_at":"2026-01-02T03:04:05Z","hop":1}"#;
    assert_eq!(String::from_utf8_lossy(&http.body), wanted);
    for (name, value) in [
        ("content-type", "application/json"),
        ("x-hermes-event", "delivery"),
        ("x-hermes-delivery", "dlv_1"),
        ("x-hermes-hop", "1"),
        ("x-fixed", "yes"),
        ("x-hermes-signature-256", &verify::sign::hermes(&Secret::new("out-secret"), wanted.as_bytes())),
    ] {
        assert_eq!(header(&http, name), Some(value), "{name}");
    }
    assert!(header(&http, "user-agent").is_some_and(|agent| agent.starts_with("doorbell/")));
}

#[test]
fn without_a_secret_it_is_unsigned() {
    let http = plan(&json!({}), &Message::sample("x", &json!({})));
    assert_eq!((header(&http, "x-hermes-signature-256"), header(&http, "x-hermes-delivery")), (None, Some("dlv_1")));
}

#[test]
fn the_standard_style_signs_id_time_and_body() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let http = plan(&json!({"secret": secret, "style": "standard"}), &Message::sample("x", &json!({})));
    let signature = verify::sign::standard(&Secret::new(secret), "dlv_1", 1_790_000_000, &http.body);
    assert_eq!(header(&http, "webhook-id"), Some("dlv_1"));
    assert_eq!(header(&http, "webhook-timestamp"), Some("1790000000"));
    assert_eq!(header(&http, "webhook-signature"), Some(signature.as_str()));
    assert_eq!((header(&http, "x-hermes-delivery"), header(&http, "x-hermes-signature-256")), (None, None));
    assert_eq!(header(&http, "x-hermes-hop"), Some("1"), "loops are counted in every style");
}

#[test]
fn a_hop_cannot_overflow() {
    let message = Message { hop: u32::MAX, ..Message::sample("x", &json!({})) };
    assert_eq!(header(&plan(&json!({}), &message), "x-hermes-hop"), Some("4294967295"));
}

#[test]
fn headers_are_literal_and_leave_ours_alone() {
    let own_agent = plan(&json!({"headers": {"User-Agent": "mine"}}), &Message::sample("x", &json!({})));
    assert_eq!(own_agent.headers.iter().filter(|(name, _)| name == "User-Agent").count(), 1);
    for (name, value) in
        [("X-A", "a\r\nX-B: c"), ("X-A", "ü"), ("X A", "b"), ("", "b"), ("content-length", "1"), ("X-Hermes-Hop", "0")]
    {
        let raw = json!({"url": "https://example.test/", "headers": {name: value}});
        let errors = Target::resolve("webhook", &raw).unwrap_err();
        assert_eq!(errors[0].key, format!("headers.{name}"), "{name}: {value}");
    }
}

#[test]
fn a_bad_address_or_style_is_refused() {
    let errors = Target::resolve("webhook", &json!({"url": "ftp://example.test", "style": "standart"})).unwrap_err();
    assert_eq!(errors.iter().map(|error| error.key.as_str()).collect::<Vec<_>>(), ["url", "style"]);
    assert_eq!(errors[1].nearest.as_deref(), Some("standard"));
}
