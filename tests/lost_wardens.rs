//! Wardens that are killed, asked to end, or halted, by their own programs or together with their gateway: nothing of
//! what they watched over escapes its timeout, its stop, or lives on beside its rerun.

mod support;

use rustix::process::{Pid, Signal, kill_process};
use support::*;

/// A line of shell that notes its own process and one outside of its group in the file `seen`, and then does `then`.
fn noting(then: &str) -> String {
    format!("setsid sleep 600 & echo $$ $! > seen.new && mv seen.new seen; {then}")
}

/// What such a line noted.
fn seen(bell: &Doorbell) -> Vec<u32> {
    let path = bell.home().join("seen");
    let text = until_some("the program runs", || std::fs::read_to_string(&path).ok());
    text.split_whitespace().map(|pid| pid.parse().expect("a process id")).collect()
}

/// A gateway whose only agent is such a line, with a timeout; without retries.
fn house(then: &str, timeout: &str) -> Doorbell {
    let mut agent = shell(&noting(then));
    agent["timeout"] = json!(timeout);
    Home::new().agent("default", agent).route("r", json!({"prompt": "x", "max_retries": 0})).start()
}

/// A gateway whose stub agent waits at its gate, and leaves children; with the first run under way.
fn gated(agent: &Agent) -> (Doorbell, String, SeenRun) {
    agent.tell("leave_children", "");
    let bell = Home::with(agent).route("r", json!({"prompt": "x", "retry_backoff": "100ms"})).start();
    let event = bell.send("r", &json!({}));
    let first = agent.wait_runs(1).remove(0);
    (bell, event, first)
}

#[track_caller]
fn all_gone(pids: &[u32]) {
    for pid in pids {
        assert!(!alive(*pid), "{pid} of {pids:?} lives on");
    }
}

fn pids(run: &SeenRun) -> Vec<u32> {
    [run.pid].into_iter().chain(run.children.iter().copied()).collect()
}

fn halt(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::STOP).expect("the process runs");
}

#[test]
fn an_agent_that_turns_on_its_warden_is_ended_all_the_same() {
    let lost = "the process that watched over the run was killed";
    for (signal, timeout, why) in
        [("KILL", "10m", lost), ("USR1", "10m", lost), ("TERM", "1s", "timed out"), ("STOP", "1s", "timed out")]
    {
        let bell = house(&format!("kill -{signal} $PPID; exec sleep 600"), timeout);
        let event = bell.wait_event(&bell.send("r", &json!({})), "exhausted");
        all_gone(&seen(&bell));
        let run = bell.runs(event["id"].as_str().unwrap()).remove(0);
        assert!(run["state"] == "failed" && run["error"].as_str().unwrap().contains(why), "{signal}: {run}");
    }
}

#[test]
fn a_container_without_its_warden_is_ended_by_its_stop_command() {
    let mut agent = shell(&noting("kill -KILL $PPID; exec sleep 600"));
    agent["stop_command"] = json!(["sh", "-c", "echo $DOORBELL_RUN_ID > stopped", "stop", "{run_id}"]);
    let home = Home::new().agent("default", agent);
    let bell = home.route("r", json!({"prompt": "x", "max_retries": 0})).start();
    let event = bell.wait_event(&bell.send("r", &json!({})), "exhausted");
    let stopped = std::fs::read_to_string(bell.home().join("stopped")).unwrap();
    assert_eq!(event["runs"][0], stopped.trim());
    all_gone(&seen(&bell));
}

#[test]
fn an_agent_that_halts_its_warden_again_and_again_is_ended_after_its_grace() {
    let bell = house("trap '' TERM; while kill -STOP $PPID; do :; done; exec sleep 600", "1s");
    let event = bell.wait_event(&bell.send("r", &json!({})), "exhausted");
    all_gone(&seen(&bell));
    let run = bell.runs(event["id"].as_str().unwrap()).remove(0);
    assert!(run["error"].as_str().unwrap().contains("timed out"), "{run}");
}

#[test]
fn a_run_whose_warden_is_halted_or_deaf_can_be_stopped() {
    for signal in ["STOP", "TERM", "INT", "HUP"] {
        let bell = house(&format!("kill -{signal} $PPID; echo > done; exec sleep 600"), "10m");
        let event = bell.send("r", &json!({}));
        let pids = seen(&bell);
        until("it has done its worst", || bell.home().join("done").exists());
        let run = bell.event(&event)["runs"][0].as_str().unwrap().to_owned();
        let answer = bell.admin("POST", &format!("/api/v1/runs/{run}/stop"));
        assert!(matches!(answer.status, 200 | 202), "{answer:?}");
        assert_eq!(bell.wait_event(&event, "cancelled")["reason"], "stopped", "{signal}");
        all_gone(&pids);
    }
}

