//! Files of a ledger that cannot be used: locked, read-only, damaged, or taken away under a gateway that runs. A person is
//! told which file it is and what to do, once; nothing is acknowledged that the next start would not find.

mod support;

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;

use rusqlite::Connection;
use support::*;

const BEGINS: &str = "the ledger did not take it";
const ENDS: &str = "the ledger can be written again";

/// A gateway that has an event on record, and has stopped.
fn at_rest(agent: &Agent) -> (Doorbell, String) {
    let mut bell = Home::with(agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.settled(&event);
    assert_eq!(bell.stop(), 0);
    (bell, event)
}

/// Why a home cannot be served; the file is named.
fn refusal(bell: &Doorbell) -> String {
    let error = bell.cli(&["serve"]).fails(1);
    assert!(error.contains("doorbell.db"), "{error}");
    assert!(error.lines().count() <= 2, "one message: {error}");
    error
}

#[test]
fn a_damaged_ledger_is_refused_with_what_can_be_done() {
    let agent = Agent::new();
    let (mut bell, event) = at_rest(&agent);
    let path = bell.home().join("doorbell.db");
    let whole = fs::read(&path).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        bytes
    };
    let damages: [(&str, Vec<u8>); 6] = [
        ("nothing in it", Vec::new()),
        ("half of it", with(&|bytes| bytes.truncate(whole.len() / 2))),
        ("a piece of a page", with(&|bytes| bytes.truncate(1000))),
        ("another kind of file", b"this is somebody's diary\n".repeat(400)),
        ("another first page", with(&|bytes| bytes[100..164].iter_mut().for_each(|byte| *byte ^= 0xff))),
        ("noise", (0..whole.len()).map(|at| u8::try_from(at * 7919 % 251).unwrap()).collect()),
    ];
    for (what, bytes) in damages {
        fs::write(&path, &bytes).unwrap();
        let error = refusal(&bell);
        for remedy in ["backup", ".recover", "move it away"] {
            assert!(error.contains(remedy), "{what}: {error}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{what}: it is left as it is");
    }
    fs::write(&path, &whole).unwrap();
    bell.begin();
    assert_eq!(bell.event(&event)["state"], "succeeded");
}

#[test]
fn last_writes_without_their_ledger_are_not_thrown_away() {
    let agent = Agent::new();
    let mut bell = Home::with(&agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&event, "succeeded");
    bell.kill9();
    let (path, aside) = (bell.home().join("doorbell.db"), bell.home().join("aside"));
    fs::rename(&path, &aside).unwrap();
    let error = refusal(&bell);
    assert!(error.contains("doorbell.db-wal") && error.contains("backup"), "{error}");
    fs::rename(&aside, &path).unwrap();
    bell.begin();
    assert_eq!(bell.event(&event)["state"], "succeeded");
}

#[test]
fn damage_that_is_met_at_work_stops_what_comes_and_loses_nothing() {
    let agent = Agent::new();
    let (mut bell, event) = at_rest(&agent);
    let path = bell.home().join("doorbell.db");
    let whole = fs::read(&path).unwrap();
    let page: u64 = {
        let raw = Connection::open(&path).unwrap();
        raw.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'requests'", [], |row| row.get(0)).unwrap()
    };
    fs::File::options().write(true).open(&path).unwrap().write_all_at(&[0xff; 64], (page - 1) * 4096).unwrap();
    bell.begin();
    for _ in 0..20 {
        let answer = bell.ring("r").post();
        answer.expect(503);
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
    }
    assert_eq!(bell.admin("GET", "/readyz").status, 503);
    bell.wait_log("is damaged");
    assert!(bell.said(BEGINS) == 1 && bell.log().contains(".recover"), "{}", bell.log());
    assert_eq!(bell.list("/events").len(), 1, "nothing is kept of what was refused");
    assert_eq!(bell.event(&event)["state"], "succeeded", "what is sound can be read");
    assert_eq!(bell.stop(), 0);
    fs::write(&path, &whole).unwrap();
    bell.begin();
    bell.wait_event(&bell.send("r", &json!({"n": 2})), "succeeded");
}

#[test]
fn a_file_that_is_taken_away_is_missed_at_once() {
    for name in ["doorbell.db", "doorbell.db-wal", "doorbell.lock"] {
        let agent = Agent::gated();
        let mut bell = Home::with(&agent).start();
        let running = bell.send("r", &json!({"n": 1}));
        agent.wait_runs(1);
        let (path, aside) = (bell.home().join(name), bell.home().join("aside"));
        fs::rename(&path, &aside).unwrap();
        let refused = |what: &str| {
            for _ in 0..5 {
                let answer = bell.ring("r").post();
                answer.expect(503);
                assert!(answer.header("retry-after").is_some(), "{name} {what}: {answer:?}");
            }
            assert_eq!(bell.admin("GET", "/readyz").status, 503, "{name} {what}");
        };
        refused("removed");
        // The same bytes in another file are not the file that is written.
        fs::copy(&aside, &path).unwrap();
        refused("replaced");
        agent.open();
        until("the agent has ended", || !alive(agent.runs()[0].pid));
        assert_eq!(bell.event(&running)["state"], "running");
        fs::rename(&aside, &path).unwrap();
        bell.wait_event(&running, "succeeded");
        bell.wait_log(ENDS);
        assert!(bell.log().contains(name), "{}", bell.log());
        assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (1, 1), "{name}: {}", bell.log());
        let event = bell.send("r", &json!({"n": 2}));
        bell.kill9_and_restart();
        bell.wait_event(&event, "succeeded");
    }
}

