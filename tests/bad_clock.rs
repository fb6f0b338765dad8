//! A clock that somebody sets, while the gateway runs or between two lives: what waits does not wait for the clock, what is
//! due happens once, nothing that runs is ended, and nothing is removed for an age that it does not have.

mod support;

use std::time::Duration;

use support::*;

const HOURS: Duration = Duration::from_hours(5);
const YEARS: Duration = Duration::from_hours(24 * 365 * 10);
const NOTICED: &str = "the clock was set back";

/// A secret as Standard Webhooks writes it.
const STANDARD: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn states(runs: &[Value]) -> Vec<&str> {
    runs.iter().map(|run| run["state"].as_str().unwrap()).collect()
}

/// A home whose agent fails once, and is tried again after this time.
fn house(agent: &Agent, clock: &WallClock, backoff: &str) -> Home {
    clock.of(Home::with(agent).route("r", json!({"prompt": "{n}", "max_retries": 1, "retry_backoff": backoff})))
}

#[test]
fn a_retry_does_not_wait_for_a_clock_that_was_set_back() {
    let (agent, clock) = (Agent::failing(1, 1), WallClock::right());
    let bell = house(&agent, &clock, "2s").start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&event, "failed");
    clock.goes_back(HOURS);
    bell.wait_event(&event, "succeeded");
    assert_eq!(states(&bell.runs(&event)), ["failed", "succeeded"]);
    bell.wait_log(NOTICED);
    assert_eq!(bell.said(NOTICED), 1, "{}", bell.log());
}

#[test]
fn a_retry_does_not_wait_for_a_clock_that_was_wrong_for_a_while() {
    let (agent, clock) = (Agent::failing(1, 1), WallClock::right());
    let bell = house(&agent, &clock, "2s").start();
    clock.goes_ahead(YEARS);
    bell.wait_log("the clock was set ahead");
    let event = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&event, "failed");
    clock.is_right();
    bell.wait_event(&event, "succeeded");
    let early = bell.send("r", &json!({"n": 2}));
    bell.wait_event(&early, "succeeded");
    assert_eq!(bell.list("/events").len(), 2, "nothing was removed for its age");
}

#[test]
fn a_retry_does_not_wait_for_a_clock_that_was_set_back_between_two_lives() {
    let (agent, clock) = (Agent::failing(1, 1), WallClock::right());
    let mut bell = house(&agent, &clock, "4s").start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&event, "failed");
    bell.kill9();
    clock.goes_back(HOURS);
    bell.begin();
    bell.wait_event(&event, "succeeded");
    assert_eq!(states(&bell.runs(&event)), ["failed", "succeeded"]);
    bell.wait_log(NOTICED);
    assert_eq!(bell.said(NOTICED), 1, "{}", bell.log());
}

#[test]
fn a_delivery_does_not_wait_for_a_clock_that_was_set_back() {
    let (agent, clock) = (Agent::answering("paid for"), WallClock::right());
    let refusal = Reply::With(429, vec![("Retry-After", "3".to_owned())], "{}");
    let receiver = Receiver::answering(vec![refusal, Reply::status(200)]);
    let home = Home::with(&agent).target("there", json!({"type": "webhook", "url": receiver.url()}));
    let bell = clock.of(home.route("r", json!({"prompt": "x", "deliver": "there"}))).start();
    let event = bell.send("r", &json!({}));
    until("the refusal is on record", || bell.deliveries(&event).iter().any(|delivery| delivery["state"] == "failed"));
    clock.goes_back(HOURS);
    assert_eq!(bell.settled(&event)[0]["state"], "delivered");
    assert_eq!(receiver.seen().len(), 2);
}

#[test]
fn a_clock_set_ahead_ends_nothing_that_runs_and_makes_due_what_waits_once() {
    let (agent, clock) = (Agent::failing(1, 1), WallClock::right());
    let quick = json!({"preset": "command", "command": ["cat"], "hint": false});
    let bell = house(&agent, &clock, "10m")
        .agent("default", agent.options_with(json!({"max_concurrent": 4})))
        .agent("quick", quick)
        .route("slow", json!({"prompt": "slow", "timeout": "1h"}))
        .route("quick", json!({"prompt": "q", "agent": "quick"}))
        .start();
    let waits = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&waits, "failed");
    agent.close();
    let runs = bell.send("slow", &json!({}));
    agent.wait_runs(2);
    let again = bell.ring("slow").id("known").accepted();
    clock.goes_ahead(HOURS);
    agent.wait_runs(4);
    assert_eq!(bell.event(&runs)["state"], "running", "an hour has not passed for it");
    assert_eq!(bell.ring("slow").id("known").duplicate(), again, "who has not ended is known however late it is");
    agent.open();
    for event in [&waits, &runs, &again] {
        bell.wait_event(event, "succeeded");
    }
    bell.wait_event(&bell.send("quick", &json!({})), "succeeded");
    assert_eq!(states(&bell.runs(&waits)), ["failed", "succeeded"]);
    assert_eq!(agent.runs().len(), 4, "each once");
}

#[test]
fn a_clock_that_is_years_ahead_removes_nothing() {
    let (agent, clock) = (Agent::new(), WallClock::right());
    let mut bell = house(&agent, &clock, "2s").set("store", json!({"retention": "1h"})).start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.settled(&event);
    assert_eq!(bell.stop(), 0);
    clock.goes_ahead(YEARS);
    bell.begin();
    bell.wait_log("old events are not removed for an hour");
    bell.wait_event(&bell.send("r", &json!({"n": 2})), "succeeded");
    assert_eq!(bell.event(&event)["state"], "succeeded");
    assert_eq!(bell.stop(), 0);
    clock.is_right();
    bell.begin();
    bell.wait_event(&bell.send("r", &json!({"n": 3})), "succeeded");
    assert_eq!(bell.list("/events").len(), 3);
}

#[test]
fn what_is_old_goes_when_the_clock_is_trusted() {
    let (agent, clock) = (Agent::new(), WallClock::right());
    let mut bell = house(&agent, &clock, "2s").set("store", json!({"retention": "1h"})).start();
    bell.settled(&bell.send("r", &json!({"n": 1})));
    assert_eq!(bell.stop(), 0);
    clock.goes_ahead(HOURS);
    bell.begin();
    until("the old event has gone", || bell.list("/events").is_empty());
}

#[test]
fn signatures_with_a_time_follow_the_wall_clock() {
    let clock = WallClock::right();
    let home = Home::new().agent("default", shell("cat"));
    let bell = clock.of(home.route("r", json!({"secret": STANDARD, "prompt": "x"}))).start();
    let ring = || {
        let headers = standard_headers("webhook", STANDARD, &fresh_id(), now_s(), b"{}");
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        bell.post("/webhooks/r", &headers, b"{}").status
    };
    assert_eq!(ring(), 202);
    for set in [WallClock::goes_back, WallClock::goes_ahead] {
        set(&clock, HOURS);
        assert_eq!(ring(), 401);
        clock.is_right();
        assert_eq!(ring(), 202);
    }
}
