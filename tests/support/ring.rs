//! A webhook as a provider sends it.

use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use verify::{Secret, sign};

use super::http::{self, Answer};
use super::{Doorbell, SECRET, until_some};

/// A signed GitHub delivery under construction: event `push`, body `{}`, a fresh id, the server's secret.
#[derive(Clone)]
pub(crate) struct Ring {
    address: SocketAddr,
    route: String,
    event: String,
    id: String,
    secret: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ring {
    pub(crate) fn at(address: SocketAddr, route: &str) -> Ring {
        Ring {
            address,
            route: route.to_owned(),
            event: "push".to_owned(),
            id: fresh_id(),
            secret: SECRET.to_owned(),
            headers: Vec::new(),
            body: b"{}".to_vec(),
        }
    }

    /// The body, as JSON.
    pub(crate) fn json(self, body: &Value) -> Ring {
        self.bytes(body.to_string())
    }

    /// The body, byte for byte.
    pub(crate) fn bytes(self, body: impl Into<Vec<u8>>) -> Ring {
        Ring { body: body.into(), ..self }
    }

    pub(crate) fn event(self, event: &str) -> Ring {
        Ring { event: event.to_owned(), ..self }
    }

    pub(crate) fn id(self, id: &str) -> Ring {
        Ring { id: id.to_owned(), ..self }
    }

    pub(crate) fn secret(self, secret: &str) -> Ring {
        Ring { secret: secret.to_owned(), ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Ring {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends it. An error: the gateway went away before it had answered.
    pub(crate) fn try_post(&self) -> io::Result<Answer> {
        let mut headers = github_headers(&self.secret, &self.event, &self.id, &self.body);
        if self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.retain(|(name, _)| name != "Content-Type");
        }
        headers.extend(self.headers.iter().cloned());
        http::exchange(self.address, "POST", &format!("/webhooks/{}", self.route), &headers, &self.body)
    }

    /// Sends it.
    #[track_caller]
    pub(crate) fn post(&self) -> Answer {
        self.try_post().expect("the gateway answers")
    }

    /// Sends it and wants it accepted; answers the event's id.
    #[track_caller]
    pub(crate) fn accepted(&self) -> String {
        let answer = self.post().expect(202);
        assert_eq!(answer["status"], "accepted", "{answer}");
        answer["event_id"].as_str().expect("an event id").to_owned()
    }

    /// Sends it until it is taken, as a sender does; answers the event's id.
    #[track_caller]
    pub(crate) fn until_taken(&self) -> String {
        until_some("it is taken", || {
            let answer = self.post();
            match answer.status {
                202 | 200 => Some(answer.json()["event_id"].as_str().expect("an event id").to_owned()),
                503 => None,
                other => panic!("{other}: {answer:?}"),
            }
        })
    }

    /// Sends it and wants it known already; answers the first event's id.
    #[track_caller]
    pub(crate) fn duplicate(&self) -> String {
        let answer = self.post().expect(200);
        assert_eq!((&answer["status"], &answer["delivery_id"]), (&"duplicate".into(), &self.id.as_str().into()));
        answer["event_id"].as_str().expect("an event id").to_owned()
    }
}

impl Doorbell {
    /// A webhook for a route.
    pub(crate) fn ring(&self, route: &str) -> Ring {
        Ring::at(self.address(), route)
    }

    /// Rings with this payload and wants it accepted; answers the event's id.
    #[track_caller]
    pub(crate) fn send(&self, route: &str, body: &Value) -> String {
        self.ring(route).json(body).accepted()
    }
}

/// An id that nobody has used.
pub(crate) fn fresh_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a sender signs the time by its own clock")]
pub(crate) fn now_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_secs()).expect("a clock before the end of time")
}

/// The headers of GitHub.
pub(crate) fn github_headers(secret: &str, event: &str, id: &str, body: &[u8]) -> Vec<(String, String)> {
    pairs(&[
        ("Content-Type", "application/json"),
        ("X-GitHub-Event", event),
        ("X-GitHub-Delivery", id),
        ("X-Hub-Signature-256", &sign::github(&Secret::new(secret), body)),
    ])
}

/// The headers of Standard Webhooks (`family` is `webhook`) and of Svix before it (`svix`).
pub(crate) fn standard_headers(family: &str, secret: &str, id: &str, at: i64, body: &[u8]) -> Vec<(String, String)> {
    pairs(&[
        (&format!("{family}-id"), id),
        (&format!("{family}-timestamp"), &at.to_string()),
        (&format!("{family}-signature"), &sign::standard(&Secret::new(secret), id, at, body)),
    ])
}

/// HMAC-SHA256 in hex.
pub(crate) fn hex_hmac(secret: &str, text: &[u8]) -> String {
    sign::github(&Secret::new(secret), text).split_off("sha256=".len())
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
