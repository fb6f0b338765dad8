//! A machine that has run out of open files or processes: events are taken and wait, no retry is spent on what is not the
//! agent's fault, one line says so, and all goes on when there is enough again.

mod support;

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::Instant;

use rustix::process::Resource;
use support::*;

const BEGINS: &str = "runs cannot be started";
const ENDS: &str = "runs can be started again";

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
    assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (1, 1), "{}", bell.log());
}

#[test]
fn without_open_files() {
    let agent = Agent::new();
    let bell = Home::with(&agent).route("r", json!({"prompt": "{n}", "max_retries": 0})).start();
    bell.list("/events");
    let mut open: Vec<TcpStream> = (0..3).map(|_| bell.connect()).collect();
    let admin_works = |bell: &Doorbell| bell.admin("GET", "/readyz").status == 200;
    assert!(admin_works(&bell));
    // No file more than there are, and the three are held.
    until("the connections are there", || entries(&bell, "fd") >= 3);
    bell.limit(Resource::Nofile, Some(entries(&bell, "fd")));
    let (began, used) = (Instant::now(), processor_s(&bell));
    let waiting = bell.connect();
    let events: Vec<String> = open.iter_mut().zip(0..).map(|(stream, n)| send_over(stream, n)).collect();
    bell.wait_log(BEGINS);
    // Those three have closed by now, so files are free again; take them away.
    bell.limit(Resource::Nofile, Some(8));
    bell.wait_log("connections cannot be accepted");
    until("some time has passed", || began.elapsed().as_secs() >= 3);
    let share = (processor_s(&bell) - used) / began.elapsed().as_secs_f64();
    assert!(share < 0.5, "{share} of a processor are used for waiting");
    bell.limit(Resource::Nofile, None);
    drop(waiting);
    until("connections are taken again", || admin_works(&bell));
    all_have_run(&bell, &agent, &events);
    assert_eq!(bell.said("connections cannot be accepted"), 1, "{}", bell.log());
}

#[test]
fn without_processes() {
    let agent = Agent::new();
    let home = Home::with(&agent).route("r", json!({"prompt": "{n}", "max_retries": 0})).as_nobody(&agent);
    let bell = home.start();
    // None at all; then enough for the process that watches over a run, but not for its threads.
    for (round, more) in [(0, None), (1, Some(2))] {
        let limit = more.map_or(1, |more| entries(&bell, "task") + more);
        bell.limit(Resource::Nproc, Some(limit));
        let events: Vec<String> = (0..3).map(|n| bell.send("r", &json!({"n": n}))).collect();
        until("it is said", || bell.said(BEGINS) == round + 1);
        until("all wait", || events.iter().all(|event| bell.event(event)["state"] == "queued"));
        bell.limit(Resource::Nproc, None);
        for event in &events {
            bell.wait_event(event, "succeeded");
        }
        assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (round + 1, round + 1), "{}", bell.log());
        assert_eq!(agent.runs().len(), 3 * (round + 1));
    }
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
