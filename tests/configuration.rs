//! What may be written, what is said about what may not, and how a change is put in force.

mod support;

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use support::*;

/// A home with this `config.yaml`.
fn home(text: &str) -> Home {
    Home::new().file("config.yaml", text)
}

const GOOD: &str = "server: {port: 0, secret: good-secret-not-real}
admin: {port: 0}
agents: {default: {preset: command, command: [cat], hint: false}}
routes: {r: {prompt: 'old {n}'}}
";

#[test]
fn all_that_is_wrong_is_told_at_once_with_its_place() {
    let home = home(
        "server:
  port: 0
  secret: ${DOOR_UNSET_VARIABLE}
agents: {default: {preset: command, command: [cat], timeout: 0}}
routes:
  one:
    promt: \"x\"
    secret: aaaaaaaaaaaaaaaa
  two: {secret: \"\", prompt: y}
  three: {secret: bbbbbbbbbbbbbbbb, agent: ghost}
  four: {secret: cccccccccccccccc, deliver: nowhere-at-all}
  five: {secret: dddddddddddddddd, dedupe_window: soon}
  six: {secret: eeeeeeeeeeeeeeee, source: githup}
targets:
  hook: {type: webhook, url: 'ftp://x'}
",
    );
    let said = home.cli(&["check"]).fails(1);
    let expected = [
        ("server.secret", "DOOR_UNSET_VARIABLE", "3:11"),
        ("agents.default.timeout", "0", "4:62"),
        ("routes.one.promt", "prompt", "7:5"),
        ("routes.two.secret", "empty", "9:17"),
        ("routes.three.agent", "ghost", "10:44"),
        ("routes.four.deliver", "nowhere-at-all", "11:45"),
        ("routes.five.dedupe_window", "soon", "12:51"),
        ("routes.six.source", "github", "13:43"),
        ("targets.hook.url", "http", "15:30"),
    ];
    for (key, word, place) in expected {
        let line = said.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}: {said}"));
        assert!(line.contains(word) && line.contains(&format!("config.yaml:{place})")), "{line}");
    }
    assert!(!said.contains("aaaaaaaa"), "{said}");
    let served = home.cli(&["serve"]).fails(1);
    for (key, ..) in expected {
        assert!(served.contains(key), "serve refuses the same: {served}");
    }
    assert!(!home.join("doorbell.db").exists(), "and makes nothing");
}

#[test]
fn each_mistake_alone_is_enough() {
    let alone = [
        ("routes: {r: {deliver: ftp}}", "routes.r.deliver"),
        ("routes: {'a/b': {}}", "routes.a/b"),
        ("routes: {r: {max_concurrent: 0}}", "routes.r.max_concurrent"),
        ("routes: {r: {source: none, secret: x, events: push}}", "routes.r.events"),
        ("routes: {r: {options: {header: X}, source: github}}", "routes.r.options"),
        ("routes: {r: {deliver: webhook}}", "routes.r"),
        ("routes: {r: {deliver: file}}", "routes.r"),
        ("routes: {r: {}, r: {}}", "routes.r"),
        ("routez: {}", "routez"),
        ("default_agent: ghost", "default_agent"),
        ("targets: {x: {type: pigeon}}", "targets.x.type"),
        ("hooks: {max_hops: -1}", "hooks.max_hops"),
        ("store: {url: 'mysql://x'}", "store.url"),
        ("routes: [", "config.yaml"),
    ];
    for (text, key) in alone {
        let rest =
            "server: {port: 0, secret: good-secret-not-real}\nagents: {default: {preset: command, command: [cat]}}\n";
        let said = home(&format!("{rest}{text}\n")).cli(&["check"]).fails(1);
        assert!(said.contains(key), "{text}: {said}");
    }
    for text in ["", "# routes: {}\n", "null\n", "- a\n- b\n"] {
        let said = home(text).cli(&["check"]).fails(1);
        assert!(said.contains("config.yaml"), "{text:?}: {said}");
    }
    home("{}").cli(&["check"]).ok();
    let missing = Home::new().cli(&["check"]).fails(1);
    assert!(missing.contains("config.yaml"), "{missing}");
}

#[test]
fn an_open_door_is_for_loopback_only() {
    let text = |host: &str, admin: &str| {
        format!(
            "server: {{host: {host}, port: 0}}\nadmin: {{host: {admin}, port: 0}}\n\
             agents: {{default: {{preset: command, command: [cat]}}}}\nroutes: {{open: {{secret: INSECURE_NO_AUTH}}}}\n"
        )
    };
    for host in ["0.0.0.0", "'::'", "''", "null", "10.1.2.3"] {
        let said = home(&text(host, "127.0.0.1")).cli(&["check"]).fails(1);
        assert!(said.contains("routes.open"), "{host}: {said}");
    }
    for host in ["127.0.0.1", "localhost", "'::1'"] {
        home(&text(host, "127.0.0.1")).cli(&["check"]).ok();
    }
    let said = home(&text("127.0.0.1", "0.0.0.0")).cli(&["check"]).fails(1);
    assert!(said.contains("token"), "{said}");
}