#[test]
fn a_stubborn_agent_without_its_warden_is_gone_before_its_rerun() {
    let agent = Agent::gated();
    agent.tell("ignore_term", "");
    let (bell, event, first) = gated(&agent);
    agent.forget("ignore_term");
    kill(parent(first.pid));
    agent.wait_runs(2);
    all_gone(&pids(&first));
    agent.open();
    bell.wait_event(&event, "succeeded");
}

#[test]
fn what_lost_its_gateway_and_its_warden_together_is_gone_before_its_rerun() {
    let agent = Agent::gated();
    agent.tell("ignore_term", "");
    let (mut bell, event, first) = gated(&agent);
    agent.forget("ignore_term");
    let warden = parent(first.pid);
    // Halted, so that it cannot see that its gateway has gone.
    halt(warden);
    bell.kill9();
    kill(warden);
    until("the warden has gone", || !alive(warden));
    assert!(pids(&first).into_iter().all(alive), "nobody ended them");
    bell.begin();
    assert_eq!(bell.event(&event)["state"], "running", "until nothing of it is left");
    agent.wait_runs(2);
    all_gone(&pids(&first));
    agent.open();
    bell.wait_event(&event, "succeeded");
}

#[test]
fn what_is_left_of_a_run_keeps_its_place_and_can_be_stopped() {
    let agent = Agent::gated();
    agent.tell("ignore_term", "");
    let options = agent.options_with(json!({"max_concurrent": 1}));
    let mut bell = Home::with(&agent).agent("default", options).start();
    let (event, next) = (bell.send("r", &json!({"n": 1})), bell.send("r", &json!({"n": 2})));
    let first = agent.wait_runs(1).remove(0);
    agent.forget("ignore_term");
    bell.kill9_and_restart();
    let answer = bell.admin("POST", &format!("/api/v1/runs/{}/stop", first.id));
    assert!(matches!(answer.status, 200 | 202), "{answer:?}");
    assert_eq!(agent.wait_runs(2)[1].prompt, "2");
    all_gone(&[first.pid]);
    agent.open();
    bell.wait_event(&next, "succeeded");
    assert_eq!(bell.event(&event)["state"], "cancelled");
    assert_eq!(agent.runs().len(), 2);
}

#[test]
fn a_lock_that_was_removed_hides_nothing() {
    let agent = Agent::gated();
    let (mut bell, event, first) = gated(&agent);
    let warden = parent(first.pid);
    halt(warden);
    bell.kill9();
    kill(warden);
    std::fs::remove_dir_all(bell.home().join("runs")).unwrap();
    bell.begin();
    agent.wait_runs(2);
    all_gone(&pids(&first));
    agent.open();
    bell.wait_event(&event, "succeeded");
}

#[test]
fn a_halted_warden_does_not_hold_its_lock_for_ever() {
    let agent = Agent::gated();
    let (mut bell, event, first) = gated(&agent);
    halt(parent(first.pid));
    bell.kill9();
    bell.begin();
    agent.wait_runs(2);
    all_gone(&pids(&first));
    agent.open();
    bell.wait_event(&event, "succeeded");
}

/// A gateway that delivers by such a line.
fn teller(then: &str, timeout: &str) -> Doorbell {
    let command = json!({"command": ["sh", "-c", noting(then)], "timeout": timeout});
    let route = json!({"prompt": "x", "deliver": "command"});
    Home::new().agent("default", shell("cat")).target("command", command).route("r", route).start()
}

#[test]
fn a_telling_program_that_kills_its_warden_leaves_nothing_and_is_not_started_again() {
    let bell = teller("kill -KILL $PPID; exec sleep 600", "10m");
    let delivery = bell.settled(&bell.send("r", &json!({}))).remove(0);
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("unknown"), &json!(1)), "{delivery}");
    all_gone(&seen(&bell));
}

#[test]
fn a_telling_program_that_lost_gateway_and_warden_together_is_ended_by_the_next_gateway() {
    let mut bell = teller("exec sleep 600", "10m");
    let event = bell.send("r", &json!({}));
    let pids = seen(&bell);
    let warden = parent(pids[0]);
    halt(warden);
    bell.kill9();
    kill(warden);
    assert!(pids.iter().copied().all(alive), "nobody ended them");
    bell.begin();
    let delivery = bell.settled(&event).remove(0);
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("unknown"), &json!(1)), "{delivery}");
    all_gone(&pids);
}
