//! What may be written in `config.yaml`. The doc comments of the keys are the JSON Schema and the reference page.
//!
//! Nothing here can be printed: these types hold secrets as plain texts.

mod filters;
mod retention;
mod route;

use std::collections::BTreeMap;

use agents::AgentOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use span::{Size, Span};

pub(crate) use filters::Filters;
pub(crate) use retention::Retention;
pub(crate) use route::Route;

/// Doorbell's configuration, `config.yaml`.
///
/// `${NAME}` and `${NAME:-default}` work in every text and come from the environment, else from `.env`. A name is letters,
/// digits and `_`; a default cannot hold `${`. Every other `${` is an error, and `$${` stands for the characters `${`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Doorbell configuration")]
pub(crate) struct File {
    /// The public listener that providers send to.
    pub(crate) server: Server,
    /// The listener for people: dashboard, API, metrics.
    pub(crate) admin: Admin,
    /// Where events, runs and deliveries are kept.
    pub(crate) store: Store,
    /// The agent of every route that names none: a key of `agents`. Default: `default`.
    pub(crate) default_agent: Option<String>,
    /// The agents, by a name of your choice.
    pub(crate) agents: BTreeMap<String, AgentOptions>,
    /// The routes, by name: `routes.<name>` answers at `/webhooks/<name>`. A name is letters, digits, `.`, `_` and `-`, and
    /// begins with a letter or digit.
    pub(crate) routes: BTreeMap<String, Route>,
    #[schemars(schema_with = "targets::schema")]
    pub(crate) targets: BTreeMap<String, Value>,
    /// Limits for what runs cause themselves.
    pub(crate) hooks: Hooks,
}

/// The public listener that providers send to.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Server {
    /// What this gateway is called where several share a ledger. Default: the name of the host.
    pub(crate) name: Option<String>,
    /// The address to listen on. `null` or `""` is every interface, IPv4 and IPv6.
    pub(crate) host: Option<String>,
    /// The port to listen on; 0 takes a free one.
    pub(crate) port: u16,
    /// The address under which the world reaches this server, used in printed URLs: `https://hooks.example.com`.
    pub(crate) public_url: Option<String>,
    /// The secret of every route that has no `secret` or `secrets` of its own. When the environment's `WEBHOOK_ENABLED` is
    /// true, 1, yes or on, `WEBHOOK_SECRET` and `WEBHOOK_PORT` come before the file.
    pub(crate) secret: Option<String>,
    /// Events that a route takes a minute, after authentication; 0 is without limit, since the queue takes bursts.
    pub(crate) rate_limit: u32,
    /// The largest body, also after decompression.
    pub(crate) max_body_bytes: Size,
    /// Certificate and key for HTTPS. `null` is plain HTTP, for a tunnel or a proxy in front.
    pub(crate) tls: Option<Tls>,
    /// Connections at a time.
    #[schemars(range(min = 1))]
    pub(crate) max_connections: u32,
    /// How long runs may take to end once the gateway was told to stop.
    pub(crate) shutdown_grace: Span,
    /// How long a sender may take for its headers; idle connections are closed after it too.
    pub(crate) header_timeout: Span,
    /// How long a sender may take for its body.
    pub(crate) body_timeout: Span,
}

impl Default for Server {
    fn default() -> Self {
        Server {
            name: None,
            host: Some("127.0.0.1".to_owned()),
            port: 8644,
            public_url: None,
            secret: None,
            rate_limit: 0,
            max_body_bytes: Size(1 << 20),
            tls: None,
            max_connections: 1024,
            shutdown_grace: Span::seconds(10),
            header_timeout: Span::seconds(10),
            body_timeout: Span::seconds(20),
        }
    }
}

/// The listener for people: dashboard, API, metrics.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Admin {
    /// The address to listen on. `null` or `""` is every interface; any other than loopback needs a `token`.
    pub(crate) host: Option<String>,
    /// The port to listen on; 0 takes a free one.
    pub(crate) port: u16,
    /// The token that opens it. `null`: one is made at the first start and kept in the file `admin.token`.
    pub(crate) token: Option<String>,
    /// No token at all; on a loopback address only.
    pub(crate) open: bool,
    /// Certificate and key for HTTPS.
    pub(crate) tls: Option<Tls>,
}

impl Default for Admin {
    fn default() -> Self {
        Admin { host: Some("127.0.0.1".to_owned()), port: 8645, token: None, open: false, tls: None }
    }
}

/// Certificate and key for HTTPS.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    /// PEM file with the certificate and its chain; a relative path is under Doorbell's home.
    pub(crate) cert: String,
    /// PEM file with the private key; a relative path is under Doorbell's home.
    pub(crate) key: String,
}

/// Where events, runs and deliveries are kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Store {
    /// `null` is the SQLite file `doorbell.db` in Doorbell's home; `sqlite:PATH` is another one. `postgres://user:password@host/database`
    /// is a PostgreSQL database that several gateways share, with `?sslmode=` `disable`, `prefer`, `require` or `verify-full`
    /// and `sslrootcert=FILE` behind it; `durability` and `min_free` are then the database's own affair.
    pub(crate) url: Option<String>,
    /// When an event counts as stored.
    pub(crate) durability: Durability,
    /// Below this much free disk space no new events are taken; runs and deliveries go on.
    pub(crate) min_free: Size,
    /// How long finished events are kept, with their runs and deliveries: one duration, or one a state. What still has a
    /// delivery to make stays until that has ended.
    pub(crate) retention: Retention,
}

impl Default for Store {
    fn default() -> Self {
        Store { url: None, durability: Durability::Full, min_free: Size(256 << 20), retention: Retention::default() }
    }
}

/// When an event counts as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// When the disk has it: survives a power cut.
    #[default]
    Full,
    /// When the operating system has it: survives a crash of the gateway, not a power cut; faster.
    Normal,
}

/// Limits for what runs cause themselves.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Hooks {
    /// How many times an event may come round: a webhook that a run caused counts one more than the run's own.
    pub(crate) max_hops: u32,
}

impl Default for Hooks {
    fn default() -> Self {
        Hooks { max_hops: 5 }
    }
}
