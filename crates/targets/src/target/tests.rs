use proptest::prelude::*;
use serde_json::{from_str, json};

use super::*;
use crate::step::Append;

const AROUND: Surroundings = Surroundings { home: "/home/bell/.doorbell", now_ms: 1_790_000_000_000, environment: &[] };

fn target(name: &str, raw: &Value) -> Target {
    Target::resolve(name, raw).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn refused(name: &str, raw: &Value) -> Vec<TargetError> {
    Target::resolve(name, raw).expect_err("must be refused")
}

fn keys(errors: &[TargetError]) -> Vec<&str> {
    errors.iter().map(|error| error.key.as_str()).collect()
}

#[test]
fn defaults_are_those_of_the_reference() {
    let target = target("file", &json!({"path": "x.jsonl"}));
    assert_eq!((target.timeout.as_secs(), target.max_attempts, target.retry_backoff.as_secs()), (10, 12, 5));
    assert!(!target.safe_to_resend() && !target.idempotent);
}

#[test]
fn an_entry_says_its_kind_by_name_or_type() {
    assert_eq!(target("file", &json!({"path": "x"})).kind.name, "file");
    let ops = target("ops", &json!({"type": "webhook", "url": "https://example.test/"}));
    assert_eq!((ops.name.as_str(), ops.kind.name, ops.note()), ("ops", "webhook", Some("unsigned")));
    let [error] = &refused("ops", &json!({}))[..] else { panic!() };
    assert!(error.key == "type" && error.message.contains("log, file, webhook, command"), "{error}");
    let [error] = &refused("ops", &json!({"type": "webhok"}))[..] else { panic!() };
    assert_eq!(error.nearest.as_deref(), Some("webhook"));
    assert_eq!(keys(&refused("ops", &json!({"type": ["file"]}))), ["type"]);
}

#[test]
fn a_target_without_entry_needs_no_settings() {
    assert!(Target::builtin("log").unwrap().safe_to_resend());
    assert!(Target::builtin("file").is_ok() && Target::builtin("webhook").is_ok());
    assert_eq!(keys(&Target::builtin("command").unwrap_err()), ["command"]);
    assert_eq!(Target::builtin("webhoook").unwrap_err()[0].nearest.as_deref(), Some("webhook"));
}

#[test]
fn all_errors_come_at_once() {
    let bad = json!({"pth": "x", "path": "out/{repo}", "timeout": "0s", "max_attempts": 0, "retry_backoff": "soon",
        "idempotent": "yes"});
    let errors = refused("file", &bad);
    assert_eq!(keys(&errors), ["pth", "timeout", "max_attempts", "retry_backoff", "idempotent", "path"]);
    assert_eq!(errors[0].nearest.as_deref(), Some("path"));
    assert!(errors[0].message.contains("type, timeout, max_attempts, retry_backoff, path, idempotent"));
    assert_eq!(keys(&refused("file", &json!("x.jsonl"))), [""]);
    let command =
        json!({"command": [], "cwd": "~", "env": {"A=B": "1", "DOORBELL_ROUTE": "x", "DOORBELL_EXTRA_X": "y"}});
    assert_eq!(
        keys(&refused("command", &command)),
        ["command", "cwd", "env.A=B", "env.DOORBELL_ROUTE", "env.DOORBELL_EXTRA_X"]
    );
}

#[test]
fn numbers_are_texts_where_texts_are_wanted_and_null_is_nothing() {
    let raw =
        from_str(r#"{"command": ["sleep", 1.50], "env": {"N": 7}, "cwd": null, "timeout": "", "max_attempts": 3}"#);
    let target = target("command", &raw.unwrap());
    assert_eq!((target.timeout.as_secs(), target.max_attempts), (10, 3));
    let Ok(Step::Process(process)) = target.plan(&Message::sample("x", &json!({})), &AROUND) else { panic!() };
    assert_eq!((process.argv, process.cwd), (vec!["sleep".to_owned(), "1.50".to_owned()], None));
    assert!(process.env.contains(&("N".to_owned(), "7".to_owned())));
}

#[test]
fn log_is_one_line() {
    let step = Target::builtin("log").unwrap().plan(&Message::sample("one\ntwo", &json!({})), &AROUND);
    assert_eq!(step, Ok(Step::Log { line: "one\\ntwo".into() }));
}

#[test]
fn file_adds_one_json_line() {
    let plan = |extra: &Value| {
        target("file", &json!({"path": "out/a.jsonl"})).plan(&Message::sample("one\nü", extra), &AROUND)
    };
    let Ok(Step::Append(Append { path, line })) = plan(&json!({})) else { panic!() };
    assert_eq!(path, "/home/bell/.doorbell/out/a.jsonl");
    let wanted = r#"{"id":"dlv_1","event_id":"ev_1","run_id":"run_1","route":"r","event":"issues","delivery_id":"d-1","content":"one\nü","created_at":"2026-01-02T03:04:05Z"}"#;
    assert_eq!(line, format!("{wanted}\n"));

    let Ok(Step::Append(other)) = plan(&json!({"path": "/var/log/b.jsonl"})) else { panic!() };
    assert_eq!(other.path, "/var/log/b.jsonl", "the route's value wins");
    let Ok(Step::Append(same)) = plan(&json!({"path": ""})) else { panic!() };
    assert_eq!(same.path, path, "empty is not given");
    assert!(plan(&json!({"path": "../x"})).unwrap_err().0.contains("path: leaves"));
    let nowhere = Target::builtin("file").unwrap().plan(&Message::sample("x", &json!({})), &AROUND);
    assert!(nowhere.unwrap_err().0.contains("path: missing"));
}

#[test]
fn a_route_must_give_what_the_settings_do_not_and_only_that() {
    let check = |name: &str, raw: &Value, extra: &Value| target(name, raw).check_route_values(&[name, "log"], extra);
    assert_eq!(keys(&check("file", &json!({}), &json!({}))), ["path"]);
    assert_eq!(check("file", &json!({"path": "x"}), &json!({})), []);
    assert_eq!(check("file", &json!({}), &json!({"path": "x", "other": "{y}"})), []);
    assert_eq!(keys(&check("file", &json!({"path": "x"}), &json!({"path": "{x}"}))), ["path"]);
    assert_eq!(keys(&check("file", &json!({}), &json!({"file": {"path": "{x}"}}))), ["file.path"]);
    assert_eq!(check("file", &json!({"path": "x"}), &json!({"log": {"path": "{x}"}})), [], "another target's value");
    assert_eq!(keys(&check("file", &json!({}), &json!({"path": ["x"]}))), ["path"]);
    assert_eq!(keys(&check("file", &json!({"path": "x"}), &json!("x"))), [""]);

    let url = json!({"url": "https://example.test/"});
    assert_eq!(keys(&check("webhook", &json!({}), &Value::Null)), ["url"]);
    let shaped = json!({"webhook": {"secret": "{x}"}, "headers": {"A": "b"}, "url": "https://{host}/"});
    assert_eq!(keys(&check("webhook", &url, &shaped)), ["webhook.secret", "headers", "url"]);
    assert_eq!(check("webhook", &json!({}), &url), []);
    let values = json!({"command": "deploy", "env": "prod"});
    assert_eq!(check("command", &json!({"command": ["tell"]}), &values), [], "values for its environment");
}

#[test]
fn a_verdict_shows_no_credential() {
    let raw = json!({"url": "https://u:pass-word@example.test/hooks/T0/B1", "secret": "s3", "headers": {"X-Key": "key-12345"}});
    let target = target("webhook", &raw);
    let step = target.plan(&Message::sample("x", &json!({})), &AROUND).unwrap();
    let body =
        br#"{"message":"key-12345, s3, pass-word and https://u:pass-word@example.test/hooks/T0/B1 seen"}"#.to_vec();
    let reply = Reply::Http { status: 400, retry_after: None, body };
    let Verdict::Final(why) = target.judge(&step, &reply, 0) else { panic!() };
    assert_eq!(why, "HTTP 400: ***, ***, *** and https://example.test/… seen");
    let Verdict::Unknown(why) = target.judge(&step, &Reply::NoAnswer("from /hooks/T0/B1".into()), 0) else { panic!() };
    assert_eq!(why, "sent, but no answer came: from ***");
    let cut = Reply::NotSent(format!("{} key-12345", "x".repeat(195)));
    let Verdict::Later { why, .. } = target.judge(&step, &cut, 0) else { panic!() };
    assert!(!why.contains("key"), "masked before it is cut: {why}");
    let shown = format!("{target:?} {step:?}");
    assert!(["pass-word", "s3", "key-12345", "/hooks/"].iter().all(|secret| !shown.contains(secret)), "{shown}");
}

#[test]
fn idempotent_settings_make_resending_safe() {
    let silence = Reply::NoAnswer("timed out".into());
    for (idempotent, resent) in [(true, true), (false, false)] {
        let target = target("webhook", &json!({"url": "https://example.test/", "idempotent": idempotent}));
        let step = target.plan(&Message::sample("x", &json!({})), &AROUND).unwrap();
        assert_eq!(target.safe_to_resend(), resent);
        assert_eq!(matches!(target.judge(&step, &silence, 0), Verdict::Later { .. }), resent);
    }
}

proptest! {
    /// Whatever a payload puts into texts and values, a plan is the same each time and fits what carries it.
    #[test]
    fn plans_are_the_same_each_time_and_well_formed(
        content: String, event: String, id: String, extra in proptest::collection::btree_map(".*", ".*", 0..5), hop: u32,
    ) {
        let extra = Value::Object(extra.into_iter().filter(|(key, _)| key != "path" && key != "url")
            .map(|(key, value)| (key, value.into())).collect());
        let message = Message { event, provider_delivery_id: id, hop, ..Message::sample(&content, &extra) };
        for (name, raw) in [
            ("log", json!({})),
            ("file", json!({"path": "x"})),
            ("webhook", json!({"url": "https://example.test/", "secret": "s", "headers": {"X-A": "b"}})),
            ("command", json!({"command": ["tell"], "env": {"A": "x\u{0}y"}})),
        ] {
            let target = target(name, &raw);
            let step = target.plan(&message, &AROUND).unwrap();
            prop_assert_eq!(&step, &target.plan(&message, &AROUND).unwrap());
            match step {
                Step::Log { line } => prop_assert!(!line.contains(char::is_control)),
                Step::Append(append) => {
                    prop_assert_eq!(append.line.matches('\n').count(), 1);
                    let told: Value = from_str(&append.line).unwrap();
                    prop_assert_eq!(&told["content"], &Value::from(content.as_str()));
                }
                Step::Http(http) => {
                    let valid = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
                    prop_assert!(http.headers.iter().all(|(name, value)| valid(name) && valid(value)));
                    let told: Value = serde_json::from_slice(&http.body).unwrap();
                    prop_assert_eq!(&told["hop"], &Value::from(hop.saturating_add(1)));
                }
                Step::Process(process) => {
                    prop_assert_eq!(&process.argv, &["tell"]);
                    prop_assert_eq!(&process.stdin, &content);
                    for (name, value) in &process.env {
                        prop_assert!(!name.contains(['\0', '=']) && !value.contains('\0'), "{:?}", name);
                    }
                }
            }
        }
    }

    #[test]
    fn any_settings_are_judged(raw in "\\PC*", key in "path|url|headers|env|command|timeout|type|secret|style") {
        for value in [Value::from(raw.as_str()), json!([raw]), json!({ raw.as_str(): 1 }), json!({"a": [raw]})] {
            for name in ["log", "file", "webhook", "command"] {
                let _ = Target::resolve(name, &json!({ key.as_str(): value }));
                let _ = target("file", &json!({})).check_route_values(&["file"], &json!({ key.as_str(): value }));
            }
        }
    }
}
