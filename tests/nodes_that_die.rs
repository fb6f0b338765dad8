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

/// Nobody knows whether what it was telling has arrived, so it is not told again by itself.
#[test]
fn what_a_killed_node_was_telling_is_unknown_when_its_lease_has_ended() {
    let (database, agent, gate) = (Database::create(), Agent::new(), Gate::default());
    let receiver = Receiver::answering(vec![Reply::When(gate.clone())]);
    let tells = |home: Home| {
        let hook = json!({"type": "webhook", "url": receiver.url()});
        home.target("hook", hook).route("r", json!({"prompt": "{n}", "deliver": "hook"}))
    };
    let mut one = tells(node("one", &database.url(), &agent)).start();
    let event = one.send("r", &json!({"n": 1}));
    receiver.wait(1);
    let two = tells(node("two", &database.url(), &agent)).start();
    assert_eq!(two.deliveries(&event)[0]["state"], "sending");
    one.kill9();
    let killed = Instant::now();
    until_in(LONG, "its end is on record", || two.deliveries(&event)[0]["state"] != "sending");
    assert!(killed.elapsed() < TAKEN_OVER + Duration::from_secs(1), "after {:?}", killed.elapsed());
    assert_eq!(two.settled(&event)[0]["state"], "unknown");
    gate.open();
    let next = two.send("r", &json!({"n": 2}));
    assert_eq!(two.settled(&next)[0]["state"], "delivered");
    assert_eq!((agent.runs().len(), receiver.seen().len()), (2, 2));
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

/// The lease ends, and there is nobody who could take anything over.
#[test]
fn an_outage_that_outlasts_the_lease_costs_a_lone_node_only_what_it_stopped() {
    let (database, ready, stopped) = (Database::create(), Agent::gated(), Agent::gated());
    let proxy = Proxy::before(Cluster::shared().port);
    let home = node("one", &proxy.url(&database.url()), &ready).agent("other", stopped.options());
    let one = home.route("s", json!({"prompt": "{n}", "agent": "other", "max_retries": 0})).start();
    let events = [one.send("r", &json!({"n": 1})), one.send("s", &json!({"n": 2}))];
    let (first, second) = (ready.wait_runs(1).remove(0), stopped.wait_runs(1).remove(0));
    proxy.refuses();
    ready.open();
    until("the one has its answer", || !alive(first.pid));
    until_in(LONG, "the other one is stopped", || !alive(second.pid));
    let ended = "SELECT count(*) FROM doorbell.nodes WHERE lease_until < now()";
    until_in(LONG, "the lease has ended", || database.run(ended) == ["1"]);
    stopped.open();
    proxy.opens();
    until("it is ready", || one.admin("GET", "/readyz").status == 200);
    for event in &events {
        one.wait_event(event, "succeeded");
        assert_eq!(one.settled(event).len(), 1, "told once");
    }
    assert_eq!(
        (states(&one.runs(&events[0])), ready.runs().len()),
        (vec!["succeeded"], 1),
        "what was paid for is kept"
    );
    assert_eq!((states(&one.runs(&events[1])), stopped.runs().len()), (vec!["interrupted", "succeeded"], 2));
    assert_eq!(one.said("another node took over"), 0, "it is the same life: {}", one.log());
    assert_eq!(database.run("SELECT count(*) FROM doorbell.nodes"), ["1"]);
}

#[test]
fn what_a_node_hands_back_and_what_waits_run_elsewhere_at_once() {
    let (database, agent) = (Database::create(), Agent::gated());
    let options = agent.options_with(json!({"max_concurrent": 1, "scope": "cluster"}));
    let [one, two] = ["one", "two"].map(|name| node(name, &database.url(), &agent).agent("default", options.clone()));
    let mut one = one.start();
    let (event, two) = run_on_one(&one, two, &agent);
    let waiting = one.send("r", &json!({"n": 2}));
    let stopped = Instant::now();
    assert_eq!(one.stop(), 0);
    agent.wait_runs(2);
    agent.open();
    for event in [&event, &waiting] {
        two.wait_event(event, "succeeded");
    }
    assert!(stopped.elapsed() < Duration::from_secs(15), "no lease was waited for: {:?}", stopped.elapsed());
    assert_eq!((agent.runs().len(), agent.most_at_once(|run| run.prompt == "2")), (3, 1));
}

/// A retry is due in two seconds by the database's clock; whoever has it by a clock that is hours off runs it then.
fn retried_in_time(ahead: [bool; 2]) {
    let (database, agent, clock) = (Database::create(), Agent::failing(1, 1), WallClock::right());
    clock.goes_ahead(Duration::from_hours(5));
    let retried = json!({"prompt": "{n}", "max_retries": 1, "retry_backoff": "2s"});
    let homes = ["one", "two"].map(|name| node(name, &database.url(), &agent).route("r", retried.clone()));
    let mut homes = homes.into_iter().zip(ahead).map(|(home, ahead)| if ahead { clock.of(home) } else { home });
    let mut next = || homes.next().expect("two of them").start();
    let mut one = next();
    let event = one.send("r", &json!({"n": 1}));
    let due = "SELECT due_at - 1000 * extract(epoch FROM now()) FROM doorbell.events WHERE due_at IS NOT NULL";
    let waits = until_some("its retry waits", || database.run(due).pop()).parse::<f64>().expect("milliseconds");
    assert!((0.0..5000.0).contains(&waits), "{waits} ms");
    one.kill9();
    let two = next();
    two.wait_event(&event, "succeeded");
    assert_eq!(states(&two.runs(&event)), ["failed", "succeeded"]);
}

#[test]
fn nodes_go_by_the_clock_of_the_database() {
    retried_in_time([true, false]);
    retried_in_time([false, true]);
}
