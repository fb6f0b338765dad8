//! Ends of every kind, at every moment: what was accepted is not lost, what was paid for is not bought again, and nothing
//! of an earlier life runs beside the new one.

mod support;

use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use support::*;

/// A gateway with room for one run.
fn house(agent: &Agent) -> Home {
    Home::with(agent).agent("default", agent.options_with(json!({"max_concurrent": 1})))
}

fn states(runs: &[Value]) -> Vec<(&str, u64)> {
    runs.iter().map(|run| (run["state"].as_str().unwrap(), run["attempt"].as_u64().unwrap())).collect()
}

#[test]
fn kill_9_loses_nothing_that_was_accepted() {
    let agent = Agent::gated();
    let mut bell = house(&agent).start();
    let ids: Vec<String> = (0..5).map(|n| format!("kept-{n}")).collect();
    let ring = |bell: &Doorbell, n: usize| bell.ring("r").id(&ids[n]).json(&json!({"n": n}));
    let events: Vec<String> = (0..5).map(|n| ring(&bell, n).accepted()).collect();
    agent.wait_runs(1);
    bell.kill9();
    agent.open();
    bell.begin();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(agent.prompts(), ["0", "0", "1", "2", "3", "4"], "in their order, the one in flight again");
    assert_eq!(states(&bell.runs(&events[0])), [("interrupted", 1), ("succeeded", 2)]);
    assert_eq!(agent.runs()[1].var("DOORBELL_ATTEMPT"), "2");
    for (n, event) in events.iter().enumerate() {
        assert_eq!(&ring(&bell, n).duplicate(), event);
        assert_eq!(bell.settled(event).len(), 1, "told once");
    }
}

#[test]
fn an_answer_is_on_disk_the_moment_it_is_given() {
    let agent = Agent::new();
    let mut bell = house(&agent).start();
    for n in 0..5 {
        let event = bell.send("r", &json!({"n": n}));
        bell.kill9_and_restart();
        bell.wait_event(&event, "succeeded");
    }
}

#[test]
fn a_failed_run_still_waits_for_its_retry_after_a_crash() {
    let agent = Agent::failing(1, 1);
    let mut bell = house(&agent).route("r", json!({"prompt": "x", "max_retries": 1, "retry_backoff": "1s"})).start();
    let event = bell.send("r", &json!({}));
    let due = bell.wait_event(&event, "failed")["due_at"].clone();
    bell.kill9_and_restart();
    assert_eq!(bell.event(&event)["due_at"], due, "a crash does not move it");
    bell.wait_event(&event, "succeeded");
    assert_eq!(states(&bell.runs(&event)), [("failed", 1), ("succeeded", 2)]);
}

