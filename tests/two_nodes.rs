//! Two gateways on one PostgreSQL database.

mod support;

use std::time::{Duration, Instant};

use scratch_postgres::Database;
use support::*;

/// A gateway's home on the shared ledger.
fn node(name: &str, database: &Database, agent: &Agent) -> Home {
    Home::with(agent).server(json!({"name": name})).set("store", json!({"url": database.url()}))
}

#[test]
fn an_event_is_one_whichever_node_it_comes_to() {
    let (database, agent) = (Database::create(), Agent::new());
    let [one, two] = ["one", "two"].map(|name| node(name, &database, &agent).start());
    for n in 0..10 {
        let (here, there) = if n % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let id = fresh_id();
        let event = here.ring("r").id(&id).json(&json!({"n": n})).accepted();
        assert_eq!(there.ring("r").id(&id).json(&json!({"n": n})).duplicate(), event);
        there.wait_event(&event, "succeeded");
        assert_eq!(here.settled(&event).len(), 1);
    }
    let mut prompts = agent.prompts();
    prompts.sort();
    assert_eq!(prompts, (0..10).map(|n| n.to_string()).collect::<Vec<_>>(), "each ran once");
}

#[test]
fn a_limit_is_for_all_nodes_where_the_agent_says_so() {
    let (database, agent) = (Database::create(), Agent::gated());
    let options = agent.options_with(json!({"max_concurrent": 1, "scope": "cluster"}));
    let nodes = ["one", "two"].map(|name| node(name, &database, &agent).agent("default", options.clone()).start());
    let events: Vec<String> = (0..6).map(|n| nodes[n % 2].send("r", &json!({"n": n}))).collect();
    agent.wait_runs(1);
    agent.open();
    for event in &events {
        nodes[0].wait_event(event, "succeeded");
    }
    assert_eq!(agent.most_at_once(|_| true), 1);
}

#[test]
fn a_pause_on_one_node_holds_on_both() {
    let (database, agent) = (Database::create(), Agent::new());
    let [one, two] = ["one", "two"].map(|name| node(name, &database, &agent).start());
    one.cli(&["pause", "r"]).ok();
    let events = [one.send("r", &json!({"n": 1})), two.send("r", &json!({"n": 2}))];
    for event in &events {
        assert_eq!(two.event(event)["state"], "held");
    }
    two.cli(&["resume", "r"]).ok();
    for event in &events {
        one.wait_event(event, "succeeded");
    }
    assert_eq!(agent.runs().len(), 2);
}

#[test]
fn nodes_are_listed_with_what_they_do() {
    let (database, agent) = (Database::create(), Agent::gated());
    let [one, mut two] = ["one", "two"].map(|name| node(name, &database, &agent).start());
    one.cli(&["pause", "r"]).ok();
    let listed = |bell: &Doorbell| {
        let nodes = bell.list("/nodes");
        nodes.iter().map(|node| (node["name"].as_str().unwrap().to_owned(), node["lives"] == true)).collect::<Vec<_>>()
    };
    let both = vec![("one".to_owned(), true), ("two".to_owned(), true)];
    assert_eq!(listed(&one), both);
    assert_eq!(listed(&two), both);
    let shown = two.cli(&["nodes"]).ok();
    assert!(shown.contains("one") && shown.contains("two") && shown.contains("alive"), "{shown}");
    two.stop();
    assert_eq!(listed(&one), both[..1], "who has said goodbye and left nothing is not listed");
}

#[test]
fn a_node_that_was_killed_and_starts_again_need_not_wait_for_its_lease() {
    let (database, agent) = (Database::create(), Agent::gated());
    let mut bell = node("one", &database, &agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    bell.kill9_and_restart();
    agent.wait_runs(2);
    agent.open();
    bell.wait_event(&event, "succeeded");
    let runs: Vec<_> = bell.runs(&event).iter().map(|run| run["state"].clone()).collect();
    assert_eq!(runs, ["interrupted", "succeeded"]);
}

/// A command ends as soon as it has done its work, and takes its connections with it.
#[test]
fn what_a_command_without_a_gateway_sets_free_runs_at_once() {
    let (database, agent) = (Database::create(), Agent::new());
    let bell = node("one", &database, &agent).start();
    let elsewhere = node("two", &database, &agent);
    elsewhere.write();
    for n in 0..3 {
        elsewhere.cli(&["pause", "r"]).ok();
        let event = bell.send("r", &json!({"n": n}));
        assert_eq!(bell.event(&event)["state"], "held");
        let began = Instant::now();
        elsewhere.cli(&["resume", "r"]).ok();
        bell.wait_event(&event, "succeeded");
        assert!(began.elapsed() < Duration::from_secs(5), "it was told: {:?}", began.elapsed());
    }
}

/// As what a node has taken that died before it could tell.
#[test]
fn what_nobody_was_told_of_is_found_when_the_lease_is_renewed() {
    let (database, agent) = (Database::create(), Agent::new());
    let bell = node("one", &database, &agent).start();
    bell.cli(&["pause", "r"]).ok();
    let event = bell.send("r", &json!({"n": 1}));
    let free = "UPDATE events SET state = 'queued', reason = NULL, ready = true WHERE state = 'held'";
    database.run(&format!("SET search_path = doorbell; DELETE FROM pauses; {free}"));
    bell.wait_event(&event, "succeeded");
}