#[test]
fn a_good_file_is_good_and_another_place_can_be_named() {
    let (good, bad) = (home(GOOD), home("routez: {}\n"));
    good.cli(&["check"]).ok();
    let (folder, file) = (good.path().to_str().unwrap(), good.join("config.yaml"));
    bad.cli(&["check", "--home", folder]).ok();
    bad.cli(&["--home", folder, "check"]).ok();
    bad.cli(&["check", "--config", file.to_str().unwrap()]).ok();
    assert!(bad.cli(&["check"]).fails(1).contains("routes"), "with the nearest known key");
}

#[test]
fn variables_come_from_the_environment_then_from_the_file_beside() {
    let text = "server: {port: 0}
admin: {port: 0}
agents: {default: {preset: command, command: [cat], hint: false}}
routes:
  env: {secret: '${S_ENV}', prompt: x}
  both: {secret: '${S_BOTH}', prompt: x}
  file: {secret: 'pre-${S_FILE}', prompt: x}
  default: {secret: '${S_NONE:-fallback-value}', prompt: 'costs $5 and $${S_ENV}'}
";
    let bell = home(text)
        .file(".env", "# secrets\nS_BOTH=file-loses-123456\nexport S_FILE=\"from file\"\n")
        .env("S_ENV", "from-env-123456")
        .env("S_BOTH", "env-wins-123456")
        .start_as_written();
    let secrets = [
        ("env", "from-env-123456"),
        ("both", "env-wins-123456"),
        ("file", "pre-from file"),
        ("default", "fallback-value"),
    ];
    for (route, secret) in secrets {
        let event = bell.ring(route).secret(secret).accepted();
        bell.wait_event(&event, "succeeded");
        if route == "default" {
            assert_eq!(bell.runs(&event)[0]["prompt"], "costs $5 and ${S_ENV}");
        }
    }
}

#[test]
fn the_environment_of_hermes_counts_when_it_is_switched_on() {
    for (switch, on) in [("true", true), ("1", true), ("", false), ("no", false)] {
        let bell =
            home(GOOD).env("WEBHOOK_ENABLED", switch).env("WEBHOOK_SECRET", "env-secret-not-real").start_as_written();
        let status = |secret: &str| bell.ring("r").secret(secret).post().status;
        let (of_env, of_file) = if on { (202, 401) } else { (401, 202) };
        assert_eq!((status("env-secret-not-real"), status("good-secret-not-real")), (of_env, of_file), "{switch:?}");
    }
    let said = home(GOOD).env("WEBHOOK_ENABLED", "1").env("WEBHOOK_PORT", "high").cli(&["check"]).fails(1);
    assert!(said.contains("WEBHOOK_PORT"), "{said}");
}

#[test]
fn what_only_looks_like_a_secret_is_told_and_not_shown() {
    for secret in
        ["${NOPE:-${OTHER}}", "${GH-SECRET-X}", "${GH_SECRET_X", "${ GH_SECRET_X }", "$GH_SECRET_X", "$(cat x)"]
    {
        let said = home(&GOOD.replace("good-secret-not-real", &format!("'{secret}'"))).cli(&["check"]).fails(1);
        assert!(said.starts_with("server.secret: ") && said.contains("config.yaml:1:"), "{secret}: {said}");
        assert!(said.contains("${NAME}") && !said.contains("GH") && !said.contains("cat"), "{secret}: {said}");
    }
}

fn prompt_of(bell: &Doorbell) -> Value {
    let event = bell.ring("r").secret("good-secret-not-real").json(&json!({"n": 1})).accepted();
    bell.wait_event(&event, "succeeded");
    bell.runs(&event)[0]["prompt"].clone()
}

#[test]
fn a_signal_or_a_command_puts_a_change_in_force() {
    let bell = home(GOOD).start_as_written();
    assert_eq!(prompt_of(&bell), "old 1");
    let write = |from: &str, to: &str| std::fs::write(bell.home().join("config.yaml"), GOOD.replace(from, to)).unwrap();

    write("old {n}", "by signal {n}");
    bell.signal(Signal::HUP);
    bell.wait_log("configuration reloaded");
    assert_eq!(prompt_of(&bell), "by signal 1");

    write("old {n}", "by command {n}");
    bell.cli(&["reload"]).ok();
    assert_eq!(prompt_of(&bell), "by command 1");

    // A file with one mistake changes nothing, however much else in it is right.
    write("routes: {r: {prompt: 'old {n}'}}", "routes: {r: {prompt: 'bad {n}'}, b: {agent: ghost}}");
    bell.signal(Signal::HUP);
    bell.wait_log("routes.b.agent");
    let said = bell.cli(&["reload"]).fails(1);
    assert!(said.contains("routes.b.agent") && said.contains("config.yaml:4:"), "{said}");
    assert_eq!(prompt_of(&bell), "by command 1");

    // What cannot change in a running gateway is said, and the rest is in force.
    write("server: {port: 0, ", "server: {port: 1, ");
    let output = bell.cli(&["reload"]);
    assert!(
        output.status == 0 && format!("{}{}", output.stdout, output.stderr).contains("needs a restart"),
        "{output:?}"
    );
    assert_eq!(prompt_of(&bell), "old 1");
}

