//! HTTP as it is really spoken: odd methods, sizes and framings, slow senders, senders that hang up, and TLS.

mod support;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use support::*;

/// A gateway whose route `r` believes GitLab's token, which covers no byte of the body: framing is all that protects it.
fn house(server: Value) -> Doorbell {
    Home::new()
        .server(server)
        .agent("default", shell("cat"))
        .route("r", json!({"source": "gitlab", "prompt": "rung"}))
        .start()
}

/// A request's bytes with these header lines.
fn request(lines: &str, body: &str) -> Vec<u8> {
    let head = format!("POST /webhooks/r HTTP/1.1\r\nHost: x\r\nX-Gitlab-Token: {SECRET}\r\n");
    format!("{head}Content-Type: application/json\r\n{lines}\r\n{body}").into_bytes()
}

/// Sends bytes and answers everything that comes back until the gateway closes.
fn exchange(bell: &Doorbell, bytes: &[u8]) -> String {
    let mut stream = bell.connect();
    // The gateway may have answered and closed before it has everything.
    let _ = stream.write_all(bytes);
    String::from_utf8(read_to_end(&stream)).expect("text")
}

#[test]
fn every_refusal_is_json() {
    let bell = house(json!({}));
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let answer = bell.http(method, "/webhooks/r", &[("X-Gitlab-Token", SECRET)], b"");
        assert_eq!(
            (answer.header("allow"), answer.expect(405)),
            (Some("POST"), json!({"error": "Method not allowed"}))
        );
    }
    assert_eq!(bell.http("HEAD", "/webhooks/r", &[], b"").status, 405);
    assert_eq!(bell.post("/webhooks/nobody", &[], b"{}").expect(404), json!({"error": "Unknown route: nobody"}));
    assert_eq!(bell.post("/webhooks/r-evil", &[], b"{}").expect(404), json!({"error": "Unknown route: r-evil"}));
    for path in [
        "/elsewhere",
        "/",
        "/webhooks",
        "//webhooks/r",
        "/webhooks/./r",
        "/webhooks/x%2f%2e%2e%2fr",
        "/webhooks/%ff",
        "/p/%ff/webhooks/r",
        "/webhooks/r//",
    ] {
        let answer = bell.post(path, &[("X-Gitlab-Token", SECRET)], b"{}").expect(404);
        assert!(answer["error"].is_string(), "{path}: {answer}");
    }
    assert_eq!(bell.list("/events"), Vec::<Value>::new());
}

#[test]
fn a_route_has_its_place_and_its_profile() {
    let bell = Home::new()
        .agent("default", shell("cat"))
        .route("plain", json!({}))
        .route("ops", json!({"profile": "work"}))
        .route("off", json!({"enabled": false}))
        .start();
    let post = |path: &str| {
        let headers = github_headers(SECRET, "push", &fresh_id(), b"{}");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        bell.post(path, &headers, b"{}")
    };
    let right = [
        "/webhooks/plain",
        "/webhooks/plain/",
        "/p/default/webhooks/plain",
        "/p/work/webhooks/ops",
        "/p/work/webhooks/ops/",
    ];
    for path in right {
        post(path).expect(202);
    }
    for path in ["/webhooks/ops", "/p/work/webhooks/plain", "/p/default/webhooks/ops"] {
        assert!(post(path).expect(404)["error"].as_str().unwrap().starts_with("Unknown route: "), "{path}");
    }
    assert_eq!(post("/webhooks/off").expect(403), json!({"error": "Route disabled: off"}));
}

