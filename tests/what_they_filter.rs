//! Filters: which events may pass, and what a person sees of those that may not.

mod support;

use support::*;

fn house(agent: &Agent, filters: impl Into<Value>) -> Home {
    let filters: Value = filters.into();
    Home::with(agent).route("r", json!({"prompt": "{n}", "filters": filters}))
}

#[test]
fn what_does_not_pass_is_ignored_on_record_and_may_come_again() {
    let agent = Agent::new();
    let filters = json!([
        {"field": "ref", "in": ["main", "release"]},
        {"not": {"field": "sender.login", "ends_with": "[bot]"}},
        {"any": [{"field": "headers.X-Team", "equals": "ops"}, {"field": "n", "gte": 10}]},
    ]);
    let bell = house(&agent, filters).start();
    let of = |reference: &str, sender: &str, n: i32| json!({"ref": reference, "sender": {"login": sender}, "n": n});
    for (payload, team) in
        [(of("dev", "ann", 10), "ops"), (of("main", "dep[bot]", 10), "ops"), (of("main", "ann", 1), "dev")]
    {
        let answer = bell.ring("r").id("one").header("X-TEAM", team).json(&payload).post();
        assert_eq!((answer.status, answer.json()["reason"].clone()), (200, json!("filter")), "{payload}: {answer:?}");
    }
    let event = bell.ring("r").id("one").header("x-team", "ops").json(&of("main", "ann", 1)).accepted();
    bell.wait_event(&event, "succeeded");
    let ignored = bell.list("/events?state=ignored");
    assert_eq!(ignored.len(), 3);
    assert!(ignored.iter().all(|event| event["reason"] == "filter"), "{ignored:?}");
    assert_eq!(agent.prompts(), ["1"]);
}

#[test]
fn a_list_is_read_anew_for_each_event() {
    let agent = Agent::new();
    let bell = house(&agent, json!({"field": "who", "in_file": "people/trusted.txt"})).start();
    let list = bell.home().path().join("people/trusted.txt");
    assert!(bell.log().contains("there is no file"), "{}", bell.log());
    assert_eq!(bell.ring("r").json(&json!({"who": "ann"})).post().status, 200);
    bell.wait_log("cannot be read");
    std::fs::create_dir(list.parent().unwrap()).unwrap();
    for (text, status) in [("bob\n", 200), ("bob\n  ann \n", 202), ("[\"ann\"]", 202), ("{\"bob\": 1}", 200)] {
        std::fs::write(&list, text).unwrap();
        assert_eq!(bell.ring("r").json(&json!({"who": "ann", "n": 1})).post().status, status, "{text}");
    }
}

#[test]
fn filters_hold_for_work_from_inside_and_for_what_is_played_again() {
    let agent = Agent::new();
    let mut bell = house(&agent, json!({"field": "ok", "equals": true})).start();
    std::fs::write(bell.home().path().join("work.json"), "{\"ok\": false}").unwrap();
    let work = bell.home().path().join("work.json");
    let refused = bell.cli(&["send", "r", "--payload", work.to_str().unwrap()]);
    assert!(format!("{refused:?}").contains("filter"), "{refused:?}");
    let event = bell.send("r", &json!({"ok": true, "n": 1}));
    bell.wait_event(&event, "succeeded");
    bell.rewrite(|home| home.route("r", json!({"prompt": "{n}", "filters": {"field": "ok", "equals": 1}})));
    bell.cli(&["reload"]).ok();
    let played = bell.cli(&["events", "replay", &event]);
    assert!(format!("{played:?}").contains("filter"), "today's rules: {played:?}");
}

#[test]
fn a_condition_that_is_wrong_is_told_with_its_place() {
    let agent = Agent::new();
    let filters = json!([{"field": "a", "equalz": 1}, {"any": [{"field": "a", "regex": "(["}]}, {"field": "b", "in_file": "../x"}]);
    let check = |filters: Value| {
        let home = house(&agent, filters);
        home.write();
        home.cli(&["check"]).fails(1)
    };
    let told = check(filters);
    for wrong in ["filters.0.equalz: no such operator", "filters.1.any.0.regex: not a pattern", "config.yaml:"] {
        assert!(told.contains(wrong), "{wrong}: {told}");
    }
    let told = check(json!({"field": "b", "in_file": "../x"}));
    assert!(told.contains("leaves the home"), "{told}");
}
