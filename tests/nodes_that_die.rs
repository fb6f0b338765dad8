//! Nodes of a shared ledger that die, halt, or lose the database: their events run elsewhere, and no two agents work on one.
//! These wait for real leases.

mod support;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use scratch_postgres::{Cluster, Database};
use support::*;

/// Lease and a second more, from the last moment at which it can have been renewed.
const TAKEN_OVER: Duration = Duration::from_secs(31);
/// For whoever waits for that, on a busy machine.
const LONG: Duration = Duration::from_secs(90);

fn node(name: &str, url: &str, agent: &Agent) -> Home {
    let home =
        Home::with(agent).server(json!({"name": name, "shutdown_grace": "0s"})).set("store", json!({"url": url}));
    home.route("r", json!({"prompt": "{n}", "max_retries": 0}))
}

fn states(runs: &[Value]) -> Vec<&str> {
    runs.iter().map(|run| run["state"].as_str().unwrap()).collect()
}

/// A run on node one, with node two there.
fn run_on_one(one: &Doorbell, other: Home, agent: &Agent) -> (String, Doorbell) {
    let event = one.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    (event, other.start())
}

#[test]
fn what_a_killed_node_ran_starts_elsewhere_when_its_lease_has_ended() {
    let (database, agent) = (Database::create(), Agent::gated());
    let mut one = node("one", &database.url(), &agent).start();
    let (event, two) = run_on_one(&one, node("two", &database.url(), &agent), &agent);
    one.kill9();
    let killed = Instant::now();
    until_in(LONG, "it runs again", || agent.runs().len() == 2);
    // Looked at a little later than it happened.
    assert!(killed.elapsed() < TAKEN_OVER + Duration::from_secs(1), "after {:?}", killed.elapsed());
    agent.open();
    two.wait_event(&event, "succeeded");
    assert_eq!(states(&two.runs(&event)), ["interrupted", "succeeded"]);
    assert_eq!(two.settled(&event).len(), 1, "told once");
}

#[test]
fn a_node_that_was_halted_past_its_lease_has_no_agents_and_writes_nothing() {
    let (database, agent) = (Database::create(), Agent::gated());
    let one = node("one", &database.url(), &agent).start();
    let (event, mut two) = run_on_one(&one, node("two", &database.url(), &agent), &agent);
    let first = agent.runs().remove(0);
    one.signal(Signal::STOP);
    until_in(LONG, "it runs on the other node", || agent.runs().len() == 2);
    assert!(!alive(first.pid), "the agent of a halted gateway has ended before another one began");
    one.signal(Signal::CONT);
    one.wait_log("another node took over");
    agent.open();
    two.wait_event(&event, "succeeded");
    assert_eq!(states(&two.runs(&event)), ["interrupted", "succeeded"]);
    // It goes on in another life.
    one.cli(&["pause", "r"]).ok();
    let next = one.send("r", &json!({"n": 2}));
    assert_eq!(two.stop(), 0);
    one.cli(&["resume", "r"]).ok();
    one.wait_event(&next, "succeeded");
}

#[test]
fn a_node_that_has_lost_the_database_stops_its_agents_before_its_lease_ends() {
    let (database, agent) = (Database::create(), Agent::gated());
    let proxy = Proxy::before(Cluster::shared().port);
    let one = node("one", &proxy.url(&database.url()), &agent).start();
    let (event, two) = run_on_one(&one, node("two", &database.url(), &agent), &agent);
    let first = agent.runs().remove(0);
    proxy.falls_silent();
    until_in(LONG, "its agent has been stopped", || !alive(first.pid));
    assert_eq!(agent.runs().len(), 1, "before any other began");
    one.wait_log("runs in flight are stopped");
    until_in(LONG, "it runs on the other node", || agent.runs().len() == 2);
    agent.open();
    two.wait_event(&event, "succeeded");
    proxy.opens();
    one.wait_log("another node took over");
    let next = one.send("r", &json!({"n": 2}));
    two.wait_event(&next, "succeeded");
    assert_eq!(states(&two.runs(&event)), ["interrupted", "succeeded"]);
}

#[test]
fn what_a_node_hands_back_runs_elsewhere_at_once() {
    let (database, agent) = (Database::create(), Agent::gated());
    let mut one = node("one", &database.url(), &agent).start();
    let (event, two) = run_on_one(&one, node("two", &database.url(), &agent), &agent);
    let stopped = Instant::now();
    assert_eq!(one.stop(), 0);
    agent.wait_runs(2);
    assert!(stopped.elapsed() < Duration::from_secs(15), "no lease was waited for: {:?}", stopped.elapsed());
    agent.open();
    two.wait_event(&event, "succeeded");
}

#[test]
fn nodes_go_by_the_clock_of_the_database() {
    let (database, agent, clock) = (Database::create(), Agent::failing(1, 1), WallClock::right());
    clock.goes_ahead(Duration::from_hours(5));
    let retried = json!({"prompt": "{n}", "max_retries": 1, "retry_backoff": "2s"});
    let [one, two] = ["one", "two"].map(|name| node(name, &database.url(), &agent).route("r", retried.clone()));
    let mut one = clock.of(one).start();
    let event = one.send("r", &json!({"n": 1}));
    one.wait_event(&event, "failed");
    let two = two.start();
    one.kill9();
    // Due in two seconds, not in five hours.
    two.wait_event(&event, "succeeded");
}
