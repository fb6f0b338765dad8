//! Agents that fail, hang, print too much, leave things behind, or are not there.

mod support;

use support::*;

/// A gateway whose route `r` has this agent and these further keys.
fn house(agent: Value, more: Value) -> Home {
    let mut route = json!({"prompt": "{n}"});
    let Value::Object(more) = more else { panic!("keys are a mapping") };
    route.as_object_mut().unwrap().extend(more);
    Home::new().agent("default", agent).route("r", route)
}

/// The only run of an event that was given up, no word of which was delivered.
fn only_run(bell: &Doorbell, event: &str) -> Value {
    let event = bell.wait_event(event, "exhausted");
    assert_eq!(event["deliveries"], json!([]));
    let mut runs = bell.runs(event["id"].as_str().unwrap());
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.remove(0)
}

#[test]
fn a_failed_run_comes_back_with_the_same_prompt_and_the_next_number() {
    let agent = Agent::failing(2, 7);
    agent.tell("stderr", "it broke");
    let bell = house(agent.options(), json!({"retry_backoff": "200ms"})).start();
    let event = bell.send("r", &json!({"n": "same"}));
    let event = bell.wait_event(&event, "succeeded");
    let seen: Vec<_> =
        agent.runs().iter().map(|run| (run.prompt.clone(), run.var("DOORBELL_ATTEMPT").to_owned())).collect();
    assert_eq!(seen, [("same".into(), "1".into()), ("same".into(), "2".into()), ("same".into(), "3".into())]);
    let runs = bell.runs(event["id"].as_str().unwrap());
    for (number, run) in runs.iter().enumerate() {
        assert_eq!(run["attempt"], number + 1);
        let ended = if number < 2 { ("failed", 7) } else { ("succeeded", 0) };
        assert_eq!((&run["state"], &run["exit_code"]), (&json!(ended.0), &json!(ended.1)));
        assert_eq!(run["stderr"], "it broke\n");
    }
    assert_eq!(event["attempt"], 3);
    let deliveries = bell.settled(event["id"].as_str().unwrap());
    assert_eq!((deliveries.len(), &deliveries[0]["content"]), (1, &json!("answer to: same")));
}

