//! Bodies of every kind: what an agent gets to read of them, and what is refused.

mod support;

use std::io::Write as _;

use support::*;

/// A gateway whose agent shows the whole payload; anybody on this machine may ring.
fn reader(agent: &Agent) -> Home {
    Home::new()
        .agent("default", agent.options_with(json!({"max_concurrent": 8})))
        .route("r", json!({"source": "none", "prompt": "{__raw__}"}))
}

/// Sends a body and answers what the agent read of it.
fn read(bell: &Doorbell, agent: &Agent, kind: Option<&str>, body: &[u8]) -> String {
    let headers: Vec<(&str, &str)> = kind.map(|kind| ("Content-Type", kind)).into_iter().collect();
    let answer = bell.post("/webhooks/r", &headers, body).expect(202);
    let event = answer["event_id"].as_str().unwrap();
    bell.wait_event(event, "succeeded");
    agent.runs().into_iter().find(|run| run.var("DOORBELL_EVENT_ID") == event).unwrap().prompt
}

fn read_json(bell: &Doorbell, agent: &Agent, kind: Option<&str>, body: &[u8]) -> Value {
    let text = read(bell, agent, kind, body);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn json_may_be_anything_that_json_is() {
    let agent = Agent::new();
    let bell = reader(&agent).start();
    for body in [r#"{"a": 1}"#, "[1, 2]", "[]", r#""text""#, "42", "null", "true"] {
        let value: Value = serde_json::from_str(body).unwrap();
        assert_eq!(read_json(&bell, &agent, Some("application/json"), body.as_bytes()), value);
    }
    for kind in [
        None,
        Some("application/problem+json"),
        Some("Application/JSON; charset=utf-8"),
        Some("application/cloudevents+json"),
    ] {
        assert_eq!(read_json(&bell, &agent, kind, br#"{"a": 1}"#), json!({"a": 1}), "{kind:?}");
    }
    assert_eq!(read_json(&bell, &agent, None, b""), json!({}), "nothing is an empty object");
    assert_eq!(read_json(&bell, &agent, None, b"\xef\xbb\xbf{}"), json!({}), "a byte-order mark is passed over");
}

#[test]
fn digits_are_never_lost() {
    let agent = Agent::new();
    let bell = reader(&agent).route("n", json!({"source": "none", "prompt": "{id} {big} {neg} {x} {y} {z}"})).start();
    let body = r#"{"id": 9007199254740993, "big": 12345678901234567890123456789, "neg": -9223372036854775809,
                   "x": 1.10, "y": 1e400, "z": 0.1000000000000000055511151231257827}"#;
    let answer = bell.post("/webhooks/n", &[], body.as_bytes()).expect(202);
    bell.wait_event(answer["event_id"].as_str().unwrap(), "succeeded");
    assert_eq!(
        agent.prompts(),
        [
            "9007199254740993 12345678901234567890123456789 -9223372036854775809 1.10 1e400 0.1000000000000000055511151231257827"
        ]
    );
    let twice = read(&bell, &agent, None, br#"{"k": "first", "k": "last"}"#);
    assert!(twice.contains("last") && !twice.contains("first"), "{twice}");
}

#[test]
fn forms_become_objects() {
    let agent = Agent::new();
    let bell = reader(&agent).start();
    let form = Some("application/x-www-form-urlencoded");
    assert_eq!(
        read_json(&bell, &agent, form, b"From=%2B1500&Body=hi+there%21&tag=a&tag=b&empty="),
        json!({"From": "+1500", "Body": "hi there!", "tag": ["a", "b"], "empty": ""})
    );
    let github = b"payload=%7B%22action%22%3A%22opened%22%2C%22number%22%3A7%7D";
    assert_eq!(read_json(&bell, &agent, form, github), json!({"action": "opened", "number": 7}));
}

#[test]
fn files_in_a_multipart_body_are_named_not_swallowed() {
    let agent = Agent::new();
    let bell = reader(&agent).start();
    let multi = Some("multipart/form-data; boundary=xYz");
    let mut body = Vec::new();
    let mut part = |about: &str, bytes: &[u8]| {
        write!(body, "--xYz\r\nContent-Disposition: form-data; {about}\r\n\r\n").unwrap();
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    };
    part("name=\"subject\"", "Grüße".as_bytes());
    part("name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png", b"\x89PNG\0\xff");
    body.extend_from_slice(b"--xYz--\r\n");
    assert_eq!(
        read_json(&bell, &agent, multi, &body),
        json!({"subject": "Grüße", "f": {"filename": "a.png", "content_type": "image/png", "size": 6}})
    );
    bell.post("/webhooks/r", &[("Content-Type", "multipart/form-data")], &body).expect(400);
}

#[test]
fn xml_and_text_can_be_read_too() {
    let agent = Agent::new();
    let bell = reader(&agent).start();
    let order = br#"<?xml version="1.0"?><order id="7"><item>a</item><item>b</item><note lang="en">hi</note></order>"#;
    for kind in ["application/xml", "text/xml", "application/atom+xml"] {
        assert_eq!(
            read_json(&bell, &agent, Some(kind), order),
            json!({"order": {"@id": "7", "item": ["a", "b"], "note": {"@lang": "en", "#text": "hi"}}}),
            "{kind}"
        );
    }
    let plain = Some("text/plain; charset=UTF-8");
    assert_eq!(read_json(&bell, &agent, plain, br#"{"Type": "Notification"}"#), json!({"Type": "Notification"}));
    assert_eq!(read_json(&bell, &agent, plain, "disk is full ☹".as_bytes()), json!({"text": "disk is full ☹"}));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Brotli of `{"kind":"br"}`: one uncompressed meta-block, RFC 7932.
const BROTLI: &[u8] = b"\x0b\x06\x80{\"kind\":\"br\"}\x03";

#[test]
fn packed_bodies_are_verified_as_sent_and_then_unpacked() {
    let agent = Agent::new();
    let bell = Home::new().agent("default", agent.options()).route("r", json!({"prompt": "{kind}"})).start();
    let packed = [
        ("gzip", gzip(br#"{"kind":"gzip"}"#)),
        ("deflate", deflate(br#"{"kind":"deflate"}"#)),
        ("br", BROTLI.to_vec()),
        ("zstd", zstd::encode_all(&br#"{"kind":"zstd"}"#[..], 3).unwrap()),
    ];
    for (coding, body) in &packed {
        let event = bell.ring("r").bytes(body.clone()).header("Content-Encoding", coding).accepted();
        bell.wait_event(&event, "succeeded");
        assert_eq!(&agent.prompts().pop().unwrap(), coding);
        assert_eq!(bell.admin("GET", &format!("/api/v1/events/{event}/body")).body, *body, "kept as it was sent");
    }

    let (plain, packed) = (br#"{"kind":"gzip"}"#, &packed[0].1);
    let signed_inside = hex_hmac(SECRET, plain);
    let headers = [("Content-Encoding", "gzip"), ("X-Hub-Signature-256", &*format!("sha256={signed_inside}"))];
    assert_eq!(bell.post("/webhooks/r", &headers, packed).status, 401, "the signature is over what was sent");
    bell.ring("r").bytes("not gzip").header("Content-Encoding", "gzip").post().expect(400);
    bell.ring("r").header("Content-Encoding", "lzma").post().expect(415);
}

#[test]
fn a_bomb_does_not_go_off() {
    let agent = Agent::new();
    let bell = Home::new()
        .agent("default", agent.options())
        .route("r", json!({"prompt": "x"}))
        .server(json!({"max_body_bytes": "100KiB"}))
        .start();
    let huge = format!("\"{}\"", "x".repeat(4 << 20)).into_bytes();
    let bombs = [("gzip", gzip(&huge)), ("deflate", deflate(&huge)), ("zstd", zstd::encode_all(&huge[..], 3).unwrap())];
    for (coding, bomb) in bombs {
        assert!(bomb.len() < 100 << 10, "{coding} has {} bytes", bomb.len());
        let answer = bell.ring("r").bytes(bomb).header("Content-Encoding", coding).post();
        assert_eq!(answer.expect(413), json!({"error": "Payload too large"}), "{coding}");
    }
    bell.ring("r").accepted();
}

#[test]
fn what_cannot_be_read_is_refused_without_an_echo() {
    let agent = Agent::new();
    let bell = Home::with(&agent).start();
    let deepest = "[".repeat(100_000);
    let broken: [&[u8]; 12] = [
        b"{",
        br#"{"a": 1,}"#,
        b"{'a': 1}",
        br#"{"a": NaN}"#,
        br#"{"a": 1}{"b": 2}"#,
        br#"{"a": 01}"#,
        b"{\"a\": \"x\ny\"}",
        b"{\"a\": \"\xff\"}",
        "{\u{201c}alert\u{201d}: 1}".as_bytes(),
        br#"{"hunter2": "hunter2" oops}"#,
        &[b'['; 129],
        deepest.as_bytes(),
    ];
    for body in broken {
        let answer = bell.ring("r").bytes(body).post();
        assert_eq!(
            answer.expect(400),
            json!({"error": "Cannot parse body"}),
            "{}",
            String::from_utf8_lossy(&body[..body.len().min(40)])
        );
    }
    let deep = ["[".repeat(128), "]".repeat(128)].concat();
    bell.wait_event(&bell.ring("r").bytes(deep).accepted(), "succeeded");
    bell.post(
        "/webhooks/r",
        &[("Authorization", &format!("Bearer {SECRET}")), ("Content-Type", "application/xml")],
        b"<a><b></a>",
    )
    .expect(400);
    assert!(!bell.log().contains("hunter2"), "{}", bell.log());
    assert_eq!(bell.list("/events").len(), 1);
}

#[test]
fn a_body_is_kept_byte_for_byte() {
    let agent = Agent::new();
    let bell = Home::with(&agent).start();
    let body = "{\n \"ref\" : \"refs\\/heads\\/main\",\t\"n\": 1.0, \"e\":1E2 ,\"u\":\"\\u00e9 é\"}\r\n";
    let event = bell.ring("r").bytes(body).accepted();
    bell.wait_event(&event, "succeeded");
    assert_eq!(bell.admin("GET", &format!("/api/v1/events/{event}/body")).body, body.as_bytes());
    let compact = github_headers(SECRET, "push", "d", br#"{"a":1}"#);
    let headers: Vec<(&str, &str)> = compact.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(bell.post("/webhooks/r", &headers, br#"{"a": 1}"#).status, 401, "the same value in other bytes");
}

#[test]
fn the_event_is_named_where_its_sender_names_it() {
    let agent = Agent::new();
    let bell = reader(&agent).start();
    let event = |headers: &[(&str, &str)], body: Value| {
        bell.post("/webhooks/r", headers, body.to_string().as_bytes()).expect(202)["event"].as_str().unwrap().to_owned()
    };
    let headers =
        ["X-Hermes-Event", "X-GitHub-Event", "X-Gitlab-Event", "X-Gitea-Event", "X-Event-Key", "X-Shopify-Topic"];
    for first in 0..headers.len() {
        let sent: Vec<(&str, &str)> = headers[first..].iter().map(|name| (*name, *name)).collect();
        assert_eq!(event(&sent, json!({"type": "body"})), headers[first]);
    }
    let keys = ["event_type", "type", "event", "topic", "object_kind"];
    for first in 0..keys.len() {
        let body: serde_json::Map<String, Value> =
            keys[first..].iter().map(|key| ((*key).to_owned(), json!(key))).collect();
        assert_eq!(event(&[], Value::Object(body)), keys[first]);
    }
    assert_eq!(event(&[], json!({"event_type": "", "type": 5, "event": {"a": 1}, "topic": "t"})), "t");
    for unnamed in [json!({}), json!([1]), json!({"type": null})] {
        assert_eq!(event(&[], unnamed), "unknown");
    }
}

#[test]
fn the_delivery_is_named_by_the_first_header_that_names_it() {
    let agent = Agent::new();
    let bell = reader(&agent).start();
    let names =
        ["X-GitHub-Delivery", "svix-id", "webhook-id", "X-Hermes-Delivery", "X-Gitlab-Event-UUID", "X-Request-ID"];
    for first in 0..names.len() {
        let sent: Vec<(&str, &str)> = names[first..].iter().map(|name| (*name, *name)).collect();
        assert_eq!(bell.post("/webhooks/r", &sent, b"{}").expect(202)["delivery_id"], names[first]);
    }
    // Without a name of their own two equal requests are two events.
    let fresh: Vec<Value> =
        (0..2).map(|_| bell.post("/webhooks/r", &[], b"{}").expect(202)["delivery_id"].clone()).collect();
    assert!(fresh[0] != fresh[1] && fresh[0].as_str().is_some_and(|id| !id.is_empty()), "{fresh:?}");
    // A name is data: it reaches the agent, never a path or a shell.
    let odd = "../../../tmp/pwn;$(id)";
    let answer = bell.post("/webhooks/r", &[("X-Request-ID", odd)], b"{}").expect(202);
    assert_eq!(bell.wait_event(answer["event_id"].as_str().unwrap(), "succeeded")["delivery_id"], odd);
}
