use serde_json::{Value, from_value, json};

use super::*;

fn resolve(more: &Value) -> Result<Agent, Vec<AgentError>> {
    let mut raw = json!({"preset": "command", "command": ["my-agent", "--once"]});
    raw.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Agent::resolve("default", from_value(raw).unwrap())
}

/// The keys that are complained about, and all the complaints.
fn complaints(more: &Value) -> (Vec<String>, String) {
    let errors = resolve(more).expect_err("must be refused");
    let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    (errors.into_iter().map(|error| error.key).collect(), text)
}

#[test]
fn defaults_are_those_of_the_contract() {
    let agent = resolve(&json!({"args": ["-v"]})).unwrap();
    assert_eq!(agent.command, ["my-agent", "--once", "-v"]);
    assert_eq!((agent.timeout.as_secs(), agent.max_concurrent, agent.max_output_bytes), (900, 2, 1_048_576));
    assert_eq!((agent.prompt_via, agent.output, agent.hint), (PromptVia::Stdin, Output::Text, true));
    assert_eq!(agent.inherit_env, ["PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "SSL_CERT_*"]);
    assert_eq!(agent.program(), "my-agent");
}

#[test]
fn an_unknown_preset_names_the_known_ones() {
    let (keys, text) = complaints(&json!({"preset": "clod"}));
    assert_eq!(keys, ["preset"]);
    assert!(text.contains("`clod`") && text.contains("known: `command`"), "{text}");
}

#[test]
fn a_command_is_needed() {
    for command in [json!([]), json!([" "])] {
        assert_eq!(complaints(&json!({"command": command})).0, ["command"]);
    }
}

#[test]
fn a_timeout_of_zero_says_what_to_write() {
    let (keys, text) = complaints(&json!({"timeout": 0}));
    assert_eq!(keys, ["timeout"]);
    assert!(text.contains("7d"), "{text}");
}

#[test]
fn all_errors_come_at_once() {
    let bad = json!({"command": [], "timeout": "0s", "max_concurrent": 0, "max_output_bytes": 0, "cwd": "~/src",
        "stop_command": [], "wrap_env": ["A*B"], "env": {"A=B": "1", "DOORBELL_ROUTE": "x", "TRACEPARENT": "x"}});
    let (mut keys, text) = complaints(&bad);
    keys.sort();
    let wanted = ["command", "cwd", "env.A=B", "env.DOORBELL_ROUTE", "env.TRACEPARENT", "max_concurrent"];
    assert_eq!(keys[..6], wanted, "{text}");
    assert_eq!(keys[6..], ["max_output_bytes", "stop_command", "timeout", "wrap_env", "wrap_env"], "{text}");
    assert!(text.contains("${HOME}"), "{text}");
}

#[test]
fn placeholders_stand_only_where_they_are_filled_in() {
    assert!(resolve(&json!({"prompt_via": "file", "args": ["--file={prompt_file}"]})).is_ok());
    assert!(resolve(&json!({"wrap": ["docker", "--name", "{run_id}"], "stop_command": ["rm", "{run_id}"]})).is_ok());
    assert!(resolve(&json!({"args": ["{other} ${x} {}"]})).is_ok(), "other braces are the program's own");
    for (bad, key) in [
        (json!({"args": ["{prompt_file}"]}), "args"),
        (json!({"command": ["a", "{run_id}"]}), "command"),
        (json!({"prompt_via": "file", "wrap": ["a", "{prompt_file}"]}), "wrap"),
        (json!({"prompt_via": "file", "stop_command": ["a", "{prompt_file}"]}), "stop_command"),
        (json!({"args": ["a\u{0}b"]}), "args"),
        (json!({"wrap": [""]}), "wrap"),
    ] {
        assert_eq!(complaints(&bad).0, [key], "{bad}");
    }
}

#[test]
fn debug_shows_no_value_of_env() {
    let agent = resolve(&json!({"env": {"API_KEY": "very-secret"}})).unwrap();
    let shown = format!("{agent:?}");
    assert!(shown.contains("API_KEY") && !shown.contains("very-secret"), "{shown}");
}

#[test]
fn a_run_is_judged_by_the_agents_own_output_kind() {
    let agent = resolve(&json!({"output": "json", "max_output_bytes": 100})).unwrap();
    let RunVerdict::Succeeded(answer) = agent.judge(&Exit::Code(0), b"{\"answer\":\"a\"}", false) else { panic!() };
    assert_eq!(answer.text, "a");
    assert!(matches!(agent.judge(&Exit::Code(0), b"plain", false), RunVerdict::Failed(_)));
    let RunVerdict::Failed(why) = agent.judge(&Exit::Code(0), b"{", true) else { panic!() };
    assert!(why.contains("100 bytes"), "{why}");
}
