use std::path::Path;
use std::time::Duration;

use super::*;
use crate::{Durability, Shelf};

#[test]
fn an_empty_map_has_every_default() {
    let Config { server, admin, store, max_hops, targets, warnings, .. } = read("{}");
    assert_eq!(
        (server.listen.to_string(), admin.listen.to_string()),
        ("127.0.0.1:8644".into(), "127.0.0.1:8645".into())
    );
    assert_eq!((server.public_url, server.max_body_bytes, server.max_connections), (None, 1_048_576, 1024));
    let spans = [server.shutdown_grace, server.header_timeout, server.body_timeout];
    assert_eq!(spans, [10, 10, 20].map(Duration::from_secs));
    assert!(admin.token.is_none() && !admin.open && server.listen.tls.is_none());
    assert_eq!((store.at, store.durability), (Shelf::File("/home/d/doorbell.db".into()), Durability::Full));
    assert_eq!((store.min_free, max_hops), (268_435_456, 5));
    assert_eq!(targets.keys().collect::<Vec<_>>(), ["log"]);
    assert_eq!(warnings, []);
}

#[test]
fn every_key_is_read() {
    let config = read(
        "server: {host: null, port: 1, public_url: 'https://h.example/', secret: s, rate_limit: 7, max_body_bytes: 2MiB,\n  \
         tls: {cert: c.pem, key: /k.pem}, max_connections: 9, shutdown_grace: 0, header_timeout: 1m, body_timeout: 2}\n\
         admin: {host: '::1', port: 0, token: t, open: false, tls: null}\nstore: {url: 'sqlite:l.db', durability: normal, \
         min_free: 1GB}\nhooks: {max_hops: 2}\n",
    );
    let server = config.server;
    assert_eq!((server.listen.to_string(), server.public_url), ("*:1".into(), Some("https://h.example".into())));
    let tls = server.listen.tls.unwrap();
    assert_eq!((tls.cert.as_path(), tls.key.as_path()), (Path::new("/home/d/c.pem"), Path::new("/k.pem")));
    assert_eq!((server.max_connections, server.max_body_bytes), (9, 2 << 20));
    assert_eq!(
        [server.shutdown_grace, server.header_timeout, server.body_timeout],
        [0, 60, 2].map(Duration::from_secs)
    );
    assert_eq!(config.admin.listen.to_string(), "[::1]:0");
    assert_eq!(config.admin.token.unwrap().expose(), "t");
    assert_eq!(config.store.at, Shelf::File("/home/d/l.db".into()));
    assert_eq!((config.store.durability, config.store.min_free), (Durability::Normal, 1_000_000_000));
    assert_eq!(config.max_hops, 2);
}