#[test]
fn a_body_may_be_as_large_as_the_limit_and_not_a_byte_larger() {
    let bell = Home::new()
        .server(json!({"max_body_bytes": 5000}))
        .agent("default", shell("cat"))
        .route("small", json!({"max_body_bytes": "1000", "prompt": "x"}))
        .route("r", json!({"source": "gitlab", "prompt": "x"}))
        .start();
    let body = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
    for (route, limit) in [("small", 1000), ("r", 5000)] {
        let ring = |length: usize| bell.ring(route).header("X-Gitlab-Token", SECRET).bytes(body(length)).post();
        ring(limit).expect(202);
        assert_eq!(ring(limit + 1).expect(413), json!({"error": "Payload too large"}));
    }
    // What is declared is judged before it is read, what is not is counted while it comes.
    let declared = exchange(&bell, &request("Content-Length: 99999999\r\n", ""));
    assert!(declared.starts_with("HTTP/1.1 413 "), "{declared}");
    let chunks = format!("{}0\r\n\r\n", format!("400\r\n{}\r\n", "x".repeat(1024)).repeat(6));
    let streamed = exchange(&bell, &request("Transfer-Encoding: chunked\r\n", &chunks));
    assert!(streamed.starts_with("HTTP/1.1 413 "), "{streamed}");
    assert_eq!(bell.list("/events").len(), 2);
}

