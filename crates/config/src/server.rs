//! The two listeners.

use std::path::Path as FilePath;
use std::time::Duration;

use span::Span;
use verify::Secret;

use crate::credential;
use crate::environment::Environment;
use crate::listen::{self, Listen, Tls};
use crate::path::Path;
use crate::raw;
use crate::report::Report;

/// The public listener.
#[derive(Clone, Debug)]
pub struct Server {
    /// What people call this gateway; `None`: by the name of its host.
    pub name: Option<String>,
    /// Where it listens.
    pub listen: Listen,
    /// The address under which the world reaches it, without a slash at its end.
    pub public_url: Option<String>,
    /// Connections at a time; above zero.
    pub max_connections: usize,
    /// How long runs may take to end at a polite stop.
    pub shutdown_grace: Duration,
    /// How long a sender may take for its headers; above zero.
    pub header_timeout: Duration,
    /// How long a sender may take for its body; above zero.
    pub body_timeout: Duration,
    /// The largest body, also after decompression, where a route says nothing else. Above zero.
    pub max_body_bytes: usize,
}

/// The listener for people.
#[derive(Clone, Debug)]
pub struct Admin {
    /// Where it listens.
    pub listen: Listen,
    /// The token that opens it; `None`: the one in the file `admin.token`, made when it is missing.
    pub token: Option<Secret>,
    /// Whether no token is asked for; only ever true on a loopback address.
    pub open: bool,
}

/// What the routes take from the server when they say nothing themselves.
#[derive(Debug)]
pub(crate) struct Defaults {
    pub(crate) secret: Option<Secret>,
    pub(crate) rate_limit: u32,
    pub(crate) max_body_bytes: usize,
}

/// What the environment says instead of the file.
#[derive(Debug, Default)]
struct Override {
    port: Option<u16>,
    secret: Option<String>,
}

/// Reads `WEBHOOK_PORT` and `WEBHOOK_SECRET`, which count when `WEBHOOK_ENABLED` is truthy.
fn from_environment(environment: &Environment, report: &mut Report) -> Override {
    let enabled = environment.get("WEBHOOK_ENABLED").unwrap_or_default().trim().to_ascii_lowercase();
    if !["true", "1", "yes", "on"].contains(&enabled.as_str()) {
        return Override::default();
    }
    let filled = |name| environment.get(name).filter(|value| !value.trim().is_empty());
    let port = filled("WEBHOOK_PORT").and_then(|text| {
        let port = text.trim().parse().ok();
        if port.is_none() {
            report.outside(
                "WEBHOOK_PORT",
                "a port is a whole number from 0 to 65535",
                "mend it, or unset WEBHOOK_ENABLED",
            );
        }
        port
    });
    let secret = filled("WEBHOOK_SECRET").map(str::to_owned);
    if let Some(secret) = &secret {
        credential::given(secret, "WEBHOOK_SECRET", report);
    }
    Override { port, secret }
}

pub(crate) fn server(
    raw: &raw::Server,
    home: &FilePath,
    environment: &Environment,
    report: &mut Report,
) -> (Server, Defaults) {
    let at = Path::new(&["server"]);
    let instead = from_environment(environment, report);
    let port = instead.port.unwrap_or(raw.port);
    let server = Server {
        name: raw.name.as_deref().and_then(|name| node_name(name, &at.key("name"), report)),
        listen: listen(&at, raw.host.as_deref(), port, raw.tls.as_ref(), home, report),
        public_url: raw.public_url.as_deref().and_then(|url| public_url(url, &at.key("public_url"), report)),
        max_connections: raw.max_connections as usize,
        shutdown_grace: raw.shutdown_grace.0,
        header_timeout: above_zero(raw.header_timeout, &at.key("header_timeout"), report),
        body_timeout: above_zero(raw.body_timeout, &at.key("body_timeout"), report),
        max_body_bytes: bytes(raw.max_body_bytes, &at.key("max_body_bytes"), report),
    };
    if raw.max_connections == 0 {
        report.fault(&at.key("max_connections"), "0 lets nobody in", "give 1 or more");
    }
    let written = raw.secret.as_deref().filter(|secret| !secret.trim().is_empty());
    let secret = match (&instead.secret, written) {
        (Some(secret), _) => Some(secret.as_str()),
        (None, Some(secret)) => credential::written(secret, &at.key("secret"), report),
        (None, None) => None,
    };
    let defaults =
        Defaults { secret: secret.map(Secret::new), rate_limit: raw.rate_limit, max_body_bytes: server.max_body_bytes };
    (server, defaults)
}

