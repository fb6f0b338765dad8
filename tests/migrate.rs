//! A ledger moves from a file into a database and back, and nobody notices but those who look where it is.

mod support;

use scratch_postgres::Database;
use support::*;

/// A gateway with something of everything behind it: a success, a failure that waits, what a paused route holds, a refusal.
struct House {
    agent: Agent,
    bell: Doorbell,
    done: String,
    held: String,
}

fn house() -> House {
    let agent = Agent::new();
    let filtered = json!({"prompt": "{n}", "filters": {"field": "n", "gt": 0}});
    let bell = Home::with(&agent).route("r", filtered).route("p", json!({"prompt": "{n}"})).start();
    let done = bell.ring("r").id("one").json(&json!({"n": 1, "text": "größer \u{0}"})).accepted();
    bell.wait_event(&done, "succeeded");
    bell.settled(&done);
    bell.ring("r").id("two").json(&json!({"n": 0})).post();
    bell.cli(&["pause", "p"]).ok();
    let held = bell.ring("p").id("three").json(&json!({"n": 3})).accepted();
    assert_eq!(bell.event(&held)["state"], "held");
    House { agent, bell, done, held }
}

/// What people see of a ledger without a gateway.
fn seen(bell: &Doorbell) -> Vec<Value> {
    ["events", "runs", "deliveries"].iter().map(|noun| bell.cli(&[noun, "list", "--json"]).json()).collect()
}

fn put(bell: &mut Doorbell, url: &str) {
    let store = json!({"url": url});
    bell.rewrite(|home| home.set("store", store));
}

#[test]
fn a_ledger_moves_into_a_database_and_back() {
    let database = Database::create();
    let House { agent, mut bell, done, held } = house();
    assert_eq!(bell.stop(), 0);
    let before = seen(&bell);
    let body = bell.cli(&["events", "body", &done]).ok();
    let told = bell.cli(&["migrate", "--from", "sqlite:doorbell.db", "--to", &database.url(), "--json"]).json();
    let rows = |table: &str| {
        told["tables"].as_array().unwrap().iter().find(|one| one["table"] == table).unwrap()["rows"].clone()
    };
    assert_eq!([rows("events"), rows("runs"), rows("pauses")], [json!(3), json!(1), json!(1)], "{told}");
    put(&mut bell, &database.url());
    assert_eq!(seen(&bell), before);
    assert_eq!(bell.cli(&["events", "body", &done]).ok(), body);
    // It goes on where it was.
    bell.begin();
    assert_eq!(bell.ring("r").id("one").json(&json!({"n": 1})).duplicate(), done);
    assert_eq!(bell.event(&held)["state"], "held");
    bell.cli(&["resume", "p"]).ok();
    bell.wait_event(&held, "succeeded");
    bell.settled(&held);
    assert_eq!(bell.stop(), 0);
    let before = seen(&bell);
    bell.cli(&["migrate", "--from", &database.url(), "--to", "sqlite:again.db"]).ok();
    put(&mut bell, "sqlite:again.db");
    assert_eq!(seen(&bell), before);
    bell.begin();
    assert_eq!(bell.ring("p").id("three").json(&json!({"n": 3})).duplicate(), held);
    let next = bell.send("r", &json!({"n": 4}));
    bell.wait_event(&next, "succeeded");
    assert_eq!(bell.list("/events")[0]["id"], next.as_str(), "the newest, numbered behind those that came along");
    assert_eq!(agent.prompts(), ["1", "3", "4"]);
}

#[test]
fn a_copy_that_was_cut_off_goes_on_and_is_no_ledger_before() {
    let database = Database::create();
    for (point, number) in [("copy.begun", 1), ("copy.batch", 1), ("copy.batch", 3), ("copy.compared", 1)] {
        let House { agent: _agent, mut bell, held, .. } = house();
        assert_eq!(bell.stop(), 0);
        let before = seen(&bell);
        for (from, to) in [("sqlite:doorbell.db", database.url()), (&*database.url(), "sqlite:back.db".to_owned())] {
            let copy = ["migrate", "--from", from, "--to", &to];
            let killed = bell.home().cli_with(&copy, &[("DOORBELL_AT_POINT", &format!("{point}#{number}=kill"))], b"");
            assert_ne!(killed.status, 0, "{killed:?}");
            put(&mut bell, &to);
            let refused = bell.cli(&["events", "list"]).fails(1);
            assert!(refused.contains("unfinished copy") && refused.contains("doorbell migrate"), "{refused}");
            bell.cli(&copy).ok();
            assert_eq!(seen(&bell), before, "{point} {number}");
        }
        bell.begin();
        bell.cli(&["resume", "p"]).ok();
        bell.wait_event(&held, "succeeded");
        assert_eq!(bell.stop(), 0);
        database.run("DROP SCHEMA doorbell CASCADE");
    }
}

