//! A part of the gateway that panics: a gateway that takes requests and does nothing with them would be worse than none.

mod support;

use support::*;

/// Rings while the gateway is to panic at a point; it ends and says so, and the next life does what was left.
fn breaks_off_at(point: &str) {
    let agent = Agent::new();
    let mut bell = Home::with(&agent).env("DOORBELL_AT_POINT", &format!("{point}#1=panic")).start();
    let event = bell.send("r", &json!({"n": 1}));
    let end = bell.wait_end();
    assert_eq!(end.code(), Some(1), "{point}: {}", bell.log());
    assert_eq!(bell.said("a part of the gateway broke off"), 1, "{point}: {}", bell.log());
    bell.rewrite(|home| home.env("DOORBELL_AT_POINT", ""));
    bell.begin();
    bell.wait_event(&event, "succeeded");
    assert_eq!(bell.settled(&event).len(), 1, "{point}");
    let again = bell.send("r", &json!({"n": 2}));
    bell.wait_event(&again, "succeeded");
    assert_eq!(bell.stop(), 0);
}

#[test]
fn the_scheduler() {
    breaks_off_at("run.claimed");
}

#[test]
fn a_run() {
    breaks_off_at("run.prepared");
    breaks_off_at("run.ended");
}

#[test]
fn the_courier() {
    breaks_off_at("delivery.claimed");
}

#[test]
fn the_answer_of_a_request_is_not_given() {
    let agent = Agent::new();
    let mut bell = Home::with(&agent).env("DOORBELL_AT_POINT", "request.verified#1=panic").start();
    let answer = bell.ring("r").id("twice").json(&json!({})).post();
    assert_eq!((answer.status, answer.header("retry-after").is_some()), (503, true), "{answer:?}");
    let event = bell.ring("r").id("twice").json(&json!({})).accepted();
    bell.wait_event(&event, "succeeded");
    assert_eq!(bell.stop(), 0, "one request is no reason to stop");
}