#[test]
fn another_program_that_locks_the_ledger_is_waited_for() {
    let agent = Agent::new();
    let mut bell = Home::with(&agent).start();
    bell.settled(&bell.send("r", &json!({"n": 1})));
    let other = Connection::open(bell.home().join("doorbell.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // Longer than the five seconds for which it is waited.
    let answer = bell.ring("r").id("again").json(&json!({"n": 2})).post();
    answer.expect(503);
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    bell.wait_log("another program has locked the file");
    assert_eq!(bell.admin("GET", "/readyz").status, 503);
    other.execute_batch("COMMIT").unwrap();
    bell.wait_event(&bell.ring("r").id("again").json(&json!({"n": 2})).accepted(), "succeeded");
    bell.wait_log(ENDS);
    assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (1, 1), "{}", bell.log());
    assert_eq!(bell.stop(), 0);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = refusal(&bell);
    assert!(error.contains("another program has locked the file"), "{error}");
    other.execute_batch("COMMIT").unwrap();
    bell.begin();
    assert_eq!(bell.list("/events").len(), 2);
}

fn may(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_may_not_be_written_is_named_at_the_start() {
    let agent = Agent::new();
    let mut bell = Home::with(&agent).run_by_nobody(&agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.settled(&event);
    assert_eq!(bell.stop(), 0);
    let home = bell.home().path().to_owned();
    for (path, read_only, right) in [(home.join("doorbell.db"), 0o400, 0o600), (home.clone(), 0o500, 0o700)] {
        may(&path, read_only);
        let error = refusal(&bell);
        assert!(error.contains("user that runs doorbell"), "{}: {error}", path.display());
        may(&path, right);
    }
    may(&home.join("doorbell.lock"), 0o400);
    let error = bell.cli(&["serve"]).fails(1);
    assert!(error.contains("doorbell.lock") && error.contains("ermission denied"), "{error}");
    may(&home.join("doorbell.lock"), 0o600);
    bell.begin();
    assert_eq!(bell.event(&event)["state"], "succeeded");
}

#[test]
fn a_disk_that_became_read_only_is_said_once() {
    let (agent, disk) = (Agent::new(), Disk::sound());
    let bell = disk.under(Home::with(&agent)).start();
    bell.settled(&bell.send("r", &json!({"n": 1})));
    disk.does("write_errno 30\ntruncate_errno 30");
    for _ in 0..20 {
        bell.ring("r").post().expect(503);
    }
    assert_eq!(bell.admin("GET", "/readyz").status, 503);
    disk.recovers();
    bell.wait_log(ENDS);
    assert_eq!((bell.said(BEGINS), bell.said(ENDS)), (1, 1), "{}", bell.log());
    bell.wait_event(&bell.send("r", &json!({"n": 2})), "succeeded");
}