#[test]
fn a_file_without_anything_in_it_takes_no_route_away() {
    let bell = home(GOOD).start_as_written();
    for text in ["", "# being written\n", "null\n"] {
        std::fs::write(bell.home().join("config.yaml"), text).unwrap();
        let said = bell.cli(&["reload"]).fails(1);
        assert_eq!(said.matches("the file holds nothing (config.yaml)").count(), 1, "{text:?}: {said}");
        assert_eq!(prompt_of(&bell), "old 1", "{text:?}");
    }
    bell.signal(Signal::HUP);
    bell.wait_log("the file holds nothing");
    assert_eq!(prompt_of(&bell), "old 1");
}

#[test]
fn a_run_in_flight_keeps_its_settings() {
    let agent = Agent::gated();
    let mut bell = Home::with(&agent).start();
    let event = bell.send("r", &json!({"n": "before"}));
    agent.wait_runs(1);
    let waiting = bell.send("r", &json!({"n": 2}));
    bell.rewrite(|home| {
        let target = json!({"type": "file", "path": "new.jsonl"});
        home.target("new", target).route("r", json!({"prompt": "after {n}", "deliver": "new", "timeout": "1s"}))
    });
    bell.cli(&["reload"]).ok();
    agent.open();
    bell.wait_event(&waiting, "succeeded");
    assert_eq!(bell.settled(&event)[0]["target"], "log", "as it was when the run began");
    let next = bell.send("r", &json!({"n": 3}));
    assert_eq!(bell.settled(&next)[0]["target"], "new");
    assert_eq!(agent.prompts().last().unwrap(), "after 3");
}

#[test]
fn events_of_a_route_that_went_wait_for_its_return() {
    let agent = Agent::gated();
    let mut bell = Home::with(&agent).agent("default", agent.options_with(json!({"max_concurrent": 1}))).start();
    let running = bell.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    let waiting = bell.send("r", &json!({"n": 2}));
    bell.rewrite(|home| home.without_route("r").route("other", json!({"prompt": "other"})));
    bell.cli(&["reload"]).ok();
    let held = bell.wait_event(&waiting, "held");
    assert_eq!(held["reason"], "route_missing");
    assert_eq!(bell.ring("r").post().status, 404);
    agent.open();
    bell.wait_event(&running, "succeeded");
    bell.kill9_and_restart();
    bell.wait_event(&bell.send("other", &json!({})), "succeeded");
    assert_eq!(bell.event(&waiting)["state"], "held");
    bell.rewrite(|home| home.route("r", json!({"prompt": "back {n}"})));
    bell.cli(&["reload"]).ok();
    bell.wait_event(&waiting, "succeeded");
    assert_eq!(agent.prompts().last().unwrap(), "back 2");
}

#[test]
fn the_schema_describes_what_is_read() {
    let schema = home(GOOD).cli(&["schema"]).json();
    let top = schema["properties"].as_object().unwrap();
    for key in ["server", "admin", "store", "agents", "routes", "targets", "hooks", "default_agent"] {
        assert!(top.contains_key(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"));
    let text = schema.to_string();
    for key in ["dedupe_window", "serial_by", "retry_backoff", "prompt_via", "max_output_bytes", "accept_from_agents"] {
        assert!(text.contains(&format!("\"{key}\"")), "{key}");
    }
}

#[test]
fn what_is_made_is_for_its_owner_only() {
    let bell = home(GOOD).start_as_written();
    prompt_of(&bell);
    let mut folders = vec![bell.home().path().to_owned()];
    let mut seen = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (meta, name) = (entry.metadata().unwrap(), entry.file_name().into_string().unwrap());
            let mode = meta.permissions().mode() & 0o777;
            if meta.is_dir() {
                folders.push(entry.path());
                assert_eq!(mode, 0o700, "{name}");
            } else if name != "config.yaml" {
                assert_eq!(mode, 0o600, "{name}");
            }
            seen.push(name);
        }
    }
    for name in ["doorbell.db", "doorbell.lock", "admin.token", "runs"] {
        assert!(seen.iter().any(|known| known == name), "{name}: {seen:?}");
    }
}

#[test]
fn the_log_can_be_json() {
    let bell = home(GOOD).args(&["--log-format", "json"]).start_as_written();
    assert_eq!(bell.ring("r").secret("wrong").post().status, 401);
    bell.wait_log("invalid signature");
    let log = bell.log();
    let plain: Vec<&str> = log.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).collect();
    assert_eq!(plain.len(), 1, "only the ready line: {plain:?}");
}

#[test]
fn a_port_that_is_taken_ends_the_start() {
    let bell = home(GOOD).start_as_written();
    let port = bell.address().port();
    let second = home(&GOOD.replacen("port: 0", &format!("port: {port}"), 1));
    let said = second.cli(&["serve"]).fails(1);
    assert!(said.contains(&port.to_string()), "{said}");
}
