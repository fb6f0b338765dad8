//! A disk that is full, slow, or fails: nothing that was acknowledged is lost, nothing is acknowledged that is not there,
//! answers that were paid for are kept, and everything goes on by itself when the disk does.

mod support;

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Resource;
use support::*;

/// What the log says once when the ledger cannot be written, and once when it can again.
const BEGINS: &str = "the ledger did not take it";
const ENDS: &str = "the ledger can be written again";

/// Sends many events at once, a few senders each with their own; which of them were accepted, by their delivery ids.
/// Who is not accepted must have been told when to come again.
fn flood(bell: &Doorbell, senders: usize, each: usize) -> BTreeSet<String> {
    let send = || {
        let send_one = |_| {
            let id = fresh_id();
            let answer = bell.ring("r").id(&id).json(&json!({"n": id})).post();
            if answer.status != 202 {
                answer.expect(503);
                assert!(answer.header("retry-after").is_some(), "{answer:?}");
            }
            (answer.status == 202).then_some(id)
        };
        (0..each).filter_map(send_one).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..senders).map(|_| scope.spawn(send)).collect();
        all.into_iter().flat_map(|sender| sender.join().expect("a sender")).collect()
    })
}

/// The delivery ids of all events.
fn stored(bell: &Doorbell) -> BTreeSet<String> {
    let rows = bell.list("/events?limit=200");
    rows.iter().map(|event| event["delivery_id"].as_str().expect("an id").to_owned()).collect()
}

/// A home whose agent waits at a gate, with one place.
fn house(agent: &Agent) -> Home {
    Home::with(agent).agent("default", agent.options_with(json!({"max_concurrent": 1})))
}

/// The disk is full: senders are told to come again. The agent that runs ends meanwhile, and its answer is there at the end.
fn while_it_is_full(bell: &Doorbell, agent: &Agent, running: &str, is_full: impl FnOnce(), is_free: impl FnOnce()) {
    agent.wait_runs(1);
    is_full();
    until("a sender is refused", || bell.ring("r").post().status == 503);
    let refused = bell.ring("r").id("again").json(&json!({"n": 2})).post();
    refused.expect(503);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(bell.admin("GET", "/readyz").status, 503);
    agent.open();
    let pid = agent.runs()[0].pid;
    until("the agent has ended", || !alive(pid));
    for _ in 0..20 {
        assert_eq!(bell.ring("r").post().status, 503);
    }
    assert_eq!(bell.event(running)["state"], "running", "its end is not on record yet");
    is_free();
    bell.wait_event(running, "succeeded");
    assert_eq!(bell.runs(running)[0]["answer"], "answer to: 1");
    assert_eq!(bell.settled(running)[0]["state"], "delivered");
    bell.wait_event(&bell.ring("r").id("again").json(&json!({"n": 2})).accepted(), "succeeded");
    assert!(!agent.prompts()[1..].contains(&"1".to_owned()), "what was paid for is not bought again");
    bell.wait_log(ENDS);
    assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (1, 1), "{}", bell.log());
    assert_eq!(bell.admin("GET", "/readyz").status, 200);
}

/// As `ulimit -f 0` does.
fn while_files_may_not_grow(bell: &Doorbell, agent: &Agent, running: &str) {
    let limit = |current| move || assert_ne!(bell.limit(Resource::Fsize, current), current);
    while_it_is_full(bell, agent, running, limit(Some(0)), limit(None));
}

#[test]
fn a_full_disk() {
    let agent = Agent::gated();
    let Some(disk) = SmallDisk::of(6 << 20) else {
        // The same story where the system's own refusal is to be had without a disk: files may not grow.
        let bell = house(&agent).start();
        let running = bell.send("r", &json!({"n": 1}));
        return while_files_may_not_grow(&bell, &agent, &running);
    };
    let home = Home::under(disk.path()).set("store", json!({"min_free": 0}));
    let home = home.agent("default", agent.options_with(json!({"max_concurrent": 1})));
    let mut bell = home.route("r", json!({"prompt": "{n}"})).start();
    let running = bell.send("r", &json!({"n": 1}));
    while_it_is_full(&bell, &agent, &running, || disk.fill(0), || disk.free());
    assert_eq!(bell.stop(), 0);
    disk.fill(0);
    let error = bell.cli(&["serve"]).fails(1);
    assert!(error.contains("doorbell.db") && error.contains("full"), "{error}");
    disk.free();
    bell.begin();
    bell.wait_event(&bell.send("r", &json!({"n": 3})), "succeeded");
    assert_eq!(bell.event(&running)["state"], "succeeded");
}

#[test]
fn a_file_size_limit() {
    let agent = Agent::gated();
    let bell = house(&agent).start();
    let running = bell.send("r", &json!({"n": 1}));
    while_files_may_not_grow(&bell, &agent, &running);
}

#[test]
fn a_disk_that_has_no_room_for_a_while() {
    let (agent, disk) = (Agent::gated(), Disk::sound());
    let bell = disk.under(house(&agent)).start();
    let running = bell.send("r", &json!({"n": 1}));
    while_it_is_full(&bell, &agent, &running, || disk.does("write_errno 28"), || disk.recovers());
}

