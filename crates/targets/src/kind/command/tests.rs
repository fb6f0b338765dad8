use serde_json::json;

use super::*;
use crate::target::Target;

fn plan(raw: &Value, message: &Message) -> Result<Process, Invalid> {
    let environment =
        [("PATH", "/bin"), ("HOME", "/home/bell")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let around = Surroundings { home: "/home/bell/.doorbell", now_ms: 0, environment: &environment };
    match Target::resolve("command", raw).unwrap().plan(message, &around)? {
        Step::Process(process) => Ok(process),
        other => panic!("{other:?}"),
    }
}

fn value<'a>(process: &'a Process, name: &str) -> Option<&'a str> {
    process.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn the_answer_is_stdin_and_the_facts_are_in_the_environment() {
    let raw = json!({"command": ["take", "--fixed", "$HOME"], "cwd": "work", "env": {"PATH": "/opt", "ADDED": "one"}});
    let text = "line one\n  line two\u{0}";
    let process = plan(&raw, &Message::sample(text, &json!({}))).unwrap();
    assert_eq!(
        (process.argv.as_slice(), process.stdin.as_str()),
        (&["take", "--fixed", "$HOME"].map(str::to_owned)[..], text)
    );
    assert_eq!(process.cwd.as_deref(), Some("/home/bell/.doorbell/work"));
    let wanted = [
        ("ADDED", "one"),
        ("DOORBELL_DELIVERY", "dlv_1"),
        ("DOORBELL_EVENT_ID", "ev_1"),
        ("DOORBELL_ROUTE", "r"),
        ("DOORBELL_RUN_ID", "run_1"),
        ("HOME", "/home/bell"),
        ("PATH", "/opt"),
    ];
    assert_eq!(process.env, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn values_of_the_route_are_in_the_environment() {
    let extra: Value = serde_json::from_str(
        r#"{"room": "; echo $HOME", "chat-id": 12345678901234567890123, "ön": true, "tags": ["a"], "deep": {"x": 1.50}, "none": null, "empty": "", "nul": "a\u0000b"}"#,
    )
    .unwrap();
    let process = plan(&json!({"command": ["take"]}), &Message::sample("x", &extra)).unwrap();
    for (name, wanted) in [
        ("ROOM", Some("; echo $HOME")),
        ("CHAT_ID", Some("12345678901234567890123")),
        ("_N", Some("true")),
        ("TAGS", Some("[\"a\"]")),
        ("DEEP", Some("{\"x\":1.50}")),
        ("NUL", Some("a\u{fffd}b")),
        ("NONE", None),
        ("EMPTY", None),
    ] {
        assert_eq!(value(&process, &format!("DOORBELL_EXTRA_{name}")), wanted, "{name}");
    }
}

#[test]
fn a_message_without_run_has_no_run_id() {
    let message = Message { run_id: None, ..Message::sample("x", &json!({})) };
    let process = plan(&json!({"command": ["take"]}), &message).unwrap();
    assert_eq!((value(&process, "DOORBELL_RUN_ID"), value(&process, "DOORBELL_ROUTE")), (None, Some("r")));
}

#[test]
fn values_that_no_system_can_carry_are_final() {
    let long = json!({"room": "x".repeat(131_072 - "DOORBELL_EXTRA_ROOM=".len())});
    let why = plan(&json!({"command": ["take"]}), &Message::sample("x", &long)).unwrap_err();
    assert!(why.0.starts_with("room: too long"), "{why}");
    let fits = json!({"room": "x".repeat(131_071 - "DOORBELL_EXTRA_ROOM=".len())});
    assert!(plan(&json!({"command": ["take"]}), &Message::sample("x", &fits)).is_ok());
    let many: serde_json::Map<_, _> = (0..6).map(|n| (format!("k{n}"), "x".repeat(100_000).into())).collect();
    assert!(plan(&json!({"command": ["take"]}), &Message::sample("x", &many.into())).is_err());
}

#[test]
fn a_command_line_holds_no_nul() {
    assert!(Target::resolve("command", &json!({"command": ["a", "b\u{0}"]})).is_err());
    assert!(Target::resolve("command", &json!({"command": "take --all"})).is_err(), "no shell splits a text");
}