#[test]
fn a_shared_ledger_is_shown_without_who_uses_it() {
    for scheme in ["postgres", "postgresql"] {
        let url =
            format!("{scheme}://bell:p%40ss-word-1@db.example:5433/ledger?sslmode=require&password=p%40ss-word-1");
        let config = read(&format!("server: {{name: ' blue '}}\nstore: {{url: '{url}'}}"));
        assert_eq!(config.server.name.as_deref(), Some("blue"));
        let Shelf::Database(database) = &config.store.at else { panic!("{:?}", config.store) };
        assert_eq!(database.expose(), url);
        assert_eq!(database.to_string(), format!("{scheme}://db.example:5433/ledger"));
        assert!(!format!("{:?}", config.store).contains("p%40ss-word-1"));
    }
    let many = read("store: {url: 'postgres://bell@one:5432,two:5432/ledger'}");
    assert_eq!(many.store.at.to_string(), "postgres://one:5432,two:5432/ledger");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn bad_values_are_told() {
    for (text, line) in [
        ("routez: {}", "routez: unknown key (config.yaml:1:1); did you mean `routes`?"),
        (
            "jobs: {}",
            "jobs: unknown key (config.yaml:1:1); known here: server, admin, store, default_agent, agents, routes, targets, hooks",
        ),
        ("server: {port: 70000}", "server.port: a whole number from 0 to 65535 is wanted (config.yaml:1:16)"),
        (
            "server: {port: '80'}",
            "server.port: a whole number from 0 to 65535 is wanted, this is a text (config.yaml:1:16)",
        ),
        (
            "server: {host: 'a:80'}",
            "server.host: holds more than a host: the port has a key of its own, and no scheme belongs here (config.yaml:1:16); write a name or address such as 127.0.0.1, or null for every interface",
        ),
        (
            "server: {public_url: h.example}",
            "server.public_url: not the address of a server (config.yaml:1:22); write it like https://hooks.example.com",
        ),
        ("server: {max_connections: 0}", "server.max_connections: 0 lets nobody in (config.yaml:1:27); give 1 or more"),
        (
            "server: {max_body_bytes: 0}",
            "server.max_body_bytes: 0 lets no request in (config.yaml:1:26); give a size such as 1MiB",
        ),
        (
            "server: {header_timeout: 0}",
            "server.header_timeout: 0 leaves no time at all (config.yaml:1:26); there is no \"no limit\"; write a long one such as 7d",
        ),
        (
            "server: {body_timeout: 0}",
            "server.body_timeout: 0 leaves no time at all (config.yaml:1:24); there is no \"no limit\"; write a long one such as 7d",
        ),
        ("server: {tls: {cert: c}}", "server.tls: the key `key` is missing (config.yaml:1:10)"),
        (
            "server: {trusted_proxies: []}",
            "server.trusted_proxies: unknown key (config.yaml:1:10); known here: name, host, port, public_url, secret, rate_limit, max_body_bytes, tls, max_connections, shutdown_grace, header_timeout, body_timeout",
        ),
        ("admin: {port: 8644}", "admin.port: 8644 is the port of `server` too (config.yaml:1:15); give each its own"),
        ("server: {port: 8645}", "server.port: 8645 is the port of `admin` too (config.yaml:1:16); give each its own"),
        (
            "admin: {token: ''}",
            "admin.token: written but empty (config.yaml:1:16); give it a value, or take the key away: one is made then",
        ),
        (
            "store: {url: 'postgres://u:a@b@h/d'}",
            "store.url: has an `@` in the wrong place (config.yaml:1:14); in a user name or password write %40 for @, %2F for /, %3A for :, %3F for ? and %23 for #",
        ),
        (
            "store: {url: 'mysql://h/d'}",
            "store.url: not a store that is known (config.yaml:1:14); use null, sqlite:PATH or postgres://user:password@host/database",
        ),
        (
            "store: {url: 'postgres:///d'}",
            "store.url: names no server (config.yaml:1:14); write it like postgres://user:password@host:5432/database",
        ),
        (
            "server: {name: ' '}",
            "server.name: not a name (config.yaml:1:16); give 1 to 63 characters, or take the key away: the host's name stands in then",
        ),
        (
            "store: {url: 'sqlite:'}",
            "store.url: names no file (config.yaml:1:14); write sqlite:PATH, or null for doorbell.db in the home",
        ),
        ("store: {durability: some}", "store.durability: must be one of `full`, `normal` (config.yaml:1:21)"),
        (
            "store: {labels: [a]}",
            "store.labels: unknown key (config.yaml:1:9); known here: url, durability, min_free, retention",
        ),
        ("hooks: {outbound: []}", "hooks.outbound: unknown key (config.yaml:1:9); known here: max_hops"),
        ("a: 1\na: 2", "a: written twice, first at 1:1 (config.yaml:2:1); keep one of the two"),
    ] {
        assert!(wrong(text).contains(&line.to_owned()), "{text}: {:#?}", wrong(text));
    }
}

#[test]
fn both_servers_may_take_any_free_port() {
    let config = read("server: {port: 0}\nadmin: {port: 0}");
    assert_eq!((config.server.listen.port, config.admin.listen.port), (0, 0));
}

#[test]
fn an_admin_address_that_others_reach_needs_a_token() {
    for host in ["0.0.0.0", "null", "''", "127.0.0.2"] {
        assert_eq!(
            wrong(&format!("admin: {{host: {host}}}")),
            ["admin.host: not a loopback address, so the admin server needs a token (config.yaml:1:9); set admin.token, or \
              listen on 127.0.0.1"]
            .map(|line| if host == "null" { line.to_owned() } else { line.replace(":1:9", ":1:15") }),
            "{host}"
        );
        assert!(read(&format!("admin: {{host: {host}, token: abcdefghijklmnop}}")).admin.token.is_some());
        assert_eq!(
            wrong(&format!("admin: {{open: true, token: t, host: {host}}}")),
            [
                "admin.open: open to everybody who can reach admin.host, which is not a loopback address (config.yaml:1:15); \
              take `open` away and set admin.token, or listen on 127.0.0.1"
            ]
        );
    }
    assert_eq!(
        warned("admin: {open: true}"),
        ["admin.open: every user and program of this machine can read and steer everything (config.yaml:1:15)"]
    );
    assert_eq!(warned("admin: {open: true, token: t}").len(), 2, "a token that nobody is asked for");
    let bad_host = wrong("admin: {host: 'a b'}");
    assert_eq!(bad_host.len(), 1, "a host that is none is one problem: {bad_host:?}");
    let unset = wrong("admin: {host: 0.0.0.0, token: \"${UNSET}\"}");
    assert_eq!(unset.len(), 1, "a token that is not set is one problem: {unset:?}");
}

#[test]
fn the_environment_beats_the_file_when_it_is_enabled() {
    let file = "server: {port: 1, secret: file-secret-123456}\nagents: {default: {preset: command, command: [cat]}}\nroutes: {r: {}}\n";
    let read_port_and_secret = |enabled: &str| {
        let set = [&format!("WEBHOOK_ENABLED={enabled}"), "WEBHOOK_PORT=2", "WEBHOOK_SECRET=env-secret-1234567"];
        let config = read_with(file, &set).unwrap();
        (config.server.listen.port, config.routes["r"].secrets[0].expose().to_owned())
    };
    for enabled in ["true", "1", "yes", "on", "TRUE", "Yes"] {
        assert_eq!(read_port_and_secret(enabled), (2, "env-secret-1234567".into()), "{enabled}");
    }
    for enabled in ["", "false", "0", "no", "off", "2"] {
        assert_eq!(read_port_and_secret(enabled), (1, "file-secret-123456".into()), "{enabled}");
    }
    assert_eq!(
        read_with(file, &["WEBHOOK_ENABLED=1", "WEBHOOK_PORT=", "WEBHOOK_SECRET="]).unwrap().server.listen.port,
        1
    );
    assert_eq!(
        wrong_with(file, &["WEBHOOK_ENABLED=1", "WEBHOOK_PORT=http"]),
        ["WEBHOOK_PORT: a port is a whole number from 0 to 65535; mend it, or unset WEBHOOK_ENABLED"]
    );
}
