//! A log that cannot be written, or that nobody reads, costs nothing: no event, no answer, no stop.

mod support;

use std::fs::File;
use std::io::pipe;
use std::process::Stdio;

use support::*;

fn answers_and_stops(mut bell: Doorbell, requests: u32) {
    let events: Vec<String> = (0..requests).map(|n| bell.send("r", &json!({"n": n}))).collect();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(bell.stop(), 0);
}

fn home() -> (Agent, Home) {
    let agent = Agent::new();
    let home = Home::with(&agent).agent("quick", json!({"preset": "command", "command": ["cat"], "max_concurrent": 8}));
    (agent, home.route("r", json!({"prompt": "{n}", "agent": "quick"})))
}

#[test]
fn a_log_on_a_full_disk() {
    let full = File::options().write(true).open("/dev/full").expect("a device that is always full");
    let (_agent, home) = home();
    answers_and_stops(home.start_logging_to(Stdio::from(full)), 20);
}

#[test]
fn a_log_whose_reader_has_gone() {
    let (reader, writer) = pipe().expect("a pipe");
    let (_agent, home) = home();
    let bell = home.start_logging_to(Stdio::from(writer));
    drop(reader);
    answers_and_stops(bell, 20);
}

#[test]
fn a_log_whose_reader_does_not_read() {
    let (reader, writer) = pipe().expect("a pipe");
    let (_agent, home) = home();
    // Some 200 bytes a line and several lines a request: far more than the 64 KiB that a pipe holds.
    answers_and_stops(home.start_logging_to(Stdio::from(writer)), 300);
    drop(reader);
}
