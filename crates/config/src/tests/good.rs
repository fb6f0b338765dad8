use std::time::Duration;

use rules::template::Scope;
use serde_json::json;

use super::*;
use crate::Route;

/// The names of a route's targets.
fn named(route: &Route) -> Vec<&str> {
    route.deliver.iter().map(|delivery| delivery.target.as_str()).collect()
}

#[test]
fn every_key_of_a_route_is_read() {
    let config = read(
        &format!(
            "{AGENT}  full:\n    {}\n",
            "source: github
secrets: [new-secret-123456, old-secret-123456]
events: [push, pull_request.opened]
prompt: '{a} {b.0}'
agent: default
deliver: [log, notes]
deliver_extra: {notes: {path: /tmp/notes.jsonl}}
profile: ops
enabled: false
tolerance: 10m
dedupe_window: 2h
dedupe_key: '{id}'
serial_by: '{a}'
max_concurrent: 1
max_retries: 0
retry_backoff: 5
rate_limit: 10
max_body_bytes: 1000
timeout: 7d
priority: -1
options: {}
description: all of them
accept_from_agents: true"
                .replace('\n', "\n    ")
        )
        .replace("routes:\n", "targets: {notes: {type: file}}\nroutes:\n"),
    );
    let route = &config.routes["full"];
    assert_eq!((route.name.as_str(), route.profile.as_str(), route.enabled), ("full", "ops", false));
    assert_eq!(route.verifier.source_name(), "github");
    let secrets: Vec<&str> = route.secrets.iter().map(verify::Secret::expose).collect();
    assert_eq!(secrets, ["new-secret-123456", "old-secret-123456"]);
    assert!(route.events.lists("push") && !route.events.lists("issues"));
    assert_eq!(route.prompt.as_ref().unwrap().source(), "{a} {b.0}");
    assert_eq!((route.agent.as_str(), named(route)), ("default", vec!["log", "notes"]));
    assert_eq!(route.dedupe_window, Duration::from_hours(2));
    let templates =
        [&route.dedupe_key, &route.serial_by].map(|template| template.as_ref().unwrap().source().to_owned());
    assert_eq!(templates, ["{id}", "{a}"]);
    assert_eq!(
        (route.max_concurrent, route.max_retries, route.rate_limit, route.max_body_bytes),
        (Some(1), 0, 10, 1000)
    );
    assert_eq!((route.backoff.first, route.backoff.cap), (Duration::from_secs(5), Duration::from_mins(30)));
    assert_eq!((route.timeout, route.priority), (Some(Duration::from_hours(168)), -1));
    assert_eq!((route.description.as_str(), route.accept_from_agents), ("all of them", true));
    assert_eq!(config.targets.keys().collect::<Vec<_>>(), ["log", "notes"]);
}

#[test]
fn a_route_with_nothing_said_has_every_default() {
    let text = format!("{AGENT}  r:\n").replace("server: {", "server: {rate_limit: 3, max_body_bytes: 5KiB, ");
    let config = read(&text);
    let route = &config.routes["r"];
    assert_eq!((route.profile.as_str(), route.enabled, route.verifier.source_name()), ("default", true, "auto"));
    assert_eq!(route.secrets[0].expose(), "abcdefghijklmnop");
    assert!(route.prompt.is_none() && route.dedupe_key.is_none() && route.serial_by.is_none());
    assert_eq!((route.agent.as_str(), named(route)), ("default", vec!["log"]));
    assert_eq!((route.dedupe_window, route.timeout), (Duration::from_hours(1), None));
    assert_eq!((route.max_concurrent, route.max_retries, route.priority), (None, 3, 0));
    assert_eq!(route.backoff.first, Duration::from_mins(1));
    assert_eq!((route.rate_limit, route.max_body_bytes, route.accept_from_agents), (3, 5120, false));
}

#[test]
fn json_is_read_too() {
    let config = read(
        r#"{"server": {"host": "127.0.0.1", "port": 15001, "secret": "conformance-secret-not-real", "rate_limit": 0},
            "admin": {"host": "127.0.0.1", "port": 15002, "open": true},
            "agents": {"default": {"preset": "command", "command": ["/bin/echo", "ok"], "hint": false}},
            "routes": {"r": {"prompt": "{__raw__}", "deliver": "log"}}}"#,
    );
    assert_eq!(config.agents["default"].command, ["/bin/echo", "ok"]);
    assert_eq!(config.routes["r"].prompt.as_ref().unwrap().source(), "{__raw__}");
}

#[test]
fn a_target_that_needs_no_settings_needs_no_entry() {
    let config = read(&route("deliver: file\ndeliver_extra: {path: a.jsonl}"));
    assert_eq!(config.targets.keys().collect::<Vec<_>>(), ["file", "log"]);
    assert_eq!(read(&route("")).targets.keys().collect::<Vec<_>>(), ["log"]);
}

#[test]
fn targets_are_judged_in_their_place() {
    let lines = wrong(&format!("targets:\n  a:\n    type: file\n    pathh: x\n{}", route("deliver: a")));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with("targets.a.pathh: unknown key") && lines[0].contains("(config.yaml:4:12)"),
        "{lines:?}"
    );
    let lines = wrong(&route("deliver: command"));
    assert!(lines[0].starts_with("routes.r.deliver: `command` needs an entry under `targets`: "), "{lines:?}");
    let lines = wrong(&route("deliver: webhook"));
    assert!(lines[0].starts_with("routes.r.deliver_extra.url: missing"), "{lines:?}");
    let lines = wrong(&route("deliver: file\ndeliver_extra:\n  path: '{a}.jsonl'"));
    assert!(
        lines[0].starts_with("routes.r.deliver_extra.path: ") && lines[0].contains("(config.yaml:7:13)"),
        "{lines:?}"
    );
}

#[test]
fn values_of_one_target_stay_with_it() {
    let config = read(&format!(
        "targets: {{a: {{type: file}}, b: {{type: file}}}}\n{}",
        route("deliver: [a, b]\ndeliver_extra: {path: both.jsonl, note: '{x}', b: {path: b.jsonl}}")
    ));
    let payload = json!({"x": 1});
    let scope = Scope {
        payload: &payload,
        event_type: "",
        route: "r",
        delivery_id: "",
        event_id: "",
        headers: &[],
        body_sha256: "",
    };
    let values: Vec<_> =
        config.routes["r"].deliver.iter().map(|delivery| delivery.extra.render(&scope).unwrap()).collect();
    assert_eq!(values[0]["path"], json!("both.jsonl"));
    assert_eq!(values[1]["path"], json!("b.jsonl"));
    assert_eq!(values[1].get("b"), None);
}