pub(crate) fn admin(raw: &raw::Admin, server: &Server, home: &FilePath, report: &mut Report) -> Admin {
    let at = Path::new(&["admin"]);
    let listen = listen(&at, raw.host.as_deref(), raw.port, raw.tls.as_ref(), home, report);
    let token = raw.token.as_deref().and_then(|token| admin_token(token, &at.key("token"), report));
    if raw.open && !listen.is_loopback() {
        let message = "open to everybody who can reach admin.host, which is not a loopback address";
        report.fault(&at.key("open"), message, "take `open` away and set admin.token, or listen on 127.0.0.1");
    } else if raw.open {
        report.warn(&at.key("open"), "every user and program of this machine can read and steer everything", "");
    } else if token.is_none()
        && !listen.is_loopback()
        && !report.is_broken(&at.key("token"))
        && !report.is_broken(&at.key("host"))
    {
        let message = "not a loopback address, so the admin server needs a token";
        report.fault(&at.key("host"), message, "set admin.token, or listen on 127.0.0.1");
    }
    match token {
        Some(_) if raw.open => report.warn(&at.key("token"), "nobody is asked for it while admin.open is true", ""),
        Some(token) if credential::is_short(token) => {
            let message = credential::short("who reaches the admin address can find it by trial");
            report.warn(&at.key("token"), message, credential::A_GOOD_ONE);
        }
        _ => {}
    }
    if listen.port != 0 && listen.port == server.listen.port {
        same_port(listen.port, report);
    }
    Admin { listen, token: token.map(Secret::new), open: raw.open }
}

/// The token as it counts. `None` when something is wrong with it, which is noted.
fn admin_token<'t>(written: &'t str, at: &Path, report: &mut Report) -> Option<&'t str> {
    if written.trim().is_empty() {
        report.fault(at, "written but empty", "give it a value, or take the key away: one is made then");
        return None;
    }
    credential::written(written, at, report)
}

/// Points at the port that is written: the other one may be a default.
fn same_port(port: u16, report: &mut Report) {
    let [own, other] = ["admin", "server"].map(|section| Path::new(&[section, "port"]));
    let (at, name) = if report.has(&own) || !report.has(&other) { (own, "server") } else { (other, "admin") };
    report.fault(&at, format!("{port} is the port of `{name}` too"), "give each its own");
}

/// A name stands in tables and log lines.
fn node_name(written: &str, at: &Path, report: &mut Report) -> Option<String> {
    let name = written.trim();
    if name.is_empty() || name.len() > 63 || name.chars().any(char::is_control) {
        report.fault(at, "not a name", "give 1 to 63 characters, or take the key away: the host's name stands in then");
        return None;
    }
    Some(name.to_owned())
}

fn listen(
    at: &Path,
    host: Option<&str>,
    port: u16,
    tls: Option<&raw::Tls>,
    home: &FilePath,
    report: &mut Report,
) -> Listen {
    let host = listen::host(host).unwrap_or_else(|why| {
        report.fault(&at.key("host"), why, "write a name or address such as 127.0.0.1, or null for every interface");
        None
    });
    Listen { host, port, tls: tls.map(|tls| Tls { cert: home.join(&tls.cert), key: home.join(&tls.key) }) }
}

fn public_url(written: &str, at: &Path, report: &mut Report) -> Option<String> {
    if written.is_empty() {
        return None;
    }
    let url = url::Url::parse(written).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let bare = url.filter(|url| url.query().is_none() && url.fragment().is_none() && url.username().is_empty());
    if bare.is_none() {
        report.fault(at, "not the address of a server", "write it like https://hooks.example.com");
    }
    bare.map(|_| written.trim_end_matches('/').to_owned())
}

/// A length of time that must not be zero.
pub(crate) fn above_zero(span: Span, at: &Path, report: &mut Report) -> Duration {
    if span.is_zero() {
        report.fault(at, "0 leaves no time at all", "there is no \"no limit\"; write a long one such as 7d");
    }
    span.0
}

/// A number of bytes that must not be zero.
pub(crate) fn bytes(size: span::Size, at: &Path, report: &mut Report) -> usize {
    if size.0 == 0 {
        report.fault(at, "0 lets no request in", "give a size such as 1MiB");
    }
    usize::try_from(size.0).unwrap_or(usize::MAX)
}
