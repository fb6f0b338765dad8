//! How many runs there are at a time, and which comes first.

mod support;

use support::*;

/// A gateway whose agent has room for so many runs.
fn house(agent: &Agent, room: u32) -> Home {
    Home::with(agent).agent("default", agent.options_with(json!({"max_concurrent": room})))
}

/// Shows that nothing more of a route starts: work for another agent that came later is done, and these still wait.
fn still_wait(bell: &Doorbell, events: &[String]) {
    bell.wait_event(&bell.send("witness", &json!({})), "succeeded");
    for event in events {
        assert_eq!(bell.event(event)["state"], "queued");
    }
}

fn with_witness(home: Home) -> Home {
    home.agent("witness", shell("cat")).route("witness", json!({"prompt": "seen", "agent": "witness"}))
}

#[test]
fn an_agent_has_two_runs_at_a_time_unless_told_otherwise() {
    let agent = Agent::gated();
    let bell = with_witness(Home::with(&agent)).start();
    let events: Vec<String> = (0..6).map(|n| bell.send("r", &json!({"n": n}))).collect();
    agent.wait_runs(2);
    still_wait(&bell, &events[2..]);
    assert_eq!(bell.get("/status")["runs"]["running"], 2);
    agent.open();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(agent.most_at_once(|_| true), 2);
    assert_eq!(agent.runs().len(), 6);
}