#[test]
fn no_agent_outlives_its_gateway_and_none_runs_beside_its_rerun() {
    let agent = Agent::gated();
    agent.tell("ignore_term", "");
    agent.tell("leave_children", "");
    let mut bell = house(&agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    let first = agent.wait_runs(1).remove(0);
    // The later ones are polite, which is quicker.
    agent.forget("ignore_term");
    bell.kill9_and_restart();
    assert_eq!(bell.event(&event)["state"], "running", "until nothing of it is left");
    // They refuse SIGTERM, so the rerun comes after SIGKILL.
    let second = agent.wait_runs(2).remove(1);
    for pid in [first.pid, first.children[0], first.children[1]] {
        assert!(!alive(pid), "{pid} of {first:?} runs beside the rerun");
    }
    bell.kill9();
    until("the agents of the second life are gone", || {
        ![second.pid, second.children[0], second.children[1]].into_iter().any(alive)
    });
    agent.open();
    bell.begin();
    bell.wait_event(&event, "succeeded");
    assert_eq!(states(&bell.runs(&event)), [("interrupted", 1), ("interrupted", 2), ("succeeded", 3)]);
}

#[test]
fn an_event_that_takes_the_gateway_down_again_and_again_is_given_up() {
    let agent = Agent::gated();
    let mut bell = house(&agent).start();
    let event = bell.send("r", &json!({"n": "cursed"}));
    for life in 1..=5 {
        agent.wait_runs(life);
        bell.kill9_and_restart();
    }
    assert_eq!(bell.wait_event(&event, "exhausted")["reason"], "crash_loop");
    assert_eq!(states(&bell.runs(&event)), (1..=5).map(|n| ("interrupted", n)).collect::<Vec<_>>());
    agent.open();
    bell.wait_event(&bell.send("r", &json!({"n": "fine"})), "succeeded");
    assert_eq!(agent.runs().len(), 6);
}

#[test]
fn a_polite_stop_gives_runs_time_to_end() {
    let agent = Agent::gated();
    let mut bell = house(&agent).server(json!({"shutdown_grace": "30s"})).start();
    let (event, waiting) = (bell.send("r", &json!({"n": 1})), bell.send("r", &json!({"n": 2})));
    agent.wait_runs(1);
    bell.signal(Signal::TERM);
    let address = bell.address();
    until("no further requests are taken", || std::net::TcpStream::connect(address).is_err());
    agent.open();
    assert_eq!(bell.wait_end().code(), Some(0));
    bell.begin();
    bell.wait_event(&waiting, "succeeded");
    assert_eq!(states(&bell.runs(&event)), [("succeeded", 1)]);
    assert_eq!(bell.settled(&event).len(), 1);
    assert_eq!(agent.prompts(), ["1", "2"]);
}

#[test]
fn a_polite_stop_hands_back_what_did_not_end() {
    for signal in [Signal::TERM, Signal::INT] {
        let agent = Agent::gated();
        agent.tell("leave_children", "");
        let mut bell = house(&agent).server(json!({"shutdown_grace": "200ms"})).start();
        let event = bell.send("r", &json!({"n": "job"}));
        let first = agent.wait_runs(1).remove(0);
        bell.signal(signal);
        assert_eq!(bell.wait_end().code(), Some(0), "{}", bell.log());
        assert!(![first.pid, first.children[0], first.children[1]].into_iter().any(alive), "{first:?}");
        bell.begin();
        agent.wait_runs(2);
        let shown = bell.event(&event);
        assert_eq!((&shown["state"], &shown["deliveries"]), (&json!("running"), &json!([])));
        agent.open();
        bell.wait_event(&event, "succeeded");
        assert_eq!(states(&bell.runs(&event)), [("interrupted", 1), ("succeeded", 2)]);
        assert_eq!(agent.prompts(), ["job", "job"]);
    }
}

#[test]
fn a_second_signal_is_obeyed_at_once() {
    let agent = Agent::gated();
    agent.tell("ignore_term", "");
    let mut bell = house(&agent).server(json!({"shutdown_grace": "10m"})).start();
    let event = bell.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    bell.signal(Signal::TERM);
    bell.wait_log("a second signal ends at once");
    let began = Instant::now();
    bell.signal(Signal::TERM);
    assert_eq!(bell.wait_end().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "the agent's five seconds were waited for");
    agent.open();
    bell.begin();
    bell.wait_event(&event, "succeeded");
}

#[test]
fn a_home_has_one_owner() {
    let agent = Agent::new();
    let mut bell = house(&agent).start();
    let second = bell.cli(&["serve"]).fails(1);
    assert!(second.contains("doorbell.lock") && second.contains("--home"), "{second}");
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
    bell.kill9_and_restart();
    bell.wait_event(&bell.send("r", &json!({"n": 2})), "succeeded");
}

#[test]
fn at_its_file_size_limit_a_gateway_refuses_and_goes_on() {
    let agent = Agent::new();
    let bell = house(&agent).start();
    let pid = i32::try_from(bell.pid()).ok().and_then(Pid::from_raw);
    // As `ulimit -f 0` does, from now on.
    let before = prlimit(pid, Resource::Fsize, Rlimit { current: Some(0), maximum: None }).expect("the limit is set");
    assert_eq!(bell.ring("r").post().status, 503);
    prlimit(pid, Resource::Fsize, before).expect("the limit is lifted");
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
}

#[test]
fn an_agent_that_lost_its_warden_does_not_live_on_beside_its_rerun() {
    let agent = Agent::gated();
    let bell = house(&agent).route("r", json!({"prompt": "x", "retry_backoff": "100ms"})).start();
    let event = bell.send("r", &json!({}));
    let first = agent.wait_runs(1).remove(0);
    kill(parent(first.pid));
    agent.wait_runs(2);
    assert!(!alive(first.pid), "{first:?} runs beside its rerun");
    agent.open();
    bell.wait_event(&event, "succeeded");
    assert_eq!(states(&bell.runs(&event)), [("failed", 1), ("succeeded", 2)]);
}

/// A gateway that delivers by webhook to this receiver, with these further keys of the target.
fn teller(agent: &Agent, receiver: &Receiver, more: Value) -> Home {
    let mut target = json!({"type": "webhook", "url": receiver.url(), "retry_backoff": "100ms"});
    let Value::Object(more) = more else { panic!("keys are a mapping") };
    target.as_object_mut().unwrap().extend(more);
    house(agent).target("there", target).route("r", json!({"prompt": "{n}", "deliver": "there"}))
}

#[test]
fn an_answer_that_waits_for_its_target_is_told_after_a_crash_without_another_run() {
    let agent = Agent::answering("paid for");
    let refusal = Reply::With(429, vec![("Retry-After", "2".to_owned())], "{}");
    let receiver = Receiver::answering(vec![refusal, Reply::status(200)]);
    let mut bell = teller(&agent, &receiver, json!({})).start();
    let event = bell.send("r", &json!({}));
    until("the refusal is on record", || bell.deliveries(&event).iter().any(|delivery| delivery["state"] == "failed"));
    bell.kill9_and_restart();
    let delivery = bell.settled(&event).remove(0);
    assert_eq!(
        (&delivery["state"], &delivery["content"], &delivery["attempts"]),
        (&json!("delivered"), &json!("paid for"), &json!(2))
    );
    let seen = receiver.seen();
    assert_eq!((seen.len(), agent.runs().len()), (2, 1));
    assert_eq!(
        (seen[0].header("x-hermes-delivery"), &seen[0].body),
        (seen[1].header("x-hermes-delivery"), &seen[1].body)
    );
}

#[test]
fn of_a_message_cut_off_by_a_crash_nobody_knows_and_nobody_sends_it_again() {
    let agent = Agent::new();
    let gate = Gate::default();
    let receiver = Receiver::answering(vec![Reply::When(gate.clone()), Reply::status(200)]);
    let mut bell = teller(&agent, &receiver, json!({})).start();
    let event = bell.send("r", &json!({}));
    receiver.wait(1);
    bell.kill9_and_restart();
    gate.open();
    let delivery = bell.settled(&event).remove(0);
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("unknown"), &json!(1)), "{delivery}");
    // A later message goes out: the first one would have gone before it.
    bell.settled(&bell.send("r", &json!({})));
    assert_eq!((receiver.seen().len(), agent.runs().len()), (2, 2));
}

