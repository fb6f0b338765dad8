//! A PostgreSQL that is really stopped, that crashes, and that asks for passwords. Gateways outlive a crash of their database: what the
//! database forgets in it must be nothing that a gateway has acted on.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use scratch_postgres::{Server, Stop};
use support::*;

/// A gateway on a server of its own.
struct Scene {
    bell: Doorbell,
    server: Server,
    url: String,
}

impl Scene {
    fn begin(home: Home) -> Scene {
        let server = Server::own();
        let url = server.create("bell");
        Scene { bell: home.set("store", json!({"url": url})).start(), server, url }
    }

    /// What the database has, whatever the gateway says.
    fn count(&self, what: &str) -> usize {
        self.server.run(&self.url, &format!("SELECT count(*) FROM doorbell.{what}"))[0].parse().expect("a number")
    }

    fn is_ready(&self, ready: bool) {
        let status = if ready { 200 } else { 503 };
        until(&format!("/readyz says {status}"), || self.bell.admin("GET", "/readyz").status == status);
    }

    fn crashes(&self) {
        self.server.stop(Stop::Crash);
        self.server.start();
    }

    fn stops_and_starts(&self, how: Stop) {
        self.server.stop(how);
        self.is_ready(false);
        self.server.start();
        self.is_ready(true);
    }
}

/// A home whose answers go to a receiver.
fn telling(agent: &Agent, receiver: &Receiver) -> Home {
    let hook = json!({"type": "webhook", "url": receiver.url()});
    Home::with(agent).target("hook", hook).route("r", json!({"prompt": "{n}", "deliver": "hook"}))
}

#[test]
fn a_server_that_is_stopped_and_started_under_load_loses_and_doubles_nothing() {
    const SENDERS: usize = 16;
    const EACH: usize = 12;
    let (agent, receiver) = (Agent::new(), Receiver::new());
    let options = agent.options_with(json!({"max_concurrent": 4}));
    let on = Scene::begin(telling(&agent, &receiver).agent("default", options));
    let taken = AtomicUsize::new(0);
    let events: BTreeSet<String> = thread::scope(|scope| {
        let send = |sender: usize| {
            let send_one = |n| {
                let key = format!("{sender}-{n}");
                let event = on.bell.ring("r").id(&key).json(&json!({"n": key})).until_taken();
                taken.fetch_add(1, Ordering::Relaxed);
                event
            };
            (0..EACH).map(send_one).collect::<Vec<_>>()
        };
        let all: Vec<_> = (0..SENDERS).map(|sender| scope.spawn(move || send(sender))).collect();
        for (share, how) in [(1, Stop::Polite), (2, Stop::Crash), (3, Stop::Crash)] {
            until("some are taken", || taken.load(Ordering::Relaxed) >= SENDERS * EACH * share / 4);
            on.stops_and_starts(how);
        }
        all.into_iter().flat_map(|sender| sender.join().expect("a sender")).collect()
    });
    assert_eq!(events.len(), SENDERS * EACH);
    for event in &events {
        on.bell.wait_event(event, "succeeded");
        assert_eq!(on.bell.settled(event)[0]["state"], "delivered");
    }
    assert_eq!(on.count("events"), SENDERS * EACH, "none is lost, none is there twice");
    // A claim whose answer was lost on the way is a run that never began.
    assert_eq!(on.count("runs WHERE state = 'succeeded'"), SENDERS * EACH, "one success each");
    assert_eq!(on.count("deliveries"), SENDERS * EACH);
    let prompts: BTreeSet<String> = agent.prompts().into_iter().collect();
    assert_eq!((prompts.len(), agent.runs().len()), (SENDERS * EACH, SENDERS * EACH), "each ran once");
    assert_eq!(receiver.seen().len(), SENDERS * EACH, "each was told once");
    assert_eq!(on.bell.said("came too late"), 0, "{}", on.bell.log());
}

