//! A signed GitHub webhook wakes an agent, and its answer lands in a file: the whole way, and what stays on record of it.

mod support;

use support::*;

const SECRET_OF_ROUTE: &str = "github-secret-not-real";

/// A gateway that reviews pull requests with this agent and keeps the answers in `answers.jsonl`.
fn reviewer(agent: &Agent) -> Home {
    let route = json!({
        "source": "github",
        "secret": SECRET_OF_ROUTE,
        "events": ["pull_request", "issues"],
        "prompt": "Review #{number} of {repository.full_name}: {pull_request.title}",
        "deliver": "answers",
    });
    let target = json!({"type": "file", "path": "answers.jsonl"});
    Home::new().agent("default", agent.options()).route("gh", route).target("answers", target)
}

fn pull_request() -> Value {
    json!({
        "action": "opened", "number": 7,
        "pull_request": {"title": "Fix the ünïcode 🚪"},
        "repository": {"full_name": "octo/door"},
    })
}

fn review(bell: &Doorbell) -> Ring {
    bell.ring("gh").secret(SECRET_OF_ROUTE).event("pull_request").json(&pull_request())
}

#[test]
fn a_pull_request_is_reviewed_and_the_review_is_in_the_file() {
    let agent = Agent::answering("\n  Looks good to me. \n\n");
    let bell = reviewer(&agent).start();
    let accepted = review(&bell).id("delivery-1").post().expect(202);
    let event = accepted["event_id"].as_str().unwrap();
    assert_eq!(
        accepted,
        json!({
            "status": "accepted", "route": "gh", "event": "pull_request",
            "delivery_id": "delivery-1", "event_id": event,
        })
    );
    assert!(event.starts_with("ev_"), "{event}");
    bell.settled(event);

    let run = agent.runs().remove(0);
    assert_eq!(run.prompt, "Review #7 of octo/door: Fix the ünïcode 🚪");
    let lines = bell.home().lines("answers.jsonl");
    let delivery = bell.event(event)["deliveries"][0].clone();
    assert_eq!(
        lines,
        [json!({
            "id": delivery, "event_id": event, "run_id": run.id, "route": "gh", "event": "pull_request",
            "delivery_id": "delivery-1", "content": "Looks good to me.", "created_at": lines[0]["created_at"],
        })]
    );
}

#[test]
fn event_run_and_delivery_tell_the_same_story() {
    let agent = Agent::answering("fine");
    agent.tell("stderr", "thinking aloud");
    let bell = reviewer(&agent).start();
    let event = review(&bell).id("delivery-2").accepted();
    let deliveries = bell.settled(&event);
    let event = bell.event(&event);

    assert_eq!(event["runs"].as_array().unwrap().len(), 1);
    let shown = ["route", "source", "event", "delivery_id", "state", "reason", "attempt", "hop", "superseded_by"];
    let shown: Vec<_> = shown.iter().map(|key| event[key].clone()).collect();
    let (no, none) = (json!(null), json!(null));
    assert_eq!(
        shown,
        [
            json!("gh"),
            json!("github"),
            json!("pull_request"),
            json!("delivery-2"),
            json!("succeeded"),
            no,
            json!(1),
            json!(0),
            none
        ]
    );
    let run = &bell.runs(event["id"].as_str().unwrap())[0];
    assert!(run["id"].as_str().unwrap().starts_with("run_"), "{run}");
    assert_eq!((&run["event_id"], &run["route"], &run["agent"]), (&event["id"], &json!("gh"), &json!("default")));
    assert_eq!((&run["state"], &run["attempt"], &run["exit_code"]), (&json!("succeeded"), &json!(1), &json!(0)));
    assert_eq!(
        (&run["answer"], &run["stderr"], &run["error"]),
        (&json!("fine"), &json!("thinking aloud\n"), &json!(null))
    );
    assert_eq!(run["prompt"], "Review #7 of octo/door: Fix the ünïcode 🚪");
    let delivery = &deliveries[0];
    assert!(delivery["id"].as_str().unwrap().starts_with("dlv_"), "{delivery}");
    assert_eq!((&delivery["event_id"], &delivery["run_id"]), (&event["id"], &run["id"]));
    assert_eq!((&delivery["target"], &delivery["state"]), (&json!("answers"), &json!("delivered")));
    assert_eq!((&delivery["content"], &delivery["attempts"]), (&json!("fine"), &json!(1)));

    // RFC 3339 in UTC compares as text.
    let times = [&event["received_at"], &run["started_at"], &run["finished_at"], &delivery["delivered_at"]];
    let times: Vec<&str> = times.iter().map(|time| time.as_str().unwrap()).collect();
    assert!(times.iter().all(|time| time.ends_with('Z')) && times.is_sorted(), "{times:?}");
}