#[test]
fn what_cannot_be_copied_is_refused_with_a_reason() {
    let database = Database::create();
    let House { agent: _agent, mut bell, .. } = house();
    let url = database.url();
    let to_database = ["migrate", "--from", "sqlite:doorbell.db", "--to", &url];
    let running = bell.cli(&to_database).fails(1);
    assert!(running.contains("held by another doorbell"), "{running}");
    assert_eq!(bell.stop(), 0);
    for (wrong, why) in [
        (["migrate", "--from", "sqlite:nothing.db", "--to", &url], "there is no ledger"),
        (["migrate", "--from", "mysql://x/y", "--to", &url], "--from: not a store that is known"),
        (["migrate", "--from", "sqlite:doorbell.db", "--to", "postgres://nobody@127.0.0.1:1/x"], "cannot be reached"),
    ] {
        let said = bell.cli(&wrong).fails(1);
        assert!(said.contains(why), "{why}: {said}");
    }
    bell.cli(&to_database).ok();
    let twice = bell.cli(&to_database).fails(1);
    assert!(twice.contains("holds 3 events already"), "{twice}");
    // A gateway that works on the database.
    let agent = Agent::new();
    let other = Home::with(&agent).server(json!({"name": "busy one"})).set("store", json!({"url": url})).start();
    let used = bell.cli(&["migrate", "--from", &url, "--to", "sqlite:other.db"]).fails(1);
    assert!(used.contains("busy one") && used.contains("lease"), "{used}");
    drop(other);
}

#[test]
fn a_source_that_has_changed_since_is_another_one() {
    let database = Database::create();
    let House { agent: _agent, mut bell, .. } = house();
    assert_eq!(bell.stop(), 0);
    let copy = ["migrate", "--from", "sqlite:doorbell.db", "--to", &database.url()];
    bell.home().cli_with(&copy, &[("DOORBELL_AT_POINT", "copy.batch#2=kill")], b"");
    bell.begin();
    bell.wait_event(&bell.send("r", &json!({"n": 5})), "succeeded");
    assert_eq!(bell.stop(), 0);
    let said = bell.cli(&copy).fails(1);
    assert!(said.contains("unfinished copy of another ledger") && said.contains("drop the schema"), "{said}");
    database.run("DROP SCHEMA doorbell CASCADE");
    bell.cli(&copy).ok();
}

#[test]
fn a_copy_that_is_not_like_its_source_is_never_finished() {
    let database = Database::create();
    let House { agent: _agent, mut bell, .. } = house();
    assert_eq!(bell.stop(), 0);
    let url = database.url();
    let copy = ["migrate", "--from", "sqlite:doorbell.db", "--to", &url];
    bell.home().cli_with(&copy, &[("DOORBELL_AT_POINT", "copy.compared#1=kill")], b"");
    // As many rows as there were, one of them with another body.
    database.run("UPDATE doorbell.requests SET body = 'x' WHERE event_seq = 1");
    for _ in 0..2 {
        let said = bell.cli(&copy).fails(1);
        assert!(
            said.contains("not the same as the source: table requests") && said.contains("drop the schema"),
            "{said}"
        );
    }
    put(&mut bell, &url);
    let refused = bell.cli(&["events", "list"]).fails(1);
    assert!(refused.contains("unfinished copy"), "{refused}");
}

#[test]
fn an_unfinished_copy_is_no_source_and_nothing_is_copied_onto_itself() {
    let database = Database::create();
    let House { agent: _agent, mut bell, .. } = house();
    assert_eq!(bell.stop(), 0);
    let url = database.url();
    let cut_off = |from: &str, to: &str| {
        let copy = ["migrate", "--from", from, "--to", to];
        let killed = bell.home().cli_with(&copy, &[("DOORBELL_AT_POINT", "copy.batch#1=kill")], b"");
        assert_ne!(killed.status, 0, "{killed:?}");
    };
    cut_off("sqlite:doorbell.db", &url);
    cut_off("sqlite:doorbell.db", "sqlite:half.db");
    for half in [&*url, "sqlite:half.db"] {
        let said = bell.cli(&["migrate", "--from", half, "--to", "sqlite:third.db"]).fails(1);
        assert!(said.contains("unfinished copy"), "{half}: {said}");
        let said = bell.cli(&["migrate", "--from", half, "--to", half]).fails(1);
        assert!(said.contains("same ledger"), "{half}: {said}");
    }
    let alias = format!("{url}{}application_name=x", if url.contains('?') { '&' } else { '?' });
    let said = bell.cli(&["migrate", "--from", &url, "--to", &alias]).fails(1);
    assert!(said.contains("under another address"), "{said}");
    // Nothing is made where nothing was.
    database.run("DROP SCHEMA doorbell CASCADE");
    let said = bell.cli(&["migrate", "--from", &url, "--to", "sqlite:third.db"]).fails(1);
    assert!(said.contains("there is no ledger"), "{said}");
    assert_eq!(database.run("SELECT count(*) FROM pg_namespace WHERE nspname = 'doorbell'"), ["0"]);
}

