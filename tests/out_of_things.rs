//! A machine that has run out of open files or processes: events are taken and wait, no retry is spent on what is not the
//! agent's fault, one line says so, and all goes on when there is enough again.

mod support;

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::Instant;

use rustix::process::Resource;
use support::*;

const BEGINS: &str = "programs cannot be started";
const ENDS: &str = "programs can be started again";

const ACCEPTS_NONE: &str = "connections cannot be accepted";

fn entries(bell: &Doorbell, what: &str) -> u64 {
    let path = format!("/proc/{}/{what}", bell.pid());
    u64::try_from(fs::read_dir(path).expect("it runs").count()).expect("a small number")
}

/// Sends an event over a connection that is there already.
fn send_over(stream: &mut TcpStream, n: u32) -> String {
    let body = format!("{{\"n\": {n}}}");
    let headers = github_headers(SECRET, "push", &fresh_id(), body.as_bytes());
    stream.write_all(&http_request("POST", "/webhooks/r", &headers, body.as_bytes())).expect("it is sent");
    let answer = read_answer(stream, false).expect("an answer").expect(202);
    answer["event_id"].as_str().expect("an id").to_owned()
}

/// Seconds of processor time that the gateway has used.
fn processor_s(bell: &Doorbell) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", bell.pid())).expect("it runs");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_ascii_whitespace().collect();
    // User and system time, in hundredths: the 14th and 15th field, of which two are before the name's end.
    let hundredths: u32 = fields[11..13].iter().map(|field| field.parse::<u32>().expect("a number")).sum();
    f64::from(hundredths) / 100.0
}

/// The events have run, each once, and nothing was spent for the tries in between.
fn all_have_run(bell: &Doorbell, agent: &Agent, events: &[String]) {
    for event in events {
        bell.wait_event(event, "succeeded");
        let runs = bell.runs(event);
        let states: Vec<_> = runs.iter().map(|run| run["state"].as_str().unwrap()).collect();
        let (last, before) = states.split_last().unwrap();
        assert!(*last == "succeeded" && before.iter().all(|state| *state == "interrupted"), "{runs:#?}");
    }
    assert_eq!(agent.runs().len(), events.len());
    bell.wait_log(ENDS);
    assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (1, 1), "{}", bell.log());
}

#[test]
fn without_open_files() {
    let agent = Agent::new();
    let bell = Home::with(&agent).route("r", json!({"prompt": "{n}", "max_retries": 0})).start();
    let before = entries(&bell, "fd");
    let mut open: Vec<TcpStream> = (0..3).map(|_| bell.connect()).collect();
    until("the connections are there", || entries(&bell, "fd") >= before + 3);
    // Below what it has: no further one.
    bell.limit(Resource::Nofile, Some(8));
    let (began, used) = (Instant::now(), processor_s(&bell));
    let events: Vec<String> = open.iter_mut().zip(0..).map(|(stream, n)| send_over(stream, n)).collect();
    bell.wait_log(BEGINS);
    let mut late = bell.connect();
    bell.wait_log(ACCEPTS_NONE);
    until("some tries have been made", || began.elapsed().as_secs() >= 3);
    let share = (processor_s(&bell) - used) / began.elapsed().as_secs_f64();
    assert!(share < 0.5, "{share} of a processor are used for waiting");
    bell.limit(Resource::Nofile, None);
    let events = [events, vec![send_over(&mut late, 3)]].concat();
    all_have_run(&bell, &agent, &events);
    bell.wait_event(&bell.send("r", &json!({"n": 4})), "succeeded");
    assert_eq!(bell.said(ACCEPTS_NONE), 1, "{}", bell.log());
}

#[test]
fn without_processes() {
    let agent = Agent::new();
    let home = Home::with(&agent).route("r", json!({"prompt": "{n}", "max_retries": 0}));
    let bell = home.run_by_nobody(&agent).start();
    // None at all; then enough for the process that watches over a run, but not for its threads.
    for (round, more) in [(1, None), (2, Some(2))] {
        bell.limit_processes(Some(more.map_or(1, |more| entries(&bell, "task") + more)));
        let events: Vec<String> = (0..3).map(|n| bell.send("r", &json!({"n": n}))).collect();
        until("it is said", || bell.said(BEGINS) == round);
        until("all wait", || events.iter().all(|event| bell.event(event)["state"] == "queued"));
        bell.limit_processes(None);
        for event in &events {
            bell.wait_event(event, "succeeded");
        }
        until("it is said", || bell.said(ENDS) == round);
        assert_eq!(bell.said(BEGINS), round, "{}", bell.log());
        assert_eq!(agent.runs().len(), 3 * round);
    }
}

#[test]
fn a_program_that_tells_waits_for_a_machine_that_can_start_it() {
    let agent = Agent::new();
    let command = json!({"command": ["sh", "-c", "cat > told"], "max_attempts": 1});
    let home = Home::with(&agent).target("command", command).route("r", json!({"prompt": "{n}", "deliver": "command"}));
    agent.close();
    let bell = home.run_by_nobody(&agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    bell.limit_processes(Some(1));
    agent.open();
    bell.wait_log(BEGINS);
    bell.limit_processes(None);
    assert_eq!(bell.settled(&event)[0]["state"], "delivered");
    assert_eq!(fs::read_to_string(bell.home().join("told")).unwrap().trim_end(), "answer to: 1");
}

#[test]
fn few_open_files_leave_some_for_runs() {
    let agent = Agent::new();
    let bell = Home::with(&agent).limited("--nofile=256:256").start();
    assert!(bell.log().contains("fewer connections than server.max_connections"), "{}", bell.log());
    let idle: Vec<TcpStream> = (0..200).map(|_| bell.connect()).collect();
    drop(idle);
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
}
