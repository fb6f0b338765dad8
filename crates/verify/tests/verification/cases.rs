//! Requests that broke other gateways. Signatures were computed elsewhere, over the bytes that stand here.

use std::time::Duration;

use serde_json::json;

use crate::{NOW_S, Ring, SECRET, ring};

const OVER_EMPTY_OBJECT: &str = "d3b1dc8e96ea6e6966a683b282956036f47aa4791297b4998bd6cc8866ff81b2";

fn github(signature: &str, body: &[u8]) -> bool {
    ring("github", &[("X-Hub-Signature-256", signature)], body).passes()
}

#[test]
fn the_bytes_as_received_are_what_is_signed() {
    let body = b"{\n  \"ref\" : \"refs\\/heads\\/main\",\t\"n\": 1.0, \"e\":1E2 ,\"u\":\"\\u00e9\"}\n";
    assert!(github("sha256=f2781814b974dd407c168fb126b343c58a79e4423276645de221829b0bdb3b66", body));
    let of_the_compact_form = "sha256=73672428e9f171610d5b61c790952f4a04751f5688f629b1ae4cabfce403bb8b";
    assert!(!github(of_the_compact_form, b"{\"a\": 1}"), "equal values are not equal bytes");
}

#[test]
fn bodies_of_any_alphabet_and_of_none_are_verified() {
    let text = "{\"m\":\"déploy 🚀 你好\"}".as_bytes();
    assert!(github("sha256=3ce4f0afbe34db4bb9dccee6872cba73165da903095e8255d4c1a4e9bbcbe665", text));
    let no_utf8 = b"{\"a\":\"\xff\xfe\"}";
    assert!(github("sha256=d4700f894197d78a6006d84f41ddc14babc1269f0a11449dc68bfc4819e5083d", no_utf8));
    let form = b"payload=%7B%22action%22%3A%22opened%22%2C%22number%22%3A7%7D";
    assert!(github("sha256=cd779dfce8e8fb47dedf181141e195a85a08ab709966d5eb4f59721c80b77748", form));
}

#[test]
fn malformed_signatures_are_refused_and_the_next_request_is_served() {
    for signature in [
        "sha256=abc",
        "",
        &format!("sha256={}", "0".repeat(65)),
        &format!("sha256={}", "z".repeat(64)),
        "sha1=da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "sha256=",
        OVER_EMPTY_OBJECT,
        &format!("SHA256={OVER_EMPTY_OBJECT}"),
        &format!("sha256= {OVER_EMPTY_OBJECT}"),
        &format!("sha256={OVER_EMPTY_OBJECT},sha256={OVER_EMPTY_OBJECT}"),
    ] {
        assert!(!github(signature, b"{}"), "{signature}");
    }
    assert!(github(&format!("sha256={OVER_EMPTY_OBJECT}"), b"{}"));
}

#[test]
fn hex_is_read_in_either_case() {
    assert!(github(&format!("sha256={}", OVER_EMPTY_OBJECT.to_uppercase()), b"{}"));
}