#[test]
fn where_a_second_copy_does_no_harm_it_is_sent() {
    let agent = Agent::new();
    let gate = Gate::default();
    let receiver = Receiver::answering(vec![Reply::When(gate.clone()), Reply::status(200)]);
    let mut bell = teller(&agent, &receiver, json!({"idempotent": true})).start();
    let event = bell.send("r", &json!({}));
    receiver.wait(1);
    bell.kill9_and_restart();
    gate.open();
    let delivery = bell.settled(&event).remove(0);
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("delivered"), &json!(2)), "{delivery}");
    let seen = receiver.seen();
    assert_eq!((seen.len(), agent.runs().len()), (2, 1));
    assert_eq!(seen[0].header("x-hermes-delivery"), seen[1].header("x-hermes-delivery"));
}

#[test]
fn a_program_that_was_telling_is_ended_with_its_gateway() {
    let agent = Agent::new();
    let command =
        json!({"command": ["sh", "-c", "echo $$ > told.new && mv told.new told; exec sleep 600"], "timeout": "10m"});
    let mut bell =
        house(&agent).target("command", command).route("r", json!({"prompt": "x", "deliver": "command"})).start();
    let event = bell.send("r", &json!({}));
    let told = bell.home().join("told");
    let pid = until_some("the program runs", || std::fs::read_to_string(&told).ok()?.trim().parse().ok());
    bell.kill9_and_restart();
    assert_eq!(bell.settled(&event)[0]["state"], "unknown");
    assert!(!alive(pid), "it still tells");
}