#[test]
fn an_agent_sees_the_facts_and_nothing_of_the_gateways_secrets() {
    let agent = Agent::new();
    let options = agent.options_with(json!({"env": {"ADDED": "one"}, "cwd": "workshop"}));
    let home = reviewer(&agent).agent("default", options);
    std::fs::create_dir(home.join("workshop")).unwrap();
    let home = home.env("LC_TIME", "C").env("AWS_SECRET_ACCESS_KEY", "leak-1").env("WEBHOOK_SECRET", "leak-2");
    let bell = home.start();
    let event = review(&bell).id("delivery-3").event("issues").header("X-Hermes-Hop", "2").accepted();
    bell.settled(&event);

    let run = agent.runs().remove(0);
    let facts = ["EVENT_ID", "ROUTE", "EVENT_TYPE", "DELIVERY_ID", "ATTEMPT", "HOP"];
    let facts = facts.map(|name| run.var(&format!("DOORBELL_{name}")).to_owned());
    assert_eq!(facts, [event.as_str(), "gh", "issues", "delivery-3", "1", "2"]);
    assert_eq!(bell.event(&event)["runs"], json!([run.var("DOORBELL_RUN_ID")]));
    let home = bell.home().path();
    assert_eq!(run.var("DOORBELL_HOME"), home.to_str().unwrap());
    assert_eq!(run.cwd, home.join("workshop").to_str().unwrap());
    let trace: Vec<usize> = run.var("TRACEPARENT").split('-').map(str::len).collect();
    assert_eq!(trace, [2, 32, 16, 2], "{}", run.var("TRACEPARENT"));
    assert_eq!((run.var("ADDED"), run.var("LC_TIME")), ("one", "C"));
    assert!(!run.env.values().any(|value| value.contains("leak") || value.contains(SECRET_OF_ROUTE)), "{:?}", run.env);
}

#[test]
fn a_list_of_names_replaces_what_is_inherited() {
    let agent = Agent::new();
    let options = agent.options_with(json!({"inherit_env": ["PATH", "MINE_*"]}));
    let home = reviewer(&agent).agent("default", options);
    let bell = home.env("MINE_ONE", "1").env("LANG", "C.UTF-8").start();
    bell.settled(&review(&bell).accepted());
    let run = agent.runs().remove(0);
    assert_eq!(run.var("MINE_ONE"), "1");
    assert!(!run.env.contains_key("HOME") && !run.env.contains_key("LANG"), "{:?}", run.env);
}

#[test]
fn the_same_delivery_is_not_reviewed_twice() {
    let agent = Agent::new();
    let bell = reviewer(&agent).start();
    let first = review(&bell).id("again").accepted();
    assert_eq!(review(&bell).id("again").duplicate(), first, "while it runs or right after");
    bell.settled(&first);
    assert_eq!(review(&bell).id("again").duplicate(), first, "after it has succeeded");
    let other = review(&bell).id("another").accepted();
    bell.settled(&other);
    assert_eq!(agent.runs().len(), 2);
    assert_eq!(bell.list("/events").len(), 2, "a duplicate leaves no event");
}

#[test]
fn a_ping_is_answered_and_wakes_nobody() {
    let agent = Agent::new();
    let listing = json!({"source": "github", "secret": SECRET_OF_ROUTE, "events": ["ping"], "prompt": "pinged"});
    let auto = json!({"secret": SECRET_OF_ROUTE, "prompt": "x"});
    let bell = reviewer(&agent).route("listed", listing).route("auto", auto).start();
    let ping =
        |route: &str| bell.ring(route).event("ping").json(&json!({"zen": "Anything added dilutes everything else."}));

    for route in ["gh", "auto"] {
        assert_eq!(ping(route).secret(SECRET_OF_ROUTE).post().expect(200), json!({"status": "pong"}));
        assert_eq!(ping(route).secret("wrong").post().expect(401), json!({"error": "Invalid signature"}));
    }
    let event = ping("listed").secret(SECRET_OF_ROUTE).accepted();
    bell.settled(&event);
    assert_eq!(agent.prompts(), ["pinged"], "a route that lists ping is rung by it, the others are not");
    assert_eq!(bell.list("/events").len(), 1);
}

