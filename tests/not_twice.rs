//! One delivery is one event, however often, from however many sides and through however many lives it comes.

mod support;

use std::sync::Barrier;

use support::*;

#[test]
fn copies_at_the_same_moment_make_one_event() {
    const COPIES: usize = 30;
    let agent = Agent::new();
    let bell = Home::with(&agent).start();
    let (ring, together) = (bell.ring("r").id("race"), Barrier::new(COPIES));
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let copy = || {
            together.wait();
            ring.post()
        };
        let copies: Vec<_> = (0..COPIES).map(|_| scope.spawn(copy)).collect();
        copies.into_iter().map(|copy| copy.join().unwrap()).collect()
    });
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!((statuses[0], statuses[COPIES - 2], statuses[COPIES - 1]), (200, 200, 202), "{statuses:?}");
    let event = answers[0].json()["event_id"].as_str().unwrap().to_owned();
    assert!(answers.iter().all(|answer| answer.json()["event_id"] == *event), "{answers:?}");
    bell.wait_event(&event, "succeeded");
    assert_eq!((agent.runs().len(), bell.list("/events").len()), (1, 1));
}

#[test]
fn a_known_delivery_stays_known_through_stops_and_crashes() {
    let agent = Agent::new();
    let mut bell = Home::with(&agent).start();
    let event = bell.ring("r").id("keep").accepted();
    bell.wait_event(&event, "succeeded");
    bell.restart();
    assert_eq!(bell.ring("r").id("keep").duplicate(), event);
    bell.kill9_and_restart();
    assert_eq!(bell.ring("r").id("keep").duplicate(), event);
    assert_eq!(agent.runs().len(), 1);
}

#[test]
fn another_route_is_another_matter() {
    let agent = Agent::new();
    let bell = Home::with(&agent).route("other", json!({"prompt": "other"})).start();
    let first = bell.ring("r").id("same").accepted();
    let second = bell.ring("other").id("same").accepted();
    assert_ne!(first, second);
    bell.wait_event(&first, "succeeded");
    bell.wait_event(&second, "succeeded");
    assert_eq!(agent.runs().len(), 2);
}

#[test]
fn after_the_window_the_same_id_is_new_work() {
    let agent = Agent::gated();
    let bell = Home::with(&agent).route("r", json!({"prompt": "x", "dedupe_window": "2s"})).start();
    let ring = bell.ring("r").id("window");
    let first = ring.accepted();
    let began = std::time::Instant::now();
    agent.wait_runs(1);
    // Unfinished work is known however long it takes: the window begins at its end.
    until("more than the window has passed", || {
        assert_eq!(ring.duplicate(), first);
        began.elapsed().as_millis() > 2500
    });
    agent.open();
    bell.wait_event(&first, "succeeded");
    let second = until_some("the window has passed", || {
        let answer = ring.post();
        (answer.status == 202).then(|| answer.json()["event_id"].as_str().unwrap().to_owned())
    });
    assert_ne!(second, first);
    bell.wait_event(&second, "succeeded");
    let ended = bell.event(&first)["finished_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let came = bell.event(&second)["received_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(came.as_millisecond() - ended.as_millisecond() >= 2000, "{ended} {came}");
}

#[test]
fn what_was_given_up_may_come_again() {
    let agent = Agent::failing(1, 3);
    let bell = Home::with(&agent).route("r", json!({"prompt": "x", "max_retries": 0})).start();
    let first = bell.ring("r").id("again").accepted();
    bell.wait_event(&first, "exhausted");
    let second = bell.ring("r").id("again").accepted();
    assert_ne!(second, first);
    bell.wait_event(&second, "succeeded");
    assert_eq!(bell.ring("r").id("again").duplicate(), second, "now it is done");
    assert_eq!(bell.event(&first)["state"], "exhausted");
}

#[test]
fn what_a_person_cancelled_stays_cancelled() {
    let agent = Agent::gated();
    let bell = Home::with(&agent).agent("default", agent.options_with(json!({"max_concurrent": 1}))).start();
    bell.send("r", &json!({"n": "first"}));
    agent.wait_runs(1);
    let event = bell.ring("r").id("unwanted").accepted();
    assert_eq!(bell.admin("POST", &format!("/api/v1/events/{event}/cancel")).status, 200);
    assert_eq!(bell.event(&event)["state"], "cancelled");
    assert_eq!(bell.ring("r").id("unwanted").duplicate(), event);
    agent.open();
    bell.wait_event(&bell.send("r", &json!({"n": "last"})), "succeeded");
    assert_eq!(agent.prompts(), ["first", "last"]);
}

#[test]
fn a_route_may_say_what_makes_two_the_same() {
    let agent = Agent::new();
    let bell = Home::with(&agent).route("r", json!({"prompt": "{ts}", "dedupe_key": "{channel}:{ts}"})).start();
    let ring = |id: &str, ts: &str| bell.ring("r").id(id).json(&json!({"channel": "C1", "ts": ts}));
    let first = ring("a", "1.2").accepted();
    assert_eq!(ring("b", "1.2").duplicate(), first, "another id, the same key");
    let second = ring("a", "1.3").accepted();
    // Where the key cannot be filled in, the id counts.
    let third = bell.ring("r").id("c").accepted();
    assert_eq!(bell.ring("r").id("c").duplicate(), third);
    for event in [&first, &second, &third] {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(agent.runs().len(), 3);
}

#[test]
fn only_what_will_run_counts_against_a_limit() {
    let agent = Agent::new();
    let limited = json!({"prompt": "x", "rate_limit": 3, "events": ["push"]});
    let bell = Home::with(&agent).route("limited", limited).start();
    let ring = |id: &str| bell.ring("limited").id(id);
    // Of one clock minute: none of the others may fall into the next one, so the count starts anew when it did.
    until("five posts fall into one minute", || {
        let id = fresh_id();
        for _ in 0..3 {
            assert_eq!(ring(&id).secret("wrong").post().status, 401);
            assert_eq!(ring(&id).event("issues").post().expect(200)["status"], "ignored");
        }
        let first = ring(&id).post();
        if first.status == 429 {
            return false;
        }
        assert_eq!(ring(&id).duplicate(), first.expect(202)["event_id"]);
        let more: Vec<Answer> = (0..4).map(|_| ring(&fresh_id()).post()).collect();
        let Some(limited) = more.iter().find(|answer| answer.status == 429) else { return false };
        assert_eq!(limited.expect(429), json!({"error": "Rate limit exceeded"}));
        let wait: u32 = limited.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(ring(&id).duplicate(), first.json()["event_id"], "a known one is answered all the same");
        more.iter().filter(|answer| answer.status == 202).count() == 2
    });
    bell.send("r", &json!({"n": "the neighbour is not concerned"}));
}