#[test]
fn what_a_gateway_has_begun_is_not_forgotten_when_its_database_crashes() {
    let (agent, receiver) = (Agent::gated(), Receiver::new());
    let on = Scene::begin(telling(&agent, &receiver));
    for n in 1..=3 {
        let event = on.bell.ring("r").json(&json!({"n": n})).until_taken();
        let run = agent.wait_runs(n).remove(n - 1);
        on.crashes();
        assert_eq!(on.count("runs WHERE state = 'running'"), 1, "an agent works on it, and nobody else may");
        on.is_ready(true);
        agent.open();
        on.bell.wait_event(&event, "succeeded");
        assert_eq!(on.bell.settled(&event)[0]["state"], "delivered");
        on.crashes();
        assert_eq!(on.count("deliveries WHERE state <> 'delivered'"), 0, "it is told, and told no more");
        agent.close();
        assert!(!alive(run.pid));
    }
    on.is_ready(true);
    assert_eq!((on.count("runs"), agent.runs().len(), receiver.seen().len()), (3, 3, 3));
}

#[test]
fn a_lease_that_was_renewed_stays_renewed_when_the_database_crashes() {
    let on = Scene::begin(Home::with(&Agent::new()));
    let lease = || {
        let sql = "SELECT extract(epoch FROM max(lease_until)) FROM doorbell.nodes WHERE NOT ended";
        on.server.run(&on.url, sql)[0].parse::<f64>().expect("a time")
    };
    let first = lease();
    let mut renewed = first;
    until("it is renewed", || {
        renewed = lease();
        renewed > first
    });
    on.crashes();
    assert!(lease() >= renewed, "the gateway goes by what it was told");
}

#[test]
fn a_database_that_takes_no_writes_is_away_for_a_while() {
    let (agent, receiver) = (Agent::gated(), Receiver::new());
    let on = Scene::begin(telling(&agent, &receiver));
    let event = on.bell.send("r", &json!({"n": 1}));
    let run = agent.wait_runs(1).remove(0);
    // As a standby that has not been promoted yet.
    let writes = |allowed| {
        let only = format!("ALTER SYSTEM SET default_transaction_read_only = {}", if allowed { "off" } else { "on" });
        on.server.run(&on.url, &only);
        on.server.run(&on.url, "SELECT pg_reload_conf()");
    };
    writes(false);
    on.is_ready(false);
    let ring = on.bell.ring("r").id("again").json(&json!({"n": 2}));
    let answer = ring.post();
    answer.expect(503);
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    agent.open();
    until("the agent has ended", || !alive(run.pid));
    writes(true);
    let again = ring.until_taken();
    for event in [&event, &again] {
        on.bell.wait_event(event, "succeeded");
        assert_eq!(on.bell.settled(event)[0]["state"], "delivered");
    }
    assert_eq!((agent.runs().len(), receiver.seen().len()), (2, 2));
    on.bell.wait_log("the ledger can be written again");
    assert_eq!(on.bell.said("the ledger did not take it"), 1, "{}", on.bell.log());
    assert_eq!(on.bell.said("takes no writes: cannot execute INSERT"), 1, "and why: {}", on.bell.log());
}

#[test]
fn a_wrong_password_is_said_at_once_and_not_repeated() {
    let (server, agent) = (Server::own(), Agent::new());
    let url = server.create("bell");
    server.guard("bell", "right-one-not-real");
    let with =
        |who: &str| Home::with(&agent).set("store", json!({"url": url.replace("postgres@", &format!("{who}@"))}));
    for (who, said) in [("bell:wrong-one-not-real", "password authentication failed"), ("bell", "password missing")] {
        let home = with(who);
        home.write();
        let began = std::time::Instant::now();
        let error = home.cli(&["serve"]).fails(1);
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}: {error}", began.elapsed());
        assert!(error.contains(said) && error.contains("store.url") && !error.contains("not-real"), "{error}");
    }
    let bell = with("bell:right-one-not-real").start();
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
    assert!(!bell.log().contains("not-real"), "{}", bell.log());
}