#[test]
fn what_nobody_asked_for_is_ignored_but_can_be_looked_at() {
    let agent = Agent::new();
    let keys = json!({"secret": SECRET_OF_ROUTE, "events": ["pull_request.opened"], "prompt": "{action}"});
    let bell = reviewer(&agent).route("opened", keys).start();
    let ring = |event: &str, action: &str| {
        bell.ring("opened").secret(SECRET_OF_ROUTE).event(event).id(action).json(&json!({"action": action}))
    };
    for (event, action) in [("pull_request", "closed"), ("issues", "opened")] {
        let ignored = ring(event, action).post().expect(200);
        assert_eq!(ignored, json!({"status": "ignored", "reason": "event", "event": event, "route": "opened"}));
    }
    let wanted = ring("pull_request", "opened").accepted();
    bell.settled(&wanted);
    let ignored = bell.list("/events?state=ignored");
    let seen: Vec<_> =
        ignored.iter().map(|event| (event["reason"].as_str(), event["runs"].as_array().map(Vec::len))).collect();
    assert_eq!(seen, [(Some("event"), Some(0)); 2], "{ignored:?}");
    assert_eq!(
        agent.prompts(),
        ["opened"],
        "an id that was ignored is not used up: this one came before as an issue's"
    );
}

#[test]
fn a_message_that_has_gone_round_too_often_stops_here() {
    let agent = Agent::new();
    let bell =
        reviewer(&agent).route("auto", json!({"prompt": "round {hop}"})).set("hooks", json!({"max_hops": 2})).start();
    let ring = |header: &str, body: &Value| bell.ring("auto").header("X-Hermes-Hop", header).json(body);
    for (header, body) in [("3", json!({})), ("0", json!({"hop": 3})), ("many", json!({})), ("-1", json!({}))] {
        let answer = ring(header, &body).post().expect(200);
        assert_eq!((&answer["reason"], &answer["route"]), (&json!("hop_limit"), &json!("auto")), "{header} {body}");
    }
    let event = ring("1", &json!({"hop": 2})).accepted();
    bell.settled(&event);
    assert_eq!((bell.event(&event)["hop"].clone(), agent.runs()[0].var("DOORBELL_HOP")), (json!(2), "2"));
}

#[test]
fn a_prompt_is_filled_in_one_pass() {
    let agent = Agent::new();
    let prompt = "{title}|{list.1.x}|{missing.one}|{{n}}|{event_type}|{route}|{delivery_id}|{headers.X-GitHub-Event}|{flag}{none}";
    let bell = reviewer(&agent).route("fill", json!({"prompt": prompt})).route("raw", json!({})).start();
    let body = json!({
        "title": "{n} {__raw__} {headers.authorization}", "n": 1.50, "list": [{}, {"x": "second"}],
        "event_type": "forged", "flag": true, "none": null,
    });
    bell.settled(&bell.ring("fill").id("d-9").json(&body).accepted());
    let title = "{n} {__raw__} {headers.authorization}";
    assert_eq!(agent.prompts(), [format!("{title}|second|{{missing.one}}|{{1.5}}|push|fill|d-9|push|truenull")]);

    // Without a prompt of its own, a route gives the event's facts and the payload.
    bell.settled(&bell.ring("raw").event("star").bytes(r#"{"n": 1.50, "id": 12345678901234567890}"#).accepted());
    let dump = &agent.prompts()[1];
    assert!(dump.contains("star") && dump.contains("raw") && dump.contains("12345678901234567890"), "{dump}");
}

#[test]
fn an_agent_is_warned_of_strangers_unless_told_not_to() {
    let agent = Agent::new();
    let options = agent.options_with(json!({"hint": true}));
    let bell =
        reviewer(&agent).agent("wary", options).route("wary", json!({"prompt": "Do {it}.", "agent": "wary"})).start();
    bell.settled(&bell.send("wary", &json!({"it": "this"})));
    let prompt = agent.prompts().remove(0);
    let (note, asked) = prompt.rsplit_once("\n\n").expect("a note, then the prompt");
    assert_eq!(asked, "Do this.");
    assert!(note.contains("instructions"), "{note}");
}

#[test]
fn health_and_readiness_are_told() {
    let agent = Agent::new();
    let bell = reviewer(&agent).start();
    assert_eq!(bell.http("GET", "/health", &[], b"").expect(200), json!({"status": "ok", "platform": "webhook"}));
    assert!(bell.log().contains("doorbell is ready: webhooks on http://127.0.0.1:"), "{}", bell.log());
}
