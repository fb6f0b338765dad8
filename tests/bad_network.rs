//! Senders of every bad kind: thousands that say nothing, some that say it slowly, and those that hang up at any moment.

mod support;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::*;

fn house(server: Value) -> Doorbell {
    Home::new().server(server).agent("default", shell("cat")).route("r", json!({"prompt": "x"})).start()
}

/// As many files as the test may have open.
fn most_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .expect("the limit is raised");
    limit.maximum.unwrap_or(u64::MAX)
}

/// What the gateway has in memory, in KiB.
fn memory(bell: &Doorbell) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", bell.pid())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a figure");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Whether the other side has closed.
fn closed(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket");
    match (&mut &*stream).read(&mut [0; 64]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn ten_thousand_that_say_nothing() {
    let files = usize::try_from(most_files()).unwrap_or(usize::MAX);
    let count = 10_000.min(files.saturating_sub(1_000));
    if count < 10_000 {
        eprintln!("only {count} connections: the system allows {files} open files");
    }
    let bell = house(json!({"max_connections": 12_000, "header_timeout": "5s"}));
    bell.ring("r").accepted();
    let before = memory(&bell);
    let mut idle: Vec<TcpStream> = (0..count).map(|_| bell.connect()).collect();
    for _ in 0..20 {
        bell.ring("r").accepted();
    }
    let each = memory(&bell).saturating_sub(before) / count.max(1);
    assert!(each < 32, "{each} KiB for each of {count} connections");
    until("idle connections are closed", || {
        idle.retain(|stream| !closed(stream));
        idle.is_empty()
    });
    bell.ring("r").accepted();
}

#[test]
fn with_all_places_taken_others_wait_and_are_served() {
    assert!(most_files() >= 1_600, "a test needs some files");
    let bell = house(json!({"header_timeout": "3s"}));
    let idle: Vec<TcpStream> = (0..1_024).map(|_| bell.connect()).collect();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| bell.ring("r").accepted());
        }
    });
    assert!(idle.iter().any(closed), "they have the places of those that said nothing");
    assert_eq!(bell.list("/events").len(), 20);
}

#[test]
fn many_that_send_a_byte_now_and_then_are_cut_off() {
    let bell = house(json!({"header_timeout": "1s", "body_timeout": "1s"}));
    let head = "POST /webhooks/r HTTP/1.1\r\nHost: x\r\n";
    let starts = [
        head.to_owned(),
        format!("{head}Content-Length: 50000\r\n\r\n{{"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n"),
    ];
    let mut slow: Vec<(TcpStream, usize)> = (0..60).map(|n| (bell.connect(), n % starts.len())).collect();
    for (stream, start) in &mut slow {
        stream.write_all(starts[*start].as_bytes()).unwrap();
    }
    for _ in 0..20 {
        bell.ring("r").accepted();
    }
    until("they are cut off", || {
        slow.retain(|(stream, start)| {
            let _ = (&mut &*stream).write_all(if *start == 2 { b"1\r\n \r\n" } else { b"a" });
            !closed(stream)
        });
        slow.is_empty()
    });
    assert_eq!(bell.list("/events").len(), 20);
}

#[test]
fn who_hangs_up_in_the_middle_leaves_nothing_and_may_come_again() {
    let bell = house(json!({}));
    let body = format!("{{\"text\": \"{}\"}}", "x".repeat(200_000));
    let bytes = |id: &str| {
        http_request("POST", "/webhooks/r", &github_headers(SECRET, "push", id, body.as_bytes()), body.as_bytes())
    };
    let ids: Vec<String> = (0..20).map(|_| fresh_id()).collect();
    for (n, id) in ids.iter().enumerate() {
        let bytes = bytes(id);
        let _ = bell.connect().write_all(&bytes[..bytes.len() * n / ids.len()]);
    }
    let whole = bell.ring("r").accepted();
    let listed = bell.list("/events");
    assert_eq!((listed.len(), &listed[0]["id"]), (1, &json!(whole)), "half a request is none");
    for id in &ids {
        bell.ring("r").id(id).bytes(body.clone()).accepted();
    }
}

#[test]
fn who_does_not_wait_for_the_answer_is_known_when_it_comes_again() {
    let bell = house(json!({}));
    for n in 0..20 {
        let (id, body) = (fresh_id(), format!("{{\"n\": {n}}}"));
        let headers = github_headers(SECRET, "push", &id, body.as_bytes());
        bell.connect().write_all(&http_request("POST", "/webhooks/r", &headers, body.as_bytes())).unwrap();
        let first = until_some("it is on record", || bell.list(&format!("/events?delivery_id={id}")).pop());
        assert_eq!(bell.ring("r").id(&id).bytes(body).duplicate(), first["id"]);
        bell.wait_event(first["id"].as_str().unwrap(), "succeeded");
    }
    assert_eq!(bell.list("/events").len(), 20);
}