#[test]
fn what_must_stay_free_stays_free() {
    let Some(disk) = SmallDisk::of(96 << 20) else {
        let bell = Home::with(&Agent::new()).set("store", json!({"min_free": "1000TiB"})).start();
        assert_eq!((bell.ring("r").post().status, bell.admin("GET", "/readyz").status), (503, 503));
        return;
    };
    let agent = Agent::gated();
    let home = Home::under(disk.path()).set("store", json!({"min_free": "48MiB"}));
    let home = home.agent("default", agent.options_with(json!({"max_concurrent": 1})));
    let bell = home.route("r", json!({"prompt": "{n}"})).start();
    let running = bell.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    disk.fill(40 << 20);
    until("a sender is refused", || bell.ring("r").post().status == 503);
    assert_eq!(String::from_utf8_lossy(&bell.admin("GET", "/readyz").body), "disk_low\n");
    agent.open();
    bell.wait_event(&running, "succeeded");
    assert_eq!(bell.settled(&running)[0]["state"], "delivered", "what has begun is ended with the room that was kept");
    disk.free();
    bell.wait_log(ENDS);
    bell.wait_event(&bell.send("r", &json!({"n": 2})), "succeeded");
    assert_eq!((bell.said("store.min_free"), bell.said(ENDS)), (1, 1), "{}", bell.log());
}

#[test]
fn a_sync_that_fails_acknowledges_nothing_and_the_next_one_does() {
    let (agent, disk) = (Agent::new(), Disk::sound());
    let mut bell = disk.under(Home::with(&agent)).start();
    bell.settled(&bell.send("r", &json!({"n": 1})));
    disk.does("only -wal\nsync_errno 5\nsync_times 1");
    let answer = bell.ring("r").id("lost").json(&json!({"n": 2})).post();
    answer.expect(503);
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    assert_eq!(disk.failures("sync"), 1);
    let events: BTreeSet<String> = (3..6).map(|n| bell.send("r", &json!({"n": n}))).collect();
    disk.recovers();
    bell.kill9_and_restart();
    for event in &events {
        bell.wait_event(event, "succeeded");
    }
    assert_eq!(bell.list("/events?delivery_id=lost"), Vec::<Value>::new());
    bell.wait_event(&bell.ring("r").id("lost").json(&json!({"n": 2})).accepted(), "succeeded");
}

#[test]
fn syncs_that_fail_under_load() {
    let disk = Disk::sound();
    let mut bell = disk.under(Home::new().agent("default", shell("cat")).route("r", json!({"prompt": "x"}))).start();
    bell.cli(&["pause", "r"]).ok();
    let mut accepted = flood(&bell, 8, 5);
    assert_eq!(accepted.len(), 40);
    disk.does("sync_errno 5");
    assert_eq!(flood(&bell, 8, 3), BTreeSet::new(), "nothing is acknowledged that the disk has not taken");
    assert!(disk.failures("sync") > 0);
    disk.recovers();
    accepted.extend(flood(&bell, 8, 5));
    assert_eq!(accepted.len(), 80);
    assert_eq!(stored(&bell), accepted);
    bell.kill9_and_restart();
    assert_eq!(stored(&bell), accepted);
    assert!(bell.said(BEGINS) <= 1, "{}", bell.log());
}

#[test]
fn a_slow_disk_takes_many_at_once() {
    let disk = Disk::sound();
    let mut bell = disk.under(Home::new().agent("default", shell("cat")).route("r", json!({"prompt": "x"}))).start();
    bell.cli(&["pause", "r"]).ok();
    disk.does("only -wal\nsync_delay_ms 500");
    let began = Instant::now();
    let accepted = flood(&bell, 60, 2);
    // 120 events at half a second each would be a minute.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}: batches grow while the disk is busy", began.elapsed());
    assert_eq!(accepted.len(), 120, "and nobody is refused while there is room to wait");
    disk.recovers();
    bell.kill9_and_restart();
    assert_eq!(stored(&bell), accepted);
}

#[test]
fn a_disk_that_is_far_behind_refuses_some_and_loses_none() {
    let disk = Disk::sound();
    let mut bell = disk.under(Home::new().agent("default", shell("cat")).route("r", json!({"prompt": "x"}))).start();
    bell.cli(&["pause", "r"]).ok();
    disk.does("only -wal\nsync_delay_ms 2500");
    let accepted = flood(&bell, 220, 1);
    assert!(!accepted.is_empty() && accepted.len() < 220, "{} of 220", accepted.len());
    disk.recovers();
    bell.wait_log(ENDS);
    assert_eq!(bell.said("behind with writing"), 1, "{}", bell.log());
    bell.kill9_and_restart();
    assert_eq!(stored(&bell), accepted);
    bell.ring("r").accepted();
}

#[test]
fn a_disk_that_cannot_be_read_for_a_while() {
    let (agent, disk) = (Agent::new(), Disk::sound());
    let mut bell = disk.under(Home::with(&agent)).start();
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
    disk.does("read_errno 5");
    // The next life has nothing in its memory.
    bell.kill9();
    let error = bell.cli(&["serve"]).fails(1);
    assert!(error.contains("doorbell.db") && error.contains("I/O"), "{error}");
    disk.recovers();
    bell.begin();
    bell.wait_event(&bell.send("r", &json!({"n": 2})), "succeeded");
    assert_eq!(bell.list("/events").len(), 2);
}
