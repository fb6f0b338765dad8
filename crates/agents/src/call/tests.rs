use proptest::prelude::*;
use serde_json::{Value, from_value, json};

use super::*;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn agent(more: &Value) -> Agent {
    let mut raw = json!({"preset": "command", "command": ["my-agent"], "hint": false});
    raw.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Agent::resolve("default", from_value(raw).unwrap()).unwrap()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn facts(environment: &[(String, String)]) -> CallFacts<'_> {
    CallFacts {
        run_id: "run_1",
        event_id: "ev_1",
        route: "r",
        event_type: "issues",
        delivery_id: "d-1",
        attempt: 1,
        hop: 2,
        session: None,
        home: "/home/bell/.doorbell",
        traceparent: TRACE,
        prompt: "look at this",
        prompt_file: "/home/bell/.doorbell/runs/run_1.prompt",
        environment,
    }
}

fn value<'a>(call: &'a Call, name: &str) -> Option<&'a str> {
    call.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn a_plain_call_gives_the_prompt_on_stdin() {
    let call = agent(&json!({"args": ["-q"]})).call(&facts(&[]));
    assert_eq!(call.argv, ["my-agent", "-q"]);
    assert_eq!((call.stdin.as_deref(), &call.prompt_file, &call.cwd), (Some("look at this"), &None, &None));
    assert!(call.stop.is_none());
}

#[test]
fn the_environment_is_the_facts_the_allowed_and_the_added() {
    let gateway =
        pairs(&[("PATH", "/bin"), ("HOME", "/home/bell"), ("LC_TIME", "C"), ("TOKEN", "leak"), ("MINE", "mine")]);
    let call = agent(&json!({"env": {"ADDED": "one", "PATH": "/opt/bin"}})).call(&facts(&gateway));
    let wanted = pairs(&[
        ("ADDED", "one"),
        ("DOORBELL_ATTEMPT", "1"),
        ("DOORBELL_DELIVERY_ID", "d-1"),
        ("DOORBELL_EVENT_ID", "ev_1"),
        ("DOORBELL_EVENT_TYPE", "issues"),
        ("DOORBELL_HOME", "/home/bell/.doorbell"),
        ("DOORBELL_HOP", "2"),
        ("DOORBELL_ROUTE", "r"),
        ("DOORBELL_RUN_ID", "run_1"),
        ("HOME", "/home/bell"),
        ("LC_TIME", "C"),
        ("PATH", "/opt/bin"),
        ("TRACEPARENT", TRACE),
    ]);
    assert_eq!(call.env, wanted);

    let own_list = agent(&json!({"inherit_env": ["PATH", "MI*"]})).call(&facts(&gateway));
    assert_eq!((value(&own_list, "MINE"), value(&own_list, "HOME")), (Some("mine"), None));
}

#[test]
fn a_session_is_told_only_when_there_is_one() {
    let call = agent(&json!({})).call(&CallFacts { session: Some("chat-5"), ..facts(&[]) });
    assert_eq!(value(&call, "DOORBELL_SESSION"), Some("chat-5"));
}

#[test]
fn a_prompt_by_file_is_nowhere_else() {
    let agent = agent(&json!({"prompt_via": "file", "args": ["--in={prompt_file}"]}));
    let call = agent.call(&CallFacts { prompt: "--the {run_id} prompt", ..facts(&[]) });
    let path = "/home/bell/.doorbell/runs/run_1.prompt";
    assert_eq!(call.argv, ["my-agent".to_owned(), format!("--in={path}")]);
    assert_eq!((call.stdin.as_ref(), value(&call, "DOORBELL_PROMPT_FILE")), (None, Some(path)));
    let file = call.prompt_file.unwrap();
    assert_eq!((file.path.as_str(), file.content.as_str()), (path, "--the {run_id} prompt"));
}

#[test]
fn the_hint_comes_before_the_prompt_and_tells_later_attempts() {
    let hinted = agent(&json!({"hint": true}));
    let first = hinted.call(&facts(&[])).stdin.unwrap();
    let second = hinted.call(&CallFacts { attempt: 2, ..facts(&[]) }).stdin.unwrap();
    assert!(first.ends_with("\n\nlook at this") && !first.contains("attempt"), "{first}");
    assert!(second.ends_with("\n\nlook at this") && second.contains("attempt 2"), "{second}");
    let plain = agent(&json!({})).call(&CallFacts { attempt: 2, ..facts(&[]) });
    assert_eq!(plain.stdin.as_deref(), Some("look at this"), "without hint every attempt has the same prompt");
}

#[test]
fn a_wrapper_goes_before_and_may_inherit_more() {
    let gateway = pairs(&[("DOCKER_HOST", "unix:///run/d"), ("PATH", "/bin"), ("TOKEN", "leak")]);
    let wrapped = agent(&json!({"wrap": ["docker", "run", "--name", "{run_id}", "image"], "wrap_env": ["DOCKER_*"],
        "stop_command": ["docker", "rm", "-f", "{run_id}"], "cwd": "work"}));
    assert_eq!(wrapped.program(), "docker");
    let call = wrapped.call(&facts(&gateway));
    assert_eq!(call.argv, ["docker", "run", "--name", "run_1", "image", "my-agent"]);
    assert_eq!((value(&call, "DOCKER_HOST"), value(&call, "TOKEN")), (Some("unix:///run/d"), None));
    assert_eq!(call.cwd.as_deref(), Some("/home/bell/.doorbell/work"));

    let stop = wrapped.stop("run_0", "/home/bell/.doorbell", &gateway).unwrap();
    assert_eq!(stop.argv, ["docker", "rm", "-f", "run_0"]);
    let names: Vec<_> = stop.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["DOCKER_HOST", "DOORBELL_HOME", "DOORBELL_RUN_ID", "PATH"]);
    assert_eq!(call.stop.unwrap().argv[3], "run_1");
}

#[test]
fn debug_shows_neither_prompt_nor_values() {
    let call = agent(&json!({"env": {"KEY": "very-secret"}})).call(&facts(&[]));
    let shown = format!("{call:?}");
    assert!(shown.contains("\"KEY\"") && !shown.contains("very-secret") && !shown.contains("look at this"), "{shown}");
}

proptest! {
    /// Payloads shape the type, the delivery id, the session and the prompt: none of them reaches argv, breaks the
    /// environment, or changes what Doorbell itself says.
    #[test]
    fn no_payload_reaches_argv_or_breaks_the_environment(
        event_type: String, delivery_id: String, session: Option<String>, prompt: String, by_file: bool,
    ) {
        let via = if by_file { "file" } else { "stdin" };
        let agent = agent(&json!({"prompt_via": via, "wrap": ["w", "{run_id}"], "env": {"A": "a\u{0}b"}}));
        let facts = CallFacts {
            event_type: &event_type, delivery_id: &delivery_id, session: session.as_deref(), prompt: &prompt, ..facts(&[])
        };
        let call = agent.call(&facts);
        prop_assert_eq!(&call, &agent.call(&facts));
        prop_assert_eq!(&call.argv, &["w", "run_1", "my-agent"]);
        prop_assert!(call.env.iter().all(|(name, value)| !name.contains(['\0', '=']) && !value.contains('\0')));
        prop_assert!(call.env.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert_eq!(value(&call, "DOORBELL_RUN_ID"), Some("run_1"));
        let told = delivery_id.replace('\0', "\u{fffd}");
        prop_assert_eq!(value(&call, "DOORBELL_DELIVERY_ID"), Some(told.as_str()));
        let handed = call.stdin.or(call.prompt_file.map(|file| file.content));
        prop_assert_eq!(handed, Some(prompt));
    }
}
