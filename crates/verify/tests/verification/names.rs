//! Event types, delivery ids and pings.

use doorbell_verify::{Source, delivery_id, event_type, gitlab_short_name, is_ping, source};
use serde_json::{Value, json};

use crate::{Ring, headers, ring};

fn row(name: &str) -> &'static Source {
    source(name).expect("a row")
}

fn event(source: &str, pairs: &[(&str, &str)], payload: &Value) -> String {
    event_type(row(source), &headers(pairs), payload)
}

fn delivery(source: &str, pairs: &[(&str, &str)]) -> Option<String> {
    delivery_id(row(source), &headers(pairs), &Value::Null)
}

#[test]
fn shared_places_are_asked_in_their_order() {
    let names =
        ["X-Hermes-Event", "X-GitHub-Event", "X-Gitlab-Event", "X-Gitea-Event", "X-Event-Key", "X-Shopify-Topic"];
    let keys = ["event_type", "type", "event", "topic", "object_kind"];
    let from = |word: &str| format!("from-{word}");
    let payload = |keys: &[&str]| Value::Object(keys.iter().map(|key| ((*key).to_owned(), from(key).into())).collect());
    for at in 0..names.len() {
        let values: Vec<_> = names[at..].iter().map(|name| (*name, from(name))).collect();
        let pairs: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(event("none", &pairs, &payload(&keys)), from(names[at]));
    }
    for at in 0..keys.len() {
        assert_eq!(event("none", &[], &payload(&keys[at..])), from(keys[at]));
    }
}

#[test]
fn only_filled_strings_name_an_event() {
    assert_eq!(event("none", &[], &json!({"event_type": "", "type": 5, "event": {"a": 1}, "topic": "t"})), "t");
    assert_eq!(event("none", &[("X-GitHub-Event", "")], &json!({"type": "t"})), "t");
    for payload in [json!({}), json!([1]), json!({"type": null}), json!("push"), Value::Null] {
        assert_eq!(event("none", &[], &payload), "unknown", "{payload}");
    }
}

#[test]
fn a_source_has_its_own_place() {
    let body = json!({"type": "Issue", "object_kind": "push"});
    let linear = [("Linear-Event", "Comment"), ("X-Hermes-Event", "other")];
    assert_eq!(event("linear", &linear, &body), "Comment");
    assert_eq!(event("linear", &linear[1..], &body), "Issue");
    assert_eq!(event("github", &[("X-GitHub-Event", "push"), ("X-Hermes-Event", "other")], &body), "push");
    assert_eq!(event("gitlab", &[("X-Hermes-Event", "other")], &body), "push");
    assert_eq!(event("standard-webhooks", &[("X-GitHub-Event", "other")], &body), "Issue");
    assert_eq!(event("hermes", &[("X-Hermes-Event", "on_session_end")], &body), "on_session_end");
}

#[test]
fn gitlab_events_are_named_in_one_word() {
    for (sent, short) in [
        ("Merge Request Hook", "merge_request"),
        ("Push Hook", "push"),
        ("Tag Push Hook", "tag_push"),
        ("Pipeline Hook", "pipeline"),
        ("Resource Access Token Hook", "resource_access_token"),
    ] {
        assert_eq!(gitlab_short_name(sent).as_deref(), Some(short));
        assert_eq!(event("gitlab", &[("X-Gitlab-Event", sent)], &Value::Null), short);
        assert_eq!(event("none", &[("X-Gitlab-Event", sent)], &Value::Null), short);
        assert_eq!(event("none", &[("X-GitHub-Event", sent)], &Value::Null), sent, "only GitLab's header is shortened");
    }
    for other in ["merge_request", "Hook", " Hook", "Push Hooks", ""] {
        assert_eq!(gitlab_short_name(other), None, "{other}");
    }
}

#[test]
fn delivery_ids_are_asked_for_in_their_order() {
    let names =
        ["X-GitHub-Delivery", "svix-id", "webhook-id", "X-Hermes-Delivery", "X-Gitlab-Event-UUID", "X-Request-ID"];
    for at in 0..names.len() {
        let pairs: Vec<_> = names[at..].iter().map(|name| (*name, *name)).collect();
        assert_eq!(delivery("none", &pairs).as_deref(), Some(names[at]));
    }
    let all = names.map(|name| (name, name));
    for (source, own) in [
        ("svix", "svix-id"),
        ("standard-webhooks", "webhook-id"),
        ("hermes", "X-Hermes-Delivery"),
        ("gitlab", "X-Gitlab-Event-UUID"),
    ] {
        assert_eq!(delivery(source, &all).as_deref(), Some(own));
    }
    assert_eq!(delivery("linear", &[("X-Request-ID", "r"), ("Linear-Delivery", "l")]).as_deref(), Some("l"));
    assert_eq!(delivery("github", &[("X-GitHub-Delivery", ""), ("X-Request-ID", "r")]).as_deref(), Some("r"));
    assert_eq!(delivery("github", &[]), None);
}

#[test]
fn an_odd_delivery_id_is_made_presentable_and_stays_itself() {
    let id = |value: &str| delivery("none", &[("X-Request-ID", value)]).expect("an id");
    assert_eq!(id("a\nb\u{1b}[0m\u{7f}é🚀"), "a\u{FFFD}b\u{FFFD}[0m\u{FFFD}é🚀");
    assert_eq!(id(&"é".repeat(255)), "é".repeat(255));
    let long = |last: &str| id(&format!("{}{last}", "é".repeat(255)));
    assert!(long("a").starts_with(&"é".repeat(200)));
    assert!(long("a").chars().count() <= 255);
    assert_ne!(long("a"), long("b"), "ids that differ only at their end stay apart");
    assert_eq!(long("a"), long("a"));
}

#[test]
fn options_name_headers_of_their_own() {
    let options = json!({"event_header": "X-My-Event", "id_header": "X-My-Id"});
    let pairs = [("X-My-Event", "rang"), ("X-My-Id", "d-1"), ("X-GitHub-Event", "push"), ("X-Request-ID", "r")];
    for (source, secret) in [("hmac", "s"), ("token", "s"), ("basic", "u:p"), ("none", "s")] {
        let secrets = &[secret];
        let pairs = [
            &pairs[..],
            &[("X-Webhook-Secret", "s"), ("Authorization", "Basic dTpw"), ("X-Webhook-Signature", OVER_NOTHING)],
        ]
        .concat();
        let verifier =
            Ring { secrets, options: options.clone(), ..ring(source, &pairs, b"") }.verifier().expect("sound");
        let headers = headers(&pairs);
        let request = doorbell_verify::Request { headers: &headers, body: b"" };
        let believed = verifier.verify(&request, 0).expect("signed");
        assert_eq!(event_type(believed.source, &headers, &Value::Null), "rang", "{source}");
        assert_eq!(delivery_id(believed.source, &headers, &Value::Null).as_deref(), Some("d-1"), "{source}");
    }
}

/// HMAC-SHA256 of nothing with the key `s`.
const OVER_NOTHING: &str = "64eca07cce67929c357d63d0a4aec207e774800403298914fc04e88ce02ac49f";

#[test]
fn only_github_has_a_ping() {
    let ping = headers(&[("X-GitHub-Event", "ping")]);
    assert!(is_ping(row("github"), &ping));
    assert!(!is_ping(row("github"), &headers(&[("X-GitHub-Event", "push")])));
    assert!(!is_ping(row("github"), &[]));
    assert!(!is_ping(row("none"), &ping));
}
