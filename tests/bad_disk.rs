//! A disk that is slow, or fails: nothing that was acknowledged is lost, nothing is acknowledged that is not there, and
//! everything goes on by itself when the disk does.

mod support;

use std::collections::BTreeSet;

use support::*;

#[test]
fn a_sync_that_fails_acknowledges_nothing_and_the_next_one_does() {
    let (agent, disk) = (Agent::new(), Disk::sound());
    let mut bell = disk.under(Home::with(&agent)).start();
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
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