#[test]
fn a_missing_signature_is_refused() {
    let unsigned = ring("github", &[("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "d-0001")], b"{}");
    assert_eq!(unsigned.reason(), "header x-hub-signature-256 is missing");
}

#[test]
fn two_lines_of_a_signature_are_refused_even_when_one_is_right() {
    let good = format!("sha256={OVER_EMPTY_OBJECT}");
    let wrong = format!("sha256={}", "0".repeat(64));
    for lines in [[&wrong, &good], [&good, &wrong], [&good, &good]] {
        let headers = lines.map(|value| ("X-Hub-Signature-256", value.as_str()));
        for source in ["github", "auto"] {
            let reason = ring(source, &headers, b"{}").reason();
            assert!(reason.contains("header x-hub-signature-256 stands 2 times"), "{reason}");
        }
    }
}

#[test]
fn two_lines_of_an_id_or_a_timestamp_are_refused() {
    let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let good = [
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", "1790000000"),
        ("webhook-signature", "v1,rNEHnqPEQE72QxIRadT7ul535G3K6V7FuRjGUrl8zoQ="),
    ];
    let body = b"{\"type\":\"x\"}";
    assert!(Ring { secrets: &[secret], ..ring("standard-webhooks", &good, body) }.passes());
    for twice in good {
        let headers = [&good[..], &[twice]].concat();
        let refused = Ring { secrets: &[secret], ..ring("standard-webhooks", &headers, body) };
        assert!(refused.reason().contains("stands 2 times"), "{}", twice.0);
    }
}

#[test]
fn an_open_route_believes_nobody_who_came_through_a_proxy() {
    for (source, secrets) in [("auto", ["INSECURE_NO_AUTH"]), ("github", ["INSECURE_NO_AUTH"]), ("none", ["any"])] {
        assert!(Ring { secrets: &secrets, ..ring(source, &[("Content-Type", "text/plain")], b"hi") }.passes());
        for name in
            ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "CF-Connecting-IP"]
        {
            for value in ["203.0.113.9", "127.0.0.1", ""] {
                let headers = [(name, value)];
                let through_a_proxy = Ring { secrets: &secrets, ..ring(source, &headers, b"{}") };
                assert!(through_a_proxy.reason().contains(&name.to_lowercase()), "{source}: {name}");
            }
        }
    }
}

fn v2(timestamp: &str, signature: &str) -> bool {
    let headers = [("X-Webhook-Timestamp", timestamp), ("X-Webhook-Signature-V2", signature)];
    ring("generic-v2", &headers, b"{}").passes()
}

#[test]
fn rightly_signed_timestamps_that_are_no_numbers_are_refused() {
    for (timestamp, signature) in [
        ("NaN", "6113a15b0244d496af825ac28468d4f00ce1d8e798299cd985ac4aafd6e88c43"),
        ("-1", "544b030d1b499c64101603e6533e39d6208730e9da055e890eea3c89cd28b920"),
        ("99999999999999999999", "d985e912446c7d80a2597ebf509f5d3e2c051179fc1dd3e101035f2c1be48b1c"),
        ("", "a5c9f5eaed5913751eeac986e30e89126dbc3f4011213a1555a09fd6acfe666d"),
        ("1e9", "8ed9503fd0970d4ede7b6cba25de40821d612ce218f9de941e13f7486236682c"),
        (" 1790000000", "46fbe5796e62d6e1fce3a48249563bce535fb6c19b9046741c85a44d0683de02"),
    ] {
        let headers = [("X-Webhook-Timestamp", timestamp), ("X-Webhook-Signature-V2", signature)];
        let lenient = Ring { tolerance: Some(Duration::MAX), ..ring("generic-v2", &headers, b"{}") };
        assert!(lenient.reason().contains("not a whole number of digits"), "{timestamp:?}");
        assert!(!v2(timestamp, signature), "{timestamp:?}");
    }
}

#[test]
fn milliseconds_are_read_where_the_route_says_so_and_never_guessed() {
    let signature = "af6c3e82cd975e986b358f20ea257027b8ec4d60ce973c0bbc3885cece013d1f";
    assert!(!v2("1790000000000", signature));
    let headers = [("X-Webhook-Timestamp", "1790000000000"), ("X-Webhook-Signature-V2", signature)];
    let options = json!({
        "header": "X-Webhook-Signature-V2",
        "timestamp_header": "X-Webhook-Timestamp",
        "timestamp_unit": "ms",
        "signed": "{timestamp}.{body}",
    });
    assert!(Ring { options: options.clone(), ..ring("hmac", &headers, b"{}") }.passes());
    assert!(!Ring { options, now_s: NOW_S + 301, ..ring("hmac", &headers, b"{}") }.passes());
}

const LINEAR_BODY: &[u8] =
    br#"{"action":"create","type":"Issue","webhookTimestamp":1790000000000,"data":{"title":"t"}}"#;
const LINEAR: &[(&str, &str)] =
    &[("Linear-Signature", "3ba4f79c715409ea707a0fc243a3015e435f76062792142dd13c11ca6c1a4857")];

#[test]
fn linear_keeps_its_timestamp_in_the_body_and_gives_it_a_minute() {
    for (now_s, passes) in [(NOW_S, true), (NOW_S + 60, true), (NOW_S - 60, true), (NOW_S + 61, false)] {
        for source in ["linear", "auto"] {
            assert_eq!(Ring { now_s, ..ring(source, LINEAR, LINEAR_BODY) }.passes(), passes, "{source} {now_s}");
        }
    }
    let patient = Some(Duration::from_mins(5));
    assert!(Ring { now_s: NOW_S + 300, tolerance: patient, ..ring("linear", LINEAR, LINEAR_BODY) }.passes());
    let wrong = [("Linear-Signature", &*"0".repeat(64))];
    let reason = Ring { now_s: NOW_S + 999, ..ring("linear", &wrong, LINEAR_BODY) }.reason();
    assert!(reason.contains("fits no secret"), "the clock is judged only when the signature is right: {reason}");
}

#[test]
fn linear_without_a_timestamp_in_the_body_needs_its_header() {
    let signed = |extra: Option<&'static str>| {
        let mut headers = vec![("Linear-Signature", OVER_EMPTY_OBJECT)];
        headers.extend(extra.map(|value| ("Linear-Timestamp", value)));
        ring("linear", &headers, b"{}").verdict()
    };
    assert!(signed(Some("1790000000000")).is_ok());
    assert!(signed(Some("1789999900000")).is_err());
    assert!(signed(Some("")).is_err());
    let nowhere = signed(None).expect_err("no timestamp").reason;
    assert_eq!(nowhere, "there is no timestamp in body field webhookTimestamp or header linear-timestamp");
}

#[test]
fn a_wrong_v2_signature_does_not_fall_back_to_v1() {
    let headers = [
        ("X-Webhook-Signature", OVER_EMPTY_OBJECT),
        ("X-Webhook-Signature-V2", &*"0".repeat(64)),
        ("X-Webhook-Timestamp", "1790000000"),
    ];
    for source in ["generic-v2", "auto"] {
        assert!(!ring(source, &headers, b"{}").passes(), "{source}");
    }
    let headers = [("X-Webhook-Signature", OVER_EMPTY_OBJECT), ("X-Webhook-Signature-V2", "")];
    assert!(!ring("auto", &headers, b"{}").passes(), "an empty header selects its scheme too");
    assert!(ring("auto", &headers[..1], b"{}").passes());
}

#[test]
fn a_token_authenticates_whatever_the_body_is() {
    for body in [&b"{\"object_kind\":\"push\""[..], b"", b"\xff"] {
        assert!(ring("gitlab", &[("X-Gitlab-Token", SECRET)], body).passes());
    }
    for token in ["test-secret-not-rea", "test-secret-not-real2", "Test-secret-not-real", " test-secret-not-real", ""] {
        assert!(!ring("gitlab", &[("X-Gitlab-Token", token)], b"{}").passes(), "{token}");
    }
}

#[test]
fn bearer_and_basic_are_read_as_their_rfcs_say() {
    for (value, passes) in [
        ("Bearer test-secret-not-real", true),
        ("bearer  test-secret-not-real ", true),
        ("Bearer wrong-but-real-looking", false),
        ("test-secret-not-real", false),
        ("Bearer ", false),
        ("", false),
    ] {
        for source in ["bearer", "auto"] {
            assert_eq!(ring(source, &[("Authorization", value)], b"{}").passes(), passes, "{source} {value}");
        }
    }
    for (value, passes) in [("Basic dTpwOnc=", true), ("basic dTpwOnc=", true), ("Basic dTpw", false), ("u:p:w", false)]
    {
        let headers = [("Authorization", value)];
        assert_eq!(Ring { secrets: &["u:p:w"], ..ring("basic", &headers, b"{}") }.passes(), passes, "{value}");
    }
}

#[test]
fn reasons_never_hold_a_secret_or_what_was_presented() {
    let presented = "presented-not-real";
    for (source, header) in [
        ("github", "x-hub-signature-256"),
        ("gitlab", "x-gitlab-token"),
        ("bearer", "authorization"),
        ("svix", "svix-signature"),
        ("generic-v1", "x-webhook-signature"),
        ("auto", "x-unknown"),
    ] {
        let reason = ring(source, &[(header, presented)], b"{}").reason();
        assert!(!reason.contains(presented) && !reason.contains(SECRET), "{reason}");
    }
}
