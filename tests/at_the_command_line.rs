//! The commands: with a gateway and without one they tell and do the same.

mod support;

use support::*;

/// A gateway with a route `r`, and one whose runs are given up at once.
fn house(agent: &Agent) -> Home {
    Home::with(agent)
        .agent("broken", shell("echo no luck >&2; exit 3"))
        .route("broken", json!({"prompt": "x", "agent": "broken", "max_retries": 0}))
}

/// The ids of a listing.
fn ids(listing: &Value) -> Vec<&str> {
    listing["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

/// Does the same with a running gateway and then on its ledger alone.
fn with_and_without(bell: Doorbell, look: impl Fn(&Home)) {
    let mut bell = bell;
    look(bell.home());
    assert_eq!(bell.stop(), 0);
    look(bell.home());
}

#[test]
fn events_can_be_listed_and_looked_at() {
    let agent = Agent::new();
    let bell = house(&agent).start();
    let body = b"{ \"n\" : 1.0,\r\n\t\"u\":\"\\u00e9 \xc3\xa9\"}\n";
    let one = bell.ring("r").id("first-one").bytes(body).accepted();
    let two = bell.send("broken", &json!({}));
    bell.wait_event(&one, "succeeded");
    bell.wait_event(&two, "exhausted");
    bell.settled(&one);
    let from_api = bell.event(&one);
    with_and_without(bell, |home| {
        let list = |args: &[&str]| home.cli(&[&["events", "list", "--json"], args].concat()).json();
        assert_eq!(ids(&list(&[])), [two.as_str(), one.as_str()], "newest first");
        assert_eq!(ids(&list(&["--route", "r"])), [one.as_str()]);
        assert_eq!(ids(&list(&["--state", "exhausted"])), [two.as_str()]);
        assert_eq!(ids(&list(&["--delivery-id", "first-one"])), [one.as_str()]);
        assert_eq!(ids(&list(&["--since", "1h"])).len(), 2);
        assert_eq!(ids(&list(&["--state", "held"])), Vec::<&str>::new());
        let page = list(&["--limit", "1"]);
        assert_eq!(ids(&page), [two.as_str()]);
        assert_eq!(ids(&list(&["--limit", "1", "--cursor", page["next"].as_str().unwrap()])), [one.as_str()]);

        let text = home.cli(&["events", "list"]).ok();
        assert!(text.contains(&one) && text.contains("first-one") && text.contains("exhausted"), "{text}");
        assert!(!text.contains('\x1b'), "no colours where no terminal is");
        assert_eq!(home.cli(&["events", "show", &one, "--json"]).json(), from_api);
        assert!(home.cli(&["events", "show", &one]).ok().contains("first-one"));
        assert_eq!(home.cli(&["events", "body", &one]).ok().as_bytes(), body, "byte for byte");
    });
}

#[test]
fn runs_and_deliveries_can_be_looked_at() {
    let agent = Agent::answering("the answer");
    agent.tell("stderr", "a note");
    let bell = house(&agent).start();
    let event = bell.send("r", &json!({"n": "the prompt"}));
    bell.settled(&event);
    let (run, delivery) = (bell.runs(&event).remove(0), bell.deliveries(&event).remove(0));
    let (run_id, delivery_id) = (run["id"].as_str().unwrap(), delivery["id"].as_str().unwrap());
    with_and_without(bell, |home| {
        assert_eq!(ids(&home.cli(&["runs", "list", "--json"]).json()), [run_id]);
        assert!(home.cli(&["runs", "list"]).ok().contains(run_id));
        assert_eq!(home.cli(&["runs", "show", run_id, "--json"]).json(), run);
        let shown = home.cli(&["runs", "show", run_id]).ok();
        assert!(shown.contains("the prompt") && shown.contains("the answer"), "{shown}");
        let log = home.cli(&["runs", "log", run_id]).ok();
        assert!(log.find("a note").unwrap() < log.find("the answer").unwrap(), "{log}");

        let listed = home.cli(&["deliveries", "list", "--json"]).json();
        assert_eq!(ids(&listed), [delivery_id]);
        assert_eq!(listed["items"][0]["state"], "delivered");
        assert_eq!(home.cli(&["deliveries", "show", delivery_id, "--json"]).json(), delivery);
        assert!(home.cli(&["deliveries", "list"]).ok().contains("log"));
    });
}

#[test]
fn an_event_can_be_run_again_replayed_and_cancelled() {
    let agent = Agent::failing(1, 1);
    let bell = house(&agent).route("r", json!({"prompt": "{n}", "max_retries": 0})).start();
    let one = bell.ring("r").id("one").json(&json!({"n": 1})).accepted();
    bell.wait_event(&one, "exhausted");
    bell.cli(&["events", "retry", &one]).ok();
    let after = bell.wait_event(&one, "succeeded");
    assert_eq!((&after["attempt"], after["runs"].as_array().unwrap().len()), (&json!(2), 2));
    assert!(bell.cli(&["events", "retry", &one]).fails(1).contains(&one), "it has succeeded");

    let said = bell.cli(&["events", "replay", &one]).ok();
    let new = said.split_whitespace().find(|word| word.starts_with("ev_")).unwrap_or_else(|| panic!("{said}"));
    let replayed = bell.wait_event(new, "succeeded");
    assert_ne!(new, one);
    assert_eq!((&replayed["attempt"], &replayed["delivery_id"]), (&json!(1), &json!("one")));
    assert_eq!(agent.prompts(), ["1", "1", "1"]);

    bell.cli(&["pause", "r"]).ok();
    let held = bell.send("r", &json!({"n": 2}));
    bell.cli(&["events", "cancel", &held]).ok();
    assert_eq!(bell.event(&held)["state"], "cancelled");
    assert!(bell.cli(&["events", "cancel", &held]).fails(1).contains(&held));
    bell.cli(&["resume", "r"]).ok();
    bell.wait_event(&bell.send("r", &json!({"n": 3})), "succeeded");
    assert_eq!(agent.prompts().last().unwrap(), "3");
}

#[test]
fn a_run_can_be_stopped() {
    let agent = Agent::gated();
    let bell = house(&agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    let run = agent.wait_runs(1).remove(0);
    bell.cli(&["runs", "stop", &run.id]).ok();
    assert_eq!(bell.wait_event(&event, "cancelled")["reason"], "stopped");
    assert!(!alive(run.pid));
    assert!(bell.cli(&["runs", "stop", &run.id]).fails(1).contains(&run.id), "it has ended");
}

#[test]
fn a_delivery_can_be_sent_again_without_another_run() {
    let agent = Agent::new();
    let bell = house(&agent)
        .target("notes", json!({"type": "file", "path": "sub/notes.jsonl", "max_attempts": 1}))
        .route("r", json!({"prompt": "x", "deliver": "notes"}))
        .file("sub", "a file where the folder should be")
        .start();
    let event = bell.send("r", &json!({}));
    let given_up = bell.settled(&event).remove(0);
    assert_eq!(given_up["state"], "exhausted");
    std::fs::remove_file(bell.home().join("sub")).unwrap();
    bell.cli(&["deliveries", "retry", given_up["id"].as_str().unwrap()]).ok();
    until("it is delivered", || bell.deliveries(&event)[0]["state"] == "delivered");
    assert_eq!((bell.home().lines("sub/notes.jsonl").len(), agent.runs().len()), (1, 1));
}

#[test]
fn what_is_asked_for_without_a_gateway_is_done_by_the_next_one() {
    let agent = Agent::failing(1, 1);
    let route = json!({"prompt": "{n}", "max_retries": 0, "max_concurrent": 1});
    let mut bell = house(&agent).route("r", route).start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&event, "exhausted");
    bell.stop();
    let home = bell.home();
    home.cli(&["events", "retry", &event]).ok();
    let sent = home.cli_with(&["send", "r", "--payload", "-"], &[], b"{\"n\": \"sent\"}").ok();
    let sent =
        sent.split_whitespace().find(|word| word.starts_with("ev_")).unwrap_or_else(|| panic!("{sent}")).to_owned();
    home.cli(&["pause", "broken"]).ok();
    let status = home.cli(&["status", "--json"]).json();
    assert_eq!(status["events"]["queued"], 2, "{status}");
    bell.begin();
    bell.wait_event(&event, "succeeded");
    bell.wait_event(&sent, "succeeded");
    assert_eq!(agent.prompts(), ["1", "1", "sent"]);
    let held = bell.send("broken", &json!({}));
    assert_eq!(bell.event(&held)["state"], "held");
}

#[test]
fn work_can_be_sent_without_a_signature() {
    let agent = Agent::new();
    let bell = house(&agent).route("agents", json!({"prompt": "{n}", "accept_from_agents": true})).start();
    let event_of = |text: &str| {
        text.split_whitespace().find(|word| word.starts_with("ev_")).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    std::fs::write(bell.home().join("work.json"), r#"{"n": "from a file", "type": "chore"}"#).unwrap();
    let one = event_of(&bell.cli(&["send", "r", "--payload", "work.json", "--id", "chore-1"]).ok());
    let event = bell.wait_event(&one, "succeeded");
    assert_eq!(
        (&event["source"], &event["event"], &event["delivery_id"]),
        (&json!("doorbell"), &json!("chore"), &json!("chore-1"))
    );
    let again = bell.cli(&["send", "r", "--payload", "work.json", "--id", "chore-1"]);
    assert!(format!("{}{}", again.stdout, again.stderr).contains("duplicate") && agent.runs().len() == 1, "{again:?}");

    let later = event_of(&bell.cli(&["send", "r", "--in", "1h"]).ok());
    assert_eq!(bell.event(&later)["state"], "queued");
    assert!(bell.event(&later)["due_at"].is_string(), "{}", bell.event(&later));
    let soon = event_of(&bell.cli(&["send", "r", "--in", "1s"]).ok());
    bell.wait_event(&soon, "succeeded");

    // Out of a run, only where the route allows it, and one hop further.
    let run = [("DOORBELL_RUN_ID", "run_1"), ("DOORBELL_HOP", "3")];
    let refused = bell.home().cli_with(&["send", "r"], &run, b"").fails(1);
    assert!(refused.contains("accept_from_agents"), "{refused}");
    let from_run = event_of(&bell.home().cli_with(&["send", "agents"], &run, b"").ok());
    assert_eq!(bell.event(&from_run)["hop"], 4);
    bell.cli(&["send", "r", "--payload", "no-such-file"]).fails(1);
    bell.home().cli_with(&["send", "r", "--payload", "-"], &[], b"{broken").fails(1);
}

#[test]
fn how_it_stands_is_told() {
    let agent = Agent::new();
    let bell = house(&agent).start();
    bell.settled(&bell.send("r", &json!({"n": 1})));
    bell.wait_event(&bell.send("broken", &json!({})), "exhausted");
    bell.cli(&["pause", "r"]).ok();
    bell.send("r", &json!({"n": 2}));
    with_and_without(bell, |home| {
        let status = home.cli(&["status", "--json"]).json();
        assert_eq!(
            (&status["events"]["succeeded"], &status["events"]["exhausted"]),
            (&json!(1), &json!(1)),
            "{status}"
        );
        assert_eq!((&status["events"]["held"], &status["deliveries"]["delivered"]), (&json!(1), &json!(1)), "{status}");
        assert_eq!(status["runs"]["running"], 0);
        assert!(status["version"].is_string() && status["node"].is_string(), "{status}");
        let routes: Vec<(&str, &str)> = status["routes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|route| (route["name"].as_str().unwrap(), route["state"].as_str().unwrap()))
            .collect();
        assert!(routes.contains(&("r", "paused")) && routes.len() == 2, "{routes:?}");
        let text = home.cli(&["status"]).ok();
        assert!(text.contains("paused") && text.contains("1 succeeded"), "{text}");
    });
}

/// The routes that `status` tells of, and what it says beside.
fn routes(home: &Home) -> (Vec<String>, String) {
    let output = home.cli(&["status", "--json"]);
    let said = output.stderr.clone();
    let status = output.json();
    assert!(status["uptime_s"].is_u64(), "a gateway answers: {status}");
    let routes = status["routes"].as_array().unwrap().iter();
    (routes.map(|route| route["name"].as_str().unwrap().to_owned()).collect(), said)
}

#[test]
fn a_running_gateway_is_found_wherever_the_file_puts_it() {
    let agent = Agent::new();
    let mut bell = house(&agent).start();
    // The port of a gateway that is not ours, and one where nobody listens: none that the system gives away.
    let other = house(&agent).start();
    let ports = [other.admin_address().port(), 20_000 + u16::try_from(std::process::id() % 10_000).unwrap()];
    for port in ports {
        bell.rewrite(|home| home.set("admin", json!({"port": port})).route("new", json!({"prompt": "x"})));
        assert_eq!(routes(bell.home()).1, "");
        let reload = bell.cli(&["reload"]);
        assert!(reload.status == 0 && reload.stderr.contains("needs a restart"), "{reload:?}");
        assert_eq!(routes(bell.home()).0, ["broken", "new", "r"]);
    }

    // What a crash leaves behind leads nobody to the gateway that has the address by now.
    bell.kill9();
    let file = bell.home().join("admin.url");
    let stale = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("http://{}", other.admin_address())).unwrap();
    let status = bell.cli(&["status", "--json"]).json();
    assert!(status["uptime_s"].is_null(), "from the ledger: {status}");
    bell.begin();
    assert_eq!(bell.admin_address().port(), ports[1]);
    std::fs::write(&file, stale).unwrap();
    assert_eq!(routes(bell.home()).0, ["broken", "new", "r"]);
    bell.stop();
    assert!(!file.exists());
    assert!(bell.cli(&["reload"]).fails(1).contains(&format!("no gateway runs at http://127.0.0.1:{}", ports[1])));
}

#[test]
fn a_running_gateway_is_steered_while_its_file_is_broken() {
    let agent = Agent::new();
    let mut bell = house(&agent).start();
    let event = bell.send("r", &json!({"n": 1}));
    bell.wait_event(&event, "succeeded");
    for text in ["", "routez: {}\n", "server: [\n"] {
        std::fs::write(bell.home().join("config.yaml"), text).unwrap();
        let (names, said) = routes(bell.home());
        assert_eq!(names, ["broken", "r"]);
        assert!(said.starts_with("note: ") && said.contains("config.yaml"), "{text:?}: {said}");
        bell.cli(&["pause", "r"]).ok();
        bell.cli(&["resume", "r"]).ok();
        assert!(bell.cli(&["events", "show", &event]).ok().contains("succeeded"));
        bell.cli(&["open"]).ok();
        let said = bell.cli(&["reload"]).fails(1);
        assert_eq!(said.matches("config.yaml").count(), 1, "said once: {said}");
    }
    bell.stop();
    let said = bell.cli(&["status"]).fails(1);
    assert!(said.contains("the configuration cannot be used: "), "{said}");
}

#[test]
fn wrong_words_are_2_and_what_is_not_there_is_1() {
    let agent = Agent::new();
    let bell = house(&agent).start();
    let wrong: [&[&str]; 7] = [
        &["no-such-command"],
        &["events", "no-such-action"],
        &["events", "list", "--state", "odd"],
        &["check", "--no-such-flag"],
        &["pause"],
        &["events", "show"],
        &[],
    ];
    for args in wrong {
        bell.cli(args).fails(2);
    }
    with_and_without(bell, |home| {
        let missing: [(&[&str], &str); 9] = [
            (&["events", "show", "ev_nope"], "ev_nope"),
            (&["events", "body", "ev_nope"], "ev_nope"),
            (&["events", "retry", "ev_nope"], "ev_nope"),
            (&["events", "replay", "ev_nope"], "ev_nope"),
            (&["events", "cancel", "ev_nope"], "ev_nope"),
            (&["runs", "show", "run_nope"], "run_nope"),
            (&["deliveries", "retry", "dlv_nope"], "dlv_nope"),
            (&["pause", "nope"], "nope"),
            (&["send", "nope"], "nope"),
        ];
        for (args, word) in missing {
            assert!(home.cli(args).fails(1).contains(word), "{args:?}");
        }
        // An id of another kind is said to be one.
        for (args, word) in [
            (["events", "show", "run_1"], "run"),
            (["runs", "show", "ev_1"], "event"),
            (["events", "show", "evt_1"], "evt_"),
        ] {
            let output = home.cli(&args);
            assert!(output.status != 0 && output.stderr.contains(word), "{args:?}: {output:?}");
        }
    });
}

#[test]
fn a_link_to_the_dashboard_opens_it_once() {
    let agent = Agent::new();
    let bell = house(&agent).start();
    let link = bell.cli(&["open"]).ok();
    let link = link.split_whitespace().find(|word| word.starts_with("http")).unwrap();
    let origin = format!("http://{}", bell.admin_address());
    let path = link.strip_prefix(&origin).unwrap_or_else(|| panic!("{link} is not at {origin}"));
    let visit = |path: &str| exchange(bell.admin_address(), "GET", path, &[], b"").unwrap();
    let first = visit(path);
    assert!(matches!(first.status, 302 | 303 | 200) && first.header("set-cookie").is_some(), "{first:?}");
    assert!(visit(path).header("set-cookie").is_none(), "a second time it opens nothing");
}

#[test]
fn what_is_built_in_can_be_listed() {
    let home = house(&Agent::new());
    home.write();
    let lists: [(&str, &[&str]); 3] = [
        ("sources", &["github", "gitlab", "hmac", "token", "basic", "standard-webhooks", "none"]),
        ("agents", &["command", "default", "broken"]),
        ("targets", &["log", "file", "webhook", "command"]),
    ];
    for (command, names) in lists {
        let (text, rows) = (home.cli(&[command]).ok(), home.cli(&[command, "--json"]).json().to_string());
        for name in names {
            assert!(text.contains(name) && rows.contains(&format!("\"{name}\"")), "{command}: {name}");
        }
    }
    assert!(home.cli(&["--version"]).ok().contains(env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.cli(&["completions", shell]).ok().contains("deliveries"), "{shell}");
    }
}

#[test]
fn a_recorded_request_is_judged_and_explained() {
    let home = house(&Agent::new());
    home.write();
    let body = r#"{"a":1}"#;
    let record = |secret: &str| {
        let headers = github_headers(secret, "push", "d-1", body.as_bytes());
        let bytes = http_request("POST", "/webhooks/r", &headers, body.as_bytes());
        std::fs::write(home.join("request.http"), bytes).unwrap();
        home.cli(&["verify", "--source", "github", "--secret", SECRET, "--file", "request.http"])
    };
    assert_eq!(record(SECRET).status, 0);
    let no = record("wrong");
    assert!(no.status == 1 && !format!("{no:?}").contains(SECRET), "{no:?}");
}