#[test]
fn chunks_are_a_body_like_any_other() {
    let bell = house(json!({}));
    let answer =
        exchange(&bell, &request("Transfer-Encoding: chunked\r\nConnection: close\r\n", "2\r\n{}\r\n0\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    let mut stream = bell.connect();
    stream.write_all(&request("Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n", "")).unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n", "a sender that asks first is told to go on");
    stream.write_all(b"{}").unwrap();
    assert_eq!(read_answer(&stream, false).unwrap().status, 202);
}

#[test]
fn a_request_that_ends_in_two_places_smuggles_nothing() {
    let bell = house(json!({}));
    let hidden = String::from_utf8(request("Content-Length: 2\r\n", "{}")).unwrap();
    let chunked = format!("2\r\n{{}}\r\n0\r\n\r\n{hidden}");
    // A length beside chunks: the chunks count, or it is refused; what stands behind them is never looked at.
    let mut taken = 0;
    for lines in
        ["Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"]
    {
        let answer = exchange(&bell, &request(lines, &chunked));
        let accepted = answer.starts_with("HTTP/1.1 202 ");
        taken += usize::from(accepted);
        assert!(accepted || answer.starts_with("HTTP/1.1 400 "), "{lines:?} gave {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{lines:?} gave {answer}");
    }
    assert_eq!(bell.list("/events").len(), taken);

    let framings = [
        ("Content-Length: 2\r\nContent-Length: 3\r\n", format!("{{}} {hidden}")),
        ("Content-Length: 2, 3\r\n", format!("{{}} {hidden}")),
        ("Content-Length: +2\r\n", format!("{{}}{hidden}")),
        ("Transfer-Encoding: chunked, identity\r\n", format!("2\r\n{{}}\r\n0\r\n\r\n{hidden}")),
        ("Transfer-Encoding: chunked\r\n", format!("ZZ\r\n{{}}\r\n0\r\n\r\n{hidden}")),
    ];
    for (lines, body) in framings {
        let answer = exchange(&bell, &request(lines, &body));
        assert!(answer.starts_with("HTTP/1.1 400 "), "{lines:?} gave {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{lines:?} gave {answer}");
    }
    assert_eq!(bell.list("/events").len(), taken);
    exchange(&bell, b"\x16\x03\x01 no HTTP at all\r\n\r\n");
    assert_eq!(
        exchange(&bell, &request("Content-Length: 2\r\nConnection: close\r\n", "{}")).get(..12),
        Some("HTTP/1.1 202")
    );
}

#[test]
fn half_a_body_is_no_body() {
    let bell = house(json!({}));
    let stream = bell.connect();
    (&stream).write_all(&request("Content-Length: 4096\r\n", r#"{"object_kind": "push"}"#)).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let answer = String::from_utf8(read_to_end(&stream)).unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(bell.list("/events"), Vec::<Value>::new());
}

/// Sends a byte again and again, a little apart, until the gateway has closed; answers what it said.
fn drip(stream: &TcpStream, drop: &[u8]) -> String {
    stream.set_read_timeout(Some(std::time::Duration::from_millis(30))).unwrap();
    let mut said = Vec::new();
    until("the slow sender is cut off", || {
        let mut some = [0; 1024];
        match (&mut &*stream).read(&mut some) {
            Ok(0) => true,
            Ok(length) => {
                said.extend_from_slice(&some[..length]);
                false
            }
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                let _ = (&mut &*stream).write_all(drop);
                false
            }
            Err(_) => true,
        }
    });
    String::from_utf8(said).unwrap()
}

#[test]
fn who_is_too_slow_is_cut_off_while_others_are_served() {
    let bell = house(json!({"header_timeout": "1s", "body_timeout": "1s"}));
    let slow: [(&str, Vec<u8>, &[u8]); 4] = [
        ("nothing at all", Vec::new(), b""),
        ("headers without end", b"POST /webhooks/r HTTP/1.1\r\nHost: x\r\nX-A: ".to_vec(), b"a"),
        ("a body that drips", request("Content-Length: 5000\r\n", "["), b" "),
        ("chunks without end", request("Transfer-Encoding: chunked\r\n", "1\r\n[\r\n"), b"1\r\n \r\n"),
    ];
    std::thread::scope(|scope| {
        for (what, start, drop) in &slow {
            let stream = bell.connect();
            (&stream).write_all(start).unwrap();
            scope.spawn(move || {
                let said = drip(&stream, drop);
                assert!(
                    said.is_empty() || said.starts_with("HTTP/1.1 408 ") || said.starts_with("HTTP/1.1 400 "),
                    "{what}: {said}"
                );
                if what.contains("body") || what.contains("chunks") {
                    assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("Request timed out"), "{what}: {said}");
                }
            });
        }
        bell.http("GET", "/health", &[], b"").expect(200);
        assert!(
            exchange(&bell, &request("Content-Length: 2\r\nConnection: close\r\n", "{}")).starts_with("HTTP/1.1 202 ")
        );
    });
    assert_eq!(bell.list("/events").len(), 1);
}

#[test]
fn a_connection_can_be_used_again_but_not_kept_for_nothing() {
    let bell = house(json!({"header_timeout": "1s"}));
    let stream = bell.connect();
    for _ in 0..3 {
        (&stream).write_all(&request("Content-Length: 2\r\n", "{}")).unwrap();
        assert_eq!(read_answer(&stream, false).unwrap().status, 202);
    }
    assert_eq!(read_to_end(&stream), b"", "an idle connection is closed");
}

#[test]
fn a_sender_may_hang_up_after_its_last_byte() {
    let agent = Agent::new();
    let bell = Home::with(&agent).start();
    let mut ids = Vec::new();
    for number in 0..10 {
        let (id, body) = (fresh_id(), format!("{{\"n\": {number}}}"));
        let headers = github_headers(SECRET, "push", &id, body.as_bytes());
        let mut stream = bell.connect();
        stream.write_all(&http_request("POST", "/webhooks/r", &headers, body.as_bytes())).unwrap();
        drop(stream);
        ids.push(id);
    }
    for (number, id) in ids.iter().enumerate() {
        let event = until_some("the event is on record", || bell.list(&format!("/events?delivery_id={id}")).pop());
        bell.wait_event(event["id"].as_str().unwrap(), "succeeded");
        assert_eq!(bell.ring("r").id(id).json(&json!({"n": number})).duplicate(), event["id"]);
    }
    let mut prompts: Vec<u32> = agent.prompts().iter().map(|prompt| prompt.parse().unwrap()).collect();
    prompts.sort_unstable();
    assert_eq!(prompts, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_request_counts_although_its_sender_has_gone_before_it_was_looked_at() {
    // The only place is taken, so that the others are there with their last byte and their end before they are read.
    let bell = house(json!({"max_connections": 1}));
    let keeper = bell.connect();
    (&keeper).write_all(&request("Content-Length: 2\r\n", "{}")).unwrap();
    assert_eq!(read_answer(&keeper, false).unwrap().status, 202);
    for _ in 0..5 {
        bell.connect().write_all(&request("Content-Length: 2\r\n", "{}")).unwrap();
    }
    let half_closed = bell.connect();
    (&half_closed).write_all(&request("Content-Length: 2\r\n", "{}")).unwrap();
    half_closed.shutdown(Shutdown::Write).unwrap();
    drop(keeper);
    assert_eq!(read_answer(&half_closed, false).unwrap().status, 202, "who only stopped sending gets its answer");
    until("all are on record", || bell.list("/events").len() == 7);
}

#[test]
fn no_more_connections_than_allowed_and_the_next_waits_its_turn() {
    let bell = house(json!({"max_connections": 2, "header_timeout": "20s"}));
    let kept: Vec<TcpStream> = (0..2)
        .map(|_| {
            let stream = bell.connect();
            (&stream).write_all(&request("Content-Length: 2\r\n", "{}")).unwrap();
            assert_eq!(read_answer(&stream, false).unwrap().status, 202);
            stream
        })
        .collect();
    let third = bell.connect();
    (&third).write_all(&request("Content-Length: 2\r\nConnection: close\r\n", "{}")).unwrap();
    third.set_read_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
    let nothing = (&third).read(&mut [0]).map_err(|error| error.kind());
    assert!(matches!(nothing, Err(std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)), "{nothing:?}");
    drop(kept);
    third.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(read_answer(&third, false).unwrap().status, 202);
}

/// A certificate of its own authority for `localhost`, as the PEM texts of certificate and key.
fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

/// Makes a request over TLS, trusting one certificate.
fn over_tls(bell: &Doorbell, trusted: &str, bytes: &[u8]) -> std::io::Result<Answer> {
    use rustls::pki_types::pem::PemObject as _;
    let trusted = rustls::pki_types::CertificateDer::from_pem_slice(trusted.as_bytes()).expect("a PEM text");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("versions").with_root_certificates(roots).with_no_client_auth();
    let name = "localhost".try_into().expect("a name");
    let client = rustls::ClientConnection::new(Arc::new(config), name).map_err(std::io::Error::other)?;
    let mut stream = rustls::StreamOwned::new(client, bell.connect());
    stream.write_all(bytes)?;
    read_answer(&mut stream, false)
}

#[test]
fn tls_is_spoken_and_a_new_certificate_taken_without_a_restart() {
    let (cert, key) = certificate();
    let bell = Home::new()
        .server(json!({"tls": {"cert": "cert.pem", "key": "key.pem"}}))
        .agent("default", shell("cat"))
        .route("r", json!({"source": "gitlab", "prompt": "rung"}))
        .file("cert.pem", &cert)
        .file("key.pem", &key)
        .start();
    assert!(bell.log().contains("webhooks on https://127.0.0.1:"), "{}", bell.log());
    let bytes = request("Content-Length: 2\r\nConnection: close\r\n", "{}");
    over_tls(&bell, &cert, &bytes).unwrap().expect(202);

    // A half-renewed pair is refused, and the old one stays.
    let (new_cert, new_key) = certificate();
    std::fs::write(bell.home().join("cert.pem"), &new_cert).unwrap();
    bell.signal(rustix::process::Signal::HUP);
    bell.wait_log("the running one stays");
    over_tls(&bell, &cert, &bytes).unwrap().expect(202);

    std::fs::write(bell.home().join("key.pem"), &new_key).unwrap();
    bell.signal(rustix::process::Signal::HUP);
    bell.wait_log("configuration reloaded");
    over_tls(&bell, &new_cert, &bytes).unwrap().expect(202);
    assert!(over_tls(&bell, &cert, &bytes).is_err(), "who trusts the old one only is no longer served");
    let plain = exchange(&bell, &bytes);
    assert!(!plain.starts_with("HTTP/1.1 2"), "{plain}");
}