#[test]
fn a_route_with_a_limit_does_not_hold_up_its_neighbour() {
    let agent = Agent::gated();
    let bell = with_witness(house(&agent, 4))
        .route("one", json!({"prompt": "one", "max_concurrent": 1}))
        .route("free", json!({"prompt": "free"}))
        .start();
    let ones: Vec<String> = (0..3).map(|_| bell.send("one", &json!({}))).collect();
    agent.wait_runs(1);
    let frees: Vec<String> = (0..4).map(|_| bell.send("free", &json!({}))).collect();
    agent.wait_runs(4);
    still_wait(&bell, &[ones[1].clone(), ones[2].clone(), frees[3].clone()]);
    agent.open();
    for event in ones.iter().chain(&frees) {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(agent.most_at_once(|run| run.prompt == "one"), 1);
    assert_eq!(agent.most_at_once(|_| true), 4);
}

#[test]
fn the_more_urgent_goes_first_then_the_earlier() {
    let agent = Agent::gated();
    let bell = house(&agent, 1)
        .route("low", json!({"prompt": "{n}"}))
        .route("high", json!({"prompt": "{n}", "priority": 10}))
        .route("never", json!({"prompt": "{n}", "priority": -1}))
        .start();
    bell.send("low", &json!({"n": "first"}));
    agent.wait_runs(1);
    let waiting = [("never", "n1"), ("low", "l1"), ("high", "h1"), ("low", "l2"), ("high", "h2")];
    for (route, n) in waiting {
        bell.send(route, &json!({"n": n}));
    }
    agent.open();
    agent.wait_runs(6);
    assert_eq!(agent.prompts(), ["first", "h1", "h2", "l1", "l2", "n1"]);
}

/// A route whose events with the same `k` form a line.
fn lines(agent: &Agent, more: Value) -> Home {
    let mut route = json!({"prompt": "{k}{n}", "serial_by": "{k}"});
    let Value::Object(more) = more else { panic!("keys are a mapping") };
    route.as_object_mut().unwrap().extend(more);
    house(agent, 8).route("line", route)
}

#[test]
fn a_line_runs_one_by_one_beside_other_lines() {
    let agent = Agent::gated();
    let bell = with_witness(lines(&agent, json!({}))).start();
    let send = |k: &str, n: u32| bell.send("line", &json!({"k": k, "n": n}));
    let events: Vec<String> = [("a", 1), ("a", 2), ("b", 1), ("a", 3), ("b", 2)].map(|(k, n)| send(k, n)).to_vec();
    agent.wait_runs(2);
    still_wait(&bell, &[events[1].clone(), events[3].clone(), events[4].clone()]);
    assert_eq!(bell.event(&events[0])["session"], "a");
    agent.open();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    let of = |k: &str| agent.prompts().into_iter().filter(|prompt| prompt.starts_with(k)).collect::<Vec<_>>();
    assert_eq!((of("a"), of("b")), (vec!["a1".into(), "a2".into(), "a3".into()], vec!["b1".into(), "b2".into()]));
    for k in ["a", "b"] {
        assert_eq!(agent.most_at_once(|run| run.prompt.starts_with(k)), 1);
    }
}

#[test]
fn events_without_a_value_stand_in_no_line() {
    let agent = Agent::gated();
    let bell = lines(&agent, json!({})).start();
    let events = [json!({"n": 1}), json!({"n": 2}), json!({"k": null, "n": 3}), json!({"k": null, "n": 4})];
    let events = events.map(|body| bell.send("line", &body));
    agent.wait_runs(4);
    agent.open();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
}

#[test]
fn who_waits_for_a_retry_keeps_its_place_in_the_line() {
    let agent = Agent::failing(1, 1);
    let bell = lines(&agent, json!({"retry_backoff": "2s"})).start();
    let first = bell.send("line", &json!({"k": "a", "n": 1}));
    bell.wait_event(&first, "failed");
    let second = bell.send("line", &json!({"k": "a", "n": 2}));
    let other = bell.send("line", &json!({"k": "b", "n": 1}));
    bell.wait_event(&other, "succeeded");
    assert_eq!((&bell.event(&first)["state"], &bell.event(&second)["state"]), (&json!("failed"), &json!("queued")));
    bell.wait_event(&first, "succeeded");
    bell.wait_event(&second, "succeeded");
    assert_eq!(agent.prompts(), ["a1", "b1", "a1", "a2"]);
}

#[test]
fn a_line_goes_on_when_its_head_was_given_up_or_cancelled() {
    let agent = Agent::failing(1, 1);
    let bell = lines(&agent, json!({"retry_backoff": "30m", "max_retries": 1})).start();
    let send = |n: u32| bell.send("line", &json!({"k": "a", "n": n}));
    let first = send(1);
    bell.wait_event(&first, "failed");
    let second = send(2);
    assert_eq!(bell.admin("POST", &format!("/api/v1/events/{first}/cancel")).status, 200);
    bell.wait_event(&second, "succeeded");
    assert_eq!(bell.event(&first)["state"], "cancelled");
}

#[test]
fn a_line_survives_a_crash_in_its_order() {
    let agent = Agent::gated();
    let mut bell = lines(&agent, json!({})).start();
    let events: Vec<String> = (1..=3).map(|n| bell.send("line", &json!({"k": "a", "n": n}))).collect();
    agent.wait_runs(1);
    bell.kill9_and_restart();
    agent.wait_runs(2);
    agent.open();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(agent.prompts(), ["a1", "a1", "a2", "a3"]);
}

#[test]
fn a_paused_route_takes_everything_and_runs_nothing_until_it_is_resumed() {
    let agent = Agent::new();
    let mut bell = house(&agent, 1).route("other", json!({"prompt": "other"})).start();
    let steer = |bell: &Doorbell, word: &str| {
        let answer = bell.admin("POST", &format!("/api/v1/routes/r/{word}"));
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    steer(&bell, "pause");
    let events: Vec<String> =
        (0..3).map(|n| bell.ring("r").id(&format!("p{n}")).json(&json!({"n": n})).accepted()).collect();
    let held = |bell: &Doorbell| {
        for event in &events {
            let event = bell.event(event);
            assert_eq!((&event["state"], &event["reason"]), (&json!("held"), &json!("paused")));
        }
    };
    bell.wait_event(&bell.send("other", &json!({})), "succeeded");
    held(&bell);
    assert_eq!(bell.ring("r").id("p0").duplicate(), events[0]);
    bell.kill9_and_restart();
    bell.wait_event(&bell.send("other", &json!({})), "succeeded");
    held(&bell);
    bell.restart();
    held(&bell);
    steer(&bell, "resume");
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(agent.prompts(), ["other", "other", "0", "1", "2"]);
}

#[test]
fn a_pause_lets_the_run_in_flight_end() {
    let agent = Agent::gated();
    let bell = house(&agent, 1).start();
    let (running, waiting) = (bell.send("r", &json!({"n": 1})), bell.send("r", &json!({"n": 2})));
    agent.wait_runs(1);
    bell.admin("POST", "/api/v1/routes/r/pause").expect(200);
    agent.open();
    bell.wait_event(&running, "succeeded");
    assert_eq!(bell.event(&waiting)["state"], "held");
    bell.admin("POST", "/api/v1/routes/r/resume").expect(200);
    bell.wait_event(&waiting, "succeeded");
}
