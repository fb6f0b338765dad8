//! `source: auto`: nine schemes in a fixed order, and no way around the first that shows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use doorbell_verify::{Request, Secret, Settings, Verifier, auto_order, sign};

use crate::{NOW_S, SECRET, headers, ring};

const BODY: &[u8] = br#"{"webhookTimestamp":1790000000000}"#;

/// A header that selects a scheme, and a value of it that is wrong.
const MARKS: [(&str, &str, &str); 9] = [
    ("svix", "svix-signature", "v1,AAAA"),
    ("standard-webhooks", "webhook-signature", "v1,AAAA"),
    ("linear", "linear-signature", "00"),
    ("github", "x-hub-signature-256", "sha256=00"),
    ("hermes", "x-hermes-signature-256", "sha256=00"),
    ("gitlab", "x-gitlab-token", "nope"),
    ("generic-v2", "x-webhook-signature-v2", "00"),
    ("generic-v1", "x-webhook-signature", "00"),
    ("bearer", "authorization", "Bearer nope"),
];

/// The headers of a rightly signed request.
fn signed(source: &str) -> Vec<(String, String)> {
    let secret = Secret::new(SECRET);
    let hex = |body: &[u8]| sign::hermes(&secret, body)["sha256=".len()..].to_owned();
    let standard = sign::standard(&secret, "msg_1", NOW_S, BODY);
    let v2 = hex(&[b"1790000000.", BODY].concat());
    headers(&match source {
        "svix" => vec![("svix-id", "msg_1"), ("svix-timestamp", "1790000000"), ("svix-signature", &standard)],
        "standard-webhooks" => {
            vec![("webhook-id", "msg_1"), ("webhook-timestamp", "1790000000"), ("webhook-signature", &standard)]
        }
        "linear" => return headers(&[("linear-signature", &hex(BODY))]),
        "github" => return headers(&[("x-hub-signature-256", &sign::github(&secret, BODY))]),
        "hermes" => return headers(&[("x-hermes-signature-256", &sign::hermes(&secret, BODY))]),
        "gitlab" => vec![("x-gitlab-token", SECRET)],
        "generic-v2" => vec![("x-webhook-timestamp", "1790000000"), ("x-webhook-signature-v2", &v2)],
        "generic-v1" => return headers(&[("x-webhook-signature", &hex(BODY))]),
        "bearer" => vec![("authorization", "Bearer test-secret-not-real")],
        other => panic!("no way to sign for {other}"),
    })
}

fn auto() -> Verifier {
    Verifier::new(&Settings { secrets: vec![Secret::new(SECRET)], ..Settings::default() }).expect("auto")
}

fn chosen(verifier: &Verifier, headers: &[(String, String)]) -> Option<&'static str> {
    let believed = verifier.verify(&Request { headers, body: BODY }, NOW_S * 1000).ok()?;
    Some(believed.source.name)
}

#[test]
fn the_order_is_the_documented_one() {
    assert!(auto_order().map(|source| source.name).eq(MARKS.map(|(source, ..)| source)));
    assert_eq!(auto().source_name(), "auto");
    assert!(auto().needs_secret() && !auto().is_open());
}

#[test]
fn each_scheme_is_found_by_its_header() {
    for source in auto_order() {
        assert_eq!(chosen(&auto(), &signed(source.name)), Some(source.name));
    }
    let verifier = auto();
    for source in auto_order() {
        let headers = signed(source.name);
        let believed = verifier.verify(&Request { headers: &headers, body: BODY }, NOW_S * 1000).expect("signed");
        assert_eq!(believed.deprecated, source.name == "generic-v1", "{}", source.name);
    }
}

#[test]
fn nothing_falls_through_to_a_later_scheme() {
    for (at, (first, header, wrong)) in MARKS.iter().enumerate() {
        for (later, ..) in &MARKS[at + 1..] {
            let mut mixed = signed(later);
            mixed.push(((*header).to_owned(), (*wrong).to_owned()));
            assert_eq!(chosen(&auto(), &mixed), None, "a wrong {first} beside a right {later}");
        }
    }
}

#[test]
fn an_empty_header_selects_all_but_the_standard_webhooks_families() {
    for (source, header, _) in &MARKS[..8] {
        let mut mixed = signed("bearer");
        mixed.push(((*header).to_owned(), String::new()));
        let falls_through = matches!(*source, "svix" | "standard-webhooks");
        assert_eq!(chosen(&auto(), &mixed).is_some(), falls_through, "{source}");
    }
}

#[test]
fn any_svix_header_selects_svix_but_an_id_and_a_timestamp_select_no_standard_webhook() {
    for name in ["svix-id", "svix-timestamp"] {
        let mut mixed = signed("standard-webhooks");
        mixed.push((name.to_owned(), "1790000000".to_owned()));
        assert_eq!(chosen(&auto(), &mixed), None, "{name}");
    }
    let mut gitlab = signed("gitlab");
    gitlab.extend(headers(&[("webhook-id", "x"), ("webhook-timestamp", "1790000000")]));
    assert_eq!(chosen(&auto(), &gitlab), Some("gitlab"));
}

#[test]
fn a_named_source_takes_only_its_own_scheme() {
    for route in auto_order() {
        let settings = Settings { secrets: vec![Secret::new(SECRET)], ..Settings::of(route.name) };
        let verifier = Verifier::new(&settings).expect("a row");
        for sender in auto_order() {
            let expected = (route.name == sender.name).then_some(route.name);
            assert_eq!(chosen(&verifier, &signed(sender.name)), expected, "{} at {}", sender.name, route.name);
        }
    }
}

#[test]
fn without_any_known_header_the_reason_says_what_to_do() {
    let reason = ring("auto", &[("stripe-signature", "t=1,v1=00")], b"{}").reason();
    assert!(reason.contains("set the route's `source`"), "{reason}");
}

#[test]
fn one_secret_serves_all_schemes_as_each_reads_it() {
    let secret = format!("whsec_{}", STANDARD.encode(b"0123456789abcdef0123456789abcdef"));
    let settings = Settings { secrets: vec![Secret::new(&secret)], ..Settings::default() };
    let verifier = Verifier::new(&settings).expect("a whsec_ secret");
    let standard = sign::standard(&Secret::new(&secret), "msg_1", NOW_S, BODY);
    let as_standard = headers(&[
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", "1790000000"),
        ("webhook-signature", &format!("v1,AAAA v1a,Zm9v {standard} v9,xx")),
    ]);
    assert_eq!(chosen(&verifier, &as_standard), Some("standard-webhooks"));
    let as_github = headers(&[("x-hub-signature-256", &sign::github(&Secret::new(&secret), BODY))]);
    assert_eq!(chosen(&verifier, &as_github), Some("github"), "elsewhere the whole text is the key");
}