#[test]
fn a_ledger_moves_to_another_file_of_its_home() {
    let House { agent, mut bell, held, .. } = house();
    assert_eq!(bell.stop(), 0);
    let before = seen(&bell);
    bell.cli(&["migrate", "--from", "sqlite:doorbell.db", "--to", "sqlite:other.db"]).ok();
    put(&mut bell, "sqlite:other.db");
    assert_eq!(seen(&bell), before);
    bell.begin();
    bell.cli(&["resume", "p"]).ok();
    bell.wait_event(&held, "succeeded");
    assert_eq!(agent.prompts(), ["1", "3"]);
}

#[test]
fn a_place_where_a_gateway_had_no_event_yet_takes_a_copy() {
    let database = Database::create();
    let House { agent: _agent, mut bell, held, .. } = house();
    assert_eq!(bell.stop(), 0);
    let before = seen(&bell);
    for to in [&*database.url(), "sqlite:tried.db"] {
        // Tried out first, more often than the source lived.
        put(&mut bell, to);
        for _ in 0..3 {
            bell.begin();
            assert_eq!(bell.stop(), 0);
        }
        bell.cli(&["pause", "p"]).ok();
        let copy = ["migrate", "--from", "sqlite:doorbell.db", "--to", to];
        let said = bell.cli(&copy).fails(1);
        assert!(said.contains("pauses"), "what somebody has set there is not thrown away: {said}");
        bell.cli(&["resume", "p"]).ok();
        bell.cli(&copy).ok();
        assert_eq!(seen(&bell), before);
        bell.begin();
        bell.cli(&["resume", "p"]).ok();
        bell.wait_event(&held, "succeeded");
        let nodes = bell.cli(&["nodes", "--json"]).json();
        assert_eq!(nodes["items"][0]["boot"], 4, "behind the lives of both: {nodes}");
        assert_eq!(bell.stop(), 0);
    }
}

#[test]
fn what_was_under_way_is_found_on_the_other_side() {
    let database = Database::create();
    for from_file in [true, false] {
        let agent = Agent::new();
        let gate = Gate::default();
        let receiver = Receiver::answering(vec![Reply::When(gate.clone()), Reply::status(200)]);
        let target = json!({"type": "webhook", "url": receiver.url()});
        let home = Home::with(&agent).target("there", target).route("t", json!({"prompt": "t", "deliver": "there"}));
        let (from, to) = if from_file {
            ("sqlite:doorbell.db".to_owned(), database.url())
        } else {
            (database.url(), "sqlite:back.db".to_owned())
        };
        let mut bell = home.set("store", json!({"url": from})).start();
        let told = bell.send("t", &json!({}));
        receiver.wait(1);
        agent.close();
        let cut = bell.send("r", &json!({"n": 1}));
        agent.wait_runs(2);
        let waits = bell.send("r", &json!({"n": 2}));
        bell.kill9();
        gate.open();
        if !from_file {
            // The lease that it left is time's to end; nothing else of the story depends on when.
            let said = bell.cli(&["migrate", "--from", &from, "--to", &to]).fails(1);
            assert!(said.contains("30 s"), "{said}");
            database.run("UPDATE doorbell.nodes SET lease_until = now() - interval '1 second'");
        }
        bell.cli(&["migrate", "--from", &from, "--to", &to]).ok();
        put(&mut bell, &to);
        agent.open();
        bell.begin();
        bell.wait_event(&cut, "succeeded");
        bell.wait_event(&waits, "succeeded");
        let states = |event| bell.runs(event).iter().map(|run| run["state"].clone()).collect::<Vec<_>>();
        assert_eq!(states(&cut), ["interrupted", "succeeded"]);
        assert_eq!(bell.settled(&told)[0]["state"], "unknown", "nobody knows whether it arrived");
        assert_eq!(receiver.seen().len(), 1);
        assert_eq!(bell.stop(), 0);
        database.run("DROP SCHEMA doorbell CASCADE");
    }
}