#[test]
fn the_waits_between_retries_are_doubled() {
    let agent = Agent::failing(3, 1);
    let bell = house(agent.options(), json!({"retry_backoff": "400ms"})).start();
    let event = bell.send("r", &json!({}));
    bell.wait_event(&event, "succeeded");
    let at = |run: &Value, key: &str| run[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let runs = bell.runs(&event);
    let waits: Vec<i64> =
        runs.windows(2).map(|pair| at(&pair[1], "started_at") - at(&pair[0], "finished_at")).collect();
    // Between half and the whole; how much later a busy machine comes to it is not said.
    let least = [200, 400, 800];
    assert!(waits.iter().zip(least).all(|(wait, least)| *wait >= least), "{waits:?}");
}

#[test]
fn after_its_last_retry_an_event_is_given_up_and_nothing_of_it_is_told() {
    let agent = Agent::failing(9, 3);
    agent.tell("answer", "Traceback: token=abc");
    let bell = house(agent.options(), json!({"max_retries": 1, "retry_backoff": "100ms"})).start();
    let event = bell.wait_event(&bell.send("r", &json!({})), "exhausted");
    assert_eq!((agent.runs().len(), &event["deliveries"]), (2, &json!([])));
    let runs = bell.runs(event["id"].as_str().unwrap());
    assert_eq!(runs.iter().map(|run| run["exit_code"].clone()).collect::<Vec<_>>(), [3, 3]);
    assert!(event["reason"].as_str().unwrap().contains('3') && !event["finished_at"].is_null(), "{event}");
    assert!(!bell.log().contains("token=abc"), "{}", bell.log());
}

#[test]
fn later_costs_no_retry() {
    let agent = Agent::failing(2, 75);
    let bell = house(agent.options(), json!({"max_retries": 0, "retry_backoff": "100ms"})).start();
    let event = bell.wait_event(&bell.send("r", &json!({})), "succeeded");
    assert_eq!((agent.runs().len(), &event["attempt"]), (3, &json!(3)));
}

#[test]
fn no_answer_is_no_success() {
    let silent = [("nothing", "true"), ("blanks", "printf ' \\n\\t '"), ("elsewhere", "echo only here >&2")];
    let mut home = Home::new().agent("default", shell("cat"));
    for (name, line) in silent {
        home = home.agent(name, shell(line)).route(name, json!({"prompt": "x", "agent": name, "max_retries": 0}));
    }
    let bell = home.start();
    let events = silent.map(|(name, _)| (name, bell.send(name, &json!({}))));
    for (name, event) in events {
        let run = only_run(&bell, &event);
        assert_eq!((&run["state"], &run["exit_code"]), (&json!("failed"), &json!(0)), "{name}");
        for why in [&run["error"], &bell.event(&event)["reason"]] {
            assert!(why.as_str().unwrap().starts_with("empty_answer"), "{name}: {why}");
        }
    }
}

#[test]
fn a_program_that_is_not_there_fails_its_runs_and_nothing_else() {
    let not_executable = json!({"preset": "command", "command": ["./notes.txt"]});
    let bell = Home::new()
        .agent("default", shell("cat"))
        .agent("gone", json!({"preset": "command", "command": ["no-such-agent-program"]}))
        .agent("text", not_executable)
        .file("notes.txt", "no program")
        .route("r", json!({"prompt": "still here"}))
        .route("gone", json!({"prompt": "x", "agent": "gone", "max_retries": 0}))
        .route("text", json!({"prompt": "x", "agent": "text", "max_retries": 0}))
        .start();
    for (route, name) in [("gone", "no-such-agent-program"), ("text", "notes.txt")] {
        let run = only_run(&bell, &bell.send(route, &json!({})));
        assert!(run["error"].as_str().unwrap().contains(name) && run["exit_code"].is_null(), "{run}");
    }
    bell.wait_event(&bell.send("r", &json!({})), "succeeded");
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let mut home = Home::new().agent("default", shell("cat")).file("notes.txt", "no folder");
    for (name, cwd) in [("gone", "no-such-folder"), ("text", "notes.txt")] {
        let agent = json!({"preset": "command", "command": ["sh", "-c", "echo"], "cwd": cwd});
        home = home.agent(name, agent).route(name, json!({"prompt": "x", "agent": name, "max_retries": 0}));
    }
    let bell = home.start();
    for (route, cwd, why) in
        [("gone", "no-such-folder", "No such file or directory"), ("text", "notes.txt", "Not a directory")]
    {
        let error = only_run(&bell, &bell.send(route, &json!({})))["error"].as_str().unwrap().to_owned();
        let path = bell.home().join(cwd).display().to_string();
        assert!(error.contains(&path) && error.contains("cwd") && error.contains(why), "{error}");
    }
}

#[test]
fn the_folder_of_the_runs_is_made_again_when_somebody_has_removed_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let by_file = json!({
        "preset": "command", "command": ["cat", "{prompt_file}"], "prompt_via": "file", "hint": false,
    });
    let bell =
        house(shell("cat"), json!({})).agent("file", by_file).route("f", json!({"prompt": "x", "agent": "file"}));
    let bell = bell.start();
    let runs = bell.home().join("runs");
    for route in ["r", "f"] {
        std::fs::remove_dir_all(&runs).unwrap();
        bell.wait_event(&bell.send(route, &json!({"n": 1})), "succeeded");
        assert_eq!(std::fs::metadata(&runs).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn at_its_timeout_all_that_a_run_started_is_ended() {
    let (polite, stubborn) = (Agent::gated(), Agent::gated());
    stubborn.tell("ignore_term", "");
    for agent in [&polite, &stubborn] {
        agent.tell("leave_children", "");
    }
    let bell = house(polite.options_with(json!({"timeout": "1s"})), json!({"max_retries": 0}))
        .agent("stubborn", stubborn.options())
        .route("s", json!({"prompt": "x", "agent": "stubborn", "max_retries": 0, "timeout": "1s"}))
        .start();
    let events = [("r", &polite, 1_000), ("s", &stubborn, 6_000)]
        .map(|(route, agent, least)| (bell.send(route, &json!({})), agent, least));
    for (event, agent, least) in events {
        let seen = agent.wait_runs(1).remove(0);
        assert_eq!(seen.children.len(), 2);
        let run = only_run(&bell, &event);
        assert!(run["error"].as_str().unwrap().contains("timed out") && run["state"] == "failed", "{run}");
        let at = |key: &str| run[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let took = at("finished_at") - at("started_at");
        assert!(took >= least, "SIGTERM at 1 s, SIGKILL 5 s later; it took {took} ms");
        // When the end is on record nothing is alive any more, also of what had left the group.
        for pid in [seen.pid, seen.children[0], seen.children[1]] {
            assert!(!alive(pid), "{pid} of {seen:?}");
        }
    }
}

#[test]
fn what_a_finished_agent_left_behind_holds_nothing_up() {
    // A child with the agent's own stdout and stderr, and one outside of the group.
    let bell = house(shell("sleep 600 & setsid sleep 600 & echo $! > escaped; echo done"), json!({})).start();
    let event = bell.wait_event(&bell.send("r", &json!({})), "succeeded");
    assert_eq!(bell.runs(event["id"].as_str().unwrap())[0]["answer"], "done");
    let escaped = std::fs::read_to_string(bell.home().join("escaped")).unwrap();
    assert!(!alive(escaped.trim().parse().unwrap()));
}

#[test]
fn large_prompts_and_answers_pass_in_any_order() {
    let text = "Tür 🚪 ".repeat(60_000);
    let agents = [
        ("echoes", "cat"),
        ("talks-first", "head -c 900000 /dev/zero | tr '\\0' x; cat > /dev/null"),
        ("noisy", "head -c 5000000 /dev/zero | tr '\\0' e >&2; printf END >&2; echo done"),
        ("deaf", "echo early"),
    ];
    let mut home = Home::new().agent("default", shell("cat"));
    for (name, line) in agents {
        home = home.agent(name, shell(line)).route(name, json!({"prompt": "{t}", "agent": name, "max_retries": 0}));
    }
    let bell = home.start();
    let events = agents.map(|(name, _)| bell.send(name, &json!({"t": text})));
    let [echoes, talks, noisy, deaf] = events.map(|event| {
        bell.wait_event(&event, "succeeded");
        bell.runs(&event).remove(0)
    });
    assert!(echoes["answer"] == text.trim() && echoes["prompt"] == text, "whole");
    assert!(talks["answer"] == "x".repeat(900_000), "whole");
    assert_eq!((&noisy["answer"], &deaf["answer"]), (&json!("done"), &json!("early")));
    let stderr = noisy["stderr"].as_str().unwrap();
    assert!((60_000..=65_536).contains(&stderr.len()) && stderr.ends_with("eEND"), "{} bytes", stderr.len());
}

#[test]
fn an_answer_without_end_is_cut_and_says_so() {
    let limited = json!({"preset": "command", "command": ["sh", "-c", "yes | head -c 50000"], "max_output_bytes": 1000, "hint": false});
    let endless = json!({"preset": "command", "command": ["yes"], "max_output_bytes": 1000, "timeout": "1s"});
    let bell = house(limited, json!({}))
        .agent("endless", endless)
        .route("endless", json!({"prompt": "x", "agent": "endless", "max_retries": 0}))
        .start();
    let event = bell.send("r", &json!({}));
    bell.wait_event(&event, "succeeded");
    let answer = bell.runs(&event).remove(0)["answer"].as_str().unwrap().to_owned();
    let (kept, mark) = answer.rsplit_once("y\n").unwrap();
    assert!(kept.len() > 900 && kept.len() <= 1000 && !mark.is_empty() && mark.len() < 200, "{answer}");
    let run = only_run(&bell, &bell.send("endless", &json!({})));
    assert!(run["error"].as_str().unwrap().contains("timed out"), "{run}");
}

#[test]
fn a_person_can_stop_a_run() {
    let agent = Agent::gated();
    agent.tell("leave_children", "");
    let bell = house(agent.options(), json!({})).start();
    let event = bell.send("r", &json!({}));
    let seen = agent.wait_runs(1).remove(0);
    assert_eq!(bell.event(&event)["state"], "running");
    let answer = bell.admin("POST", &format!("/api/v1/runs/{}/stop", seen.id));
    assert!(matches!(answer.status, 200 | 202), "{answer:?}");
    let event = bell.wait_event(&event, "cancelled");
    assert_eq!((&event["reason"], &event["deliveries"]), (&json!("stopped"), &json!([])));
    assert_eq!(bell.runs(event["id"].as_str().unwrap())[0]["state"], "stopped");
    for pid in [seen.pid, seen.children[0], seen.children[1]] {
        assert!(!alive(pid), "{pid} of {seen:?}");
    }
    assert!(bell.admin("POST", &format!("/api/v1/runs/{}/stop", seen.id)).status >= 400, "it has ended");
}

#[test]
fn a_prompt_in_a_file_is_private_and_gone_after_the_run() {
    let line = "echo \"$1\"; echo \"$DOORBELL_PROMPT_FILE\"; stat -c %a \"$1\"; cat \"$1\"; wc -c";
    let options = json!({
        "preset": "command", "command": ["sh", "-c", line, "agent", "{prompt_file}"], "prompt_via": "file", "hint": false,
    });
    let bell = house(options, json!({"prompt": "--help {n}"})).start();
    let event = bell.send("r", &json!({"n": "me"}));
    bell.wait_event(&event, "succeeded");
    let answer = bell.runs(&event).remove(0)["answer"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(lines[0], lines[1]);
    assert_eq!(&lines[2..], ["600", "--help me0"], "owner only; the prompt; nothing on stdin");
    assert!(!std::path::Path::new(lines[0]).exists());
    let left: Vec<_> = std::fs::read_dir(bell.home().join("runs")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_agent_that_speaks_json_is_read_as_json() {
    let speaks =
        |text: &str| json!({"preset": "command", "command": ["printf", "%s", text], "output": "json", "hint": false});
    let full = r#"{"answer": "fine", "session_id": "s-1", "cost_usd": 0.25, "usage": {"input_tokens": 3}}"#;
    let broken = ["no json", r#"{"text": "no answer"}"#, r#"{"answer": ""}"#, r#"{"answer": "x""#];
    let mut home = house(speaks(full), json!({}))
        .agent("silent", speaks(r#"{"answer": "kept, not told", "silent": true}"#))
        .route("silent", json!({"prompt": "x", "agent": "silent"}));
    for (number, text) in broken.iter().enumerate() {
        let name = format!("broken{number}");
        home = home.agent(&name, speaks(text)).route(&name, json!({"prompt": "x", "agent": name, "max_retries": 0}));
    }
    let bell = home.start();
    let event = bell.send("r", &json!({}));
    assert_eq!(bell.settled(&event)[0]["content"], "fine");
    let run = bell.runs(&event).remove(0);
    assert_eq!((&run["session_id"], &run["cost_usd"]), (&json!("s-1"), &json!(0.25)));
    assert_eq!(run["usage"], json!({"input_tokens": 3}));
    assert_eq!(bell.settled(&bell.send("silent", &json!({})))[0]["state"], "suppressed");
    for number in 0..broken.len() {
        let run = only_run(&bell, &bell.send(&format!("broken{number}"), &json!({})));
        assert_eq!(run["state"], "failed", "{run}");
    }
}
