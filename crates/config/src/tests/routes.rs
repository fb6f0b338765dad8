use super::*;

#[test]
fn every_problem_comes_at_once_with_its_place() {
    let lines = wrong(
        r#"server:
  port: 18999
  secret: ${DOOR_UNSET_VARIABLE}
agents: {default: {preset: command, command: [cat]}}
routes:
  one:
    promt: "x"
    secret: aaaaaaaaaaaaaaaa
  two: {secret: "", prompt: y}
  three: {secret: bbbbbbbbbbbbbbbb, agent: ghost}
  four: {secret: cccccccccccccccc, deliver_only: true, prompt: z}
  five: {}
"#,
    );
    assert_eq!(
        lines,
        [
            "server.secret: environment variable DOOR_UNSET_VARIABLE is not set (config.yaml:3:11); set it in .env or the \
             environment",
            "routes.one.promt: unknown key (config.yaml:7:5); did you mean `prompt`?",
            "routes.two.secret: written but empty (config.yaml:9:17); give it a value, or take the key away to use \
             server.secret",
            "routes.three.agent: no agent is called `ghost` (config.yaml:10:44); known here: default",
            "routes.four.deliver_only: unknown key (config.yaml:11:36); `doorbell schema` describes the known ones",
        ]
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn every_bad_value_names_its_route() {
    for (keys, line) in [
        ("events: push", "routes.r.events: a list is wanted, this is a text (config.yaml:5:13)"),
        (
            "enabled: yes",
            "routes.r.enabled: true or false is wanted, this is a text (config.yaml:5:14); write true or false, without quotes",
        ),
        ("prompt: 5", "routes.r.prompt: a text is wanted, this is a number (config.yaml:5:13); put it in quotes"),
        ("max_retries: -1", "routes.r.max_retries: a whole number from 0 to 4294967295 is wanted (config.yaml:5:18)"),
        ("priority: high", "routes.r.priority: a whole number is wanted, this is a text (config.yaml:5:15)"),
        (
            "dedupe_window: soon",
            "routes.r.dedupe_window: `soon` is not a duration: write 500ms, 30s, 5m, 2h, 7d, or a number of seconds (config.yaml:5:20)",
        ),
        (
            "tolerance: []",
            "routes.r.tolerance: `a list` is not a duration: write 500ms, 30s, 5m, 2h, 7d, or a number of seconds (config.yaml:5:5)",
        ),
        (
            "timeout: 0",
            "routes.r.timeout: 0 leaves no time at all (config.yaml:5:14); there is no \"no limit\"; write a long one such as 7d",
        ),
        (
            "max_concurrent: 0",
            "routes.r.max_concurrent: 0 would never run anything (config.yaml:5:21); give 1 or more; to hold events, pause the route",
        ),
        (
            "max_body_bytes: 0",
            "routes.r.max_body_bytes: 0 lets no request in (config.yaml:5:21); give a size such as 1MiB",
        ),
        (
            "max_body_bytes: big",
            "routes.r.max_body_bytes: `big` is not a size: write 64KiB, 256MiB, 1GB, or a number of bytes (config.yaml:5:21)",
        ),
        (
            "retry_backoff: 31m",
            "routes.r.retry_backoff: longer than 30m, the longest wait there is (config.yaml:5:20); give 30m or less",
        ),
        (
            "serial_by: ' '",
            "routes.r.serial_by: written but empty (config.yaml:5:16); give a template such as {repository.full_name}, or take the key away",
        ),
        (
            "dedupe_key: ''",
            "routes.r.dedupe_key: written but empty (config.yaml:5:17); give a template such as {repository.full_name}, or take the key away",
        ),
        (
            "profile: a/b",
            "routes.r.profile: not a name that can stand in a URL (config.yaml:5:14); use letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
        ),
        (
            "source: no-such-provider",
            "routes.r.source: no source is called `no-such-provider` (config.yaml:5:13); `doorbell sources` lists them",
        ),
        ("source: githup", "routes.r.source: no source is called `githup` (config.yaml:5:13); did you mean `github`?"),
        ("agent: defolt", "routes.r.agent: no agent is called `defolt` (config.yaml:5:12); did you mean `default`?"),
        ("deliver: fil", "routes.r.deliver: no target is called `fil` (config.yaml:5:14); did you mean `file`?"),
        (
            "deliver: [log, logg]",
            "routes.r.deliver.1: no target is called `logg` (config.yaml:5:20); did you mean `log`?",
        ),
        ("deliver: [log, log]", "routes.r.deliver.1: `log` is named twice (config.yaml:5:20); one delivery a target"),
        (
            "deliver: []",
            "routes.r.deliver: names no target (config.yaml:5:5); name one, or take the key away: answers go to the log then",
        ),
        ("deliver: [1]", "routes.r.deliver.0: a text is wanted, this is a number (config.yaml:5:15); put it in quotes"),
        ("deliver: {a: b}", "routes.r.deliver: a text or a list of texts is wanted, this is a map (config.yaml:5:5)"),
        (
            "deliver_extra: [a]",
            "routes.r.deliver_extra: a map of keys and values is wanted, this is a list (config.yaml:5:5)",
        ),
        ("script: x.py", "routes.r.script: unknown key (config.yaml:5:5); `doorbell schema` describes the known ones"),
    ] {
        assert_eq!(wrong(&route(keys)), [line], "{keys}");
    }
}

#[test]
fn an_unknown_target_is_told_with_those_that_are_known() {
    let lines = wrong(&format!("targets: {{notes: {{type: file}}}}\n{}", route("deliver: nowhere-at-all")));
    let begins = "routes.r.deliver: no target is called `nowhere-at-all` (config.yaml:6:14); known here: ";
    let known: Vec<&str> = lines[0].strip_prefix(begins).expect("begins so").split(", ").collect();
    assert!(["file", "log", "notes"].iter().all(|name| known.contains(name)), "{lines:?}");
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn route_names_can_stand_in_a_url() {
    for name in ["a", "gh-pr.v2_x", "9", "A"] {
        assert!(read(&format!("{AGENT}  '{name}': {{}}\n")).routes.contains_key(name), "{name}");
    }
    for name in ["-a", ".a", "a/b", "a b", "", "é"] {
        let line = format!(
            "routes.{name}: not a name that can stand in a URL (config.yaml:4:3); use letters, digits, `.`, `_` and `-`, \
             beginning with a letter or digit"
        );
        assert_eq!(wrong(&format!("{AGENT}  '{name}': {{}}\n")), [line]);
    }
}

#[test]
fn a_secret_that_is_written_is_never_replaced_by_the_servers() {
    for empty in ["", "''", "~", "null", "'  '", "${EMPTY}"] {
        let lines = wrong_with(&route(&format!("secret: {empty}")), &["EMPTY="]);
        assert_eq!(lines.len(), 1, "{empty}: {lines:?}");
        assert!(lines[0].starts_with("routes.r.secret: written but empty (config.yaml:5:"), "{empty}: {lines:?}");
    }
    for (keys, line) in [
        (
            "secrets: []",
            "routes.r.secrets: written but empty (config.yaml:5:5); give it a value, or take the key away to use server.secret",
        ),
        (
            "secrets:",
            "routes.r.secrets: written but empty (config.yaml:5:5); give it a value, or take the key away to use server.secret",
        ),
        (
            "secrets: [abcdefghijklmnop, '']",
            "routes.r.secrets.1: empty (config.yaml:5:33); give it a value, or take it away",
        ),
        (
            "secrets: [abcdefghijklmnop]\nsecret: x",
            "routes.r.secrets: stands beside `secret` (config.yaml:5:5); put all of them into `secrets`",
        ),
        ("secret: [abcdefghijklmnop]", "routes.r.secret: a text is wanted, this is a list (config.yaml:5:5)"),
        (
            "secret: 12345678901234567890",
            "routes.r.secret: a text is wanted, this is a number (config.yaml:5:13); put it in quotes",
        ),
    ] {
        assert_eq!(wrong(&route(keys)), [line], "{keys}");
    }
    let lines = wrong(&route("secrets: [abcdefghijklmnop, INSECURE_NO_AUTH]"));
    assert!(lines[0].starts_with("routes.r.secrets: INSECURE_NO_AUTH stands beside other secrets"), "{lines:?}");
}

#[test]
fn a_route_without_any_secret_is_refused() {
    let agents = "agents: {default: {preset: command, command: [cat]}}\n";
    let line = "routes.naked: has no secret (config.yaml:3:10); set routes.naked.secret or server.secret";
    for server in ["server: {}", "server: {secret: ''}", "server: {secret: }", "server: {secret: ' '}"] {
        assert_eq!(wrong(&format!("{agents}{server}\nroutes: {{naked: {{}}}}\n")), [line], "{server}");
    }
    let none = read(&format!("{agents}routes: {{open: {{source: none}}}}\n"));
    assert!(none.routes["open"].verifier.is_open());
}

#[test]
fn no_auth_is_for_loopback_only() {
    let file = |host: &str, keys: &str| {
        format!(
            "agents: {{default: {{preset: command, command: [cat]}}}}\nserver:\n  host: {host}\nroutes:\n  open: {keys}\n"
        )
    };
    for host in ["0.0.0.0", "'::'", "''", "null", "127.0.0.2", "10.0.0.1", "example.com"] {
        assert_eq!(
            wrong(&file(host, "{secret: INSECURE_NO_AUTH}")),
            [
                "routes.open.secret: takes requests from anybody, and server.host is not a loopback address (config.yaml:5:18); \
              give the route a secret, or set server.host to 127.0.0.1"
            ],
            "{host}"
        );
        let lines = wrong(&file(host, "{source: none}"));
        assert!(lines[0].starts_with("routes.open.source: takes requests from anybody"), "{lines:?}");
    }
    for host in ["127.0.0.1", "localhost", "'::1'", "ip6-localhost", "ip6-loopback", "LOCALHOST"] {
        let config = read(&file(host, "{secret: INSECURE_NO_AUTH}"));
        assert!(config.routes["open"].verifier.is_open() && config.routes["open"].secrets.is_empty(), "{host}");
    }
    let inherited = file("0.0.0.0\n  secret: INSECURE_NO_AUTH", "{}");
    let lines = wrong(&inherited);
    assert!(lines[0].starts_with("server.secret: takes requests from anybody"), "{lines:?}");
    let broken = wrong(&file("[]", "{source: none}"));
    assert_eq!(broken.len(), 1, "an unreadable host is one problem: {broken:?}");
}

#[test]
fn agents_are_wanted_only_where_they_are_needed() {
    assert!(read("{}").routes.is_empty());
    assert!(read("default_agent: default\nagents: {default: {preset: command, command: [cat]}}").routes.is_empty());
    assert_eq!(
        wrong("server: {secret: abcdefghijklmnop}\nroutes:\n  a: {}\n  b: {agent: x}\n"),
        [
            "routes.a: names no agent, and there is no `agents.default` to fall back to (config.yaml:3:3); write \
             agents.default, or name one with `agent` or `default_agent`",
            "routes.b.agent: no agent is called `x` (config.yaml:4:14); there are none to choose from",
        ]
    );
    assert_eq!(
        wrong("default_agent: nobody\nserver: {secret: abcdefghijklmnop}\nroutes:\n  a: {}\n"),
        ["default_agent: no agent is called `nobody` (config.yaml:1:16); there are none to choose from"]
    );
    let broken = wrong(
        "agents: {default: {preset: command, command: [cat], timeout: 0}}\nroutes: {a: {secret: abcdefghijklmnop}}\n",
    );
    assert_eq!(broken.len(), 1, "an agent that is there but wrong is one problem: {broken:?}");
    assert!(broken[0].starts_with("agents.default.timeout: 0 is no timeout"), "{broken:?}");
    let unread = wrong("agents: {default: {command: [cat]}}\nroutes: {a: {secret: abcdefghijklmnop}}\n");
    assert_eq!(unread, ["agents.default: the key `preset` is missing (config.yaml:1:10)"]);
}

#[test]
fn options_of_a_source_are_judged_in_their_place() {
    let lines = wrong(&route("source: hmac\noptions:\n  headr: x-sig"));
    assert!(
        lines.iter().any(|line| line.starts_with("routes.r.options.headr: ") && line.contains("(config.yaml:7:14)")),
        "{lines:?}"
    );
}

#[test]
fn no_message_holds_a_secret() {
    let secret = "hunter2-hunter2-hunter2";
    for keys in ["secrets: SECRET", "options: SECRET", "secret: {a: SECRET}", "enabled: SECRET", "max_retries: SECRET"]
    {
        for line in wrong(&route(&keys.replace("SECRET", secret))) {
            assert!(!line.contains(secret), "{line}");
        }
    }
    let lines = wrong(&format!("store: {{url: 'postgres://u:{secret}@h/d', durability: {secret}}}\n"));
    assert!(lines.len() == 1 && lines.iter().all(|line| !line.contains(secret)), "{lines:?}");
}

#[test]
fn a_configuration_prints_without_its_secrets() {
    let text = format!("admin: {{token: admin-secret-123456}}\n{}", route("secret: ${S}"));
    let shown = format!("{:?}", read_with(&text, &["S=route-secret-123456"]).unwrap());
    for secret in ["admin-secret-123456", "abcdefghijklmnop", "route-secret-123456"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("127.0.0.1"), "{shown}");
}

#[test]
fn short_secrets_are_warned_of() {
    assert_eq!(
        warned(&route("secret: only-15-letters")),
        [
            "routes.r.secret: shorter than 16 characters: whoever sees one signature can find it by trial (config.yaml:5:13); \
          `openssl rand -hex 32` makes a good one"
        ]
    );
    assert_eq!(warned(&route("secret: sixteen-letters!")), [""; 0]);
}
