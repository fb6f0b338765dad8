//! The work done at a running gateway, through its admin API.

use std::fmt::Write as _;

use ::ledger::api::views::rfc3339;
use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gateway::egress::api_client::{ApiClient, ApiError, ApiReply};
use serde_json::{Value, json};

use super::{Backend, Noun, Query, Work};

/// The admin API of the gateway of a home.
pub(in crate::cli) struct Api {
    client: ApiClient,
    url: String,
    token: Option<String>,
    /// Where the token was taken from, or would be.
    token_place: String,
}

impl Api {
    pub(super) fn new(client: ApiClient, url: String, token: Option<String>, token_place: String) -> Api {
        Api { client, url, token, token_place }
    }

    /// Whether something listens at the admin address.
    pub(super) async fn is_there(&self) -> anyhow::Result<bool> {
        match self.client.call("GET", &format!("{}/healthz", self.url), None, None).await {
            Ok(_) => Ok(true),
            Err(ApiError::Refused) => Ok(false),
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    /// Reads the configuration again; answers what in it may not be meant or needs a restart.
    pub(in crate::cli) async fn reload(&self) -> anyhow::Result<Value> {
        self.json("POST", "/reload", Some(json!({}))).await
    }

    /// A link that signs a browser in, once.
    pub(in crate::cli) async fn open_code(&self) -> anyhow::Result<Value> {
        self.json("POST", "/open-code", Some(json!({}))).await
    }

    /// Calls `path` below `/api/v1`; an answer that is no success is an error with the API's own words.
    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> anyhow::Result<ApiReply> {
        let url = format!("{}/api/v1{path}", self.url);
        let reply = self.client.call(method, &url, self.token.as_deref(), body.as_ref()).await;
        let reply = reply.map_err(|error| self.unreachable(&error))?;
        match reply.status {
            200..=299 => Ok(reply),
            401 => Err(self.token_refused()),
            _ => Err(self.refused(&reply)),
        }
    }

    async fn json(&self, method: &str, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let reply = self.call(method, path, body).await?;
        serde_json::from_slice(&reply.body).with_context(|| format!("{} answered something that is not JSON", self.url))
    }

    async fn act(&self, path: &str) -> anyhow::Result<()> {
        self.call("POST", path, Some(json!({}))).await.map(drop)
    }

    fn unreachable(&self, error: &ApiError) -> anyhow::Error {
        let hint = if self.url.starts_with("https:") {
            "; commands accept a certificate of admin.tls only when this machine trusts its issuer"
        } else {
            ""
        };
        anyhow!("the gateway at {} cannot be asked: {error}{hint}", self.url)
    }

    fn token_refused(&self) -> anyhow::Error {
        let known = if self.token.is_some() { "refuses the token" } else { "asks for a token" };
        anyhow!(
            "the gateway at {} {known}, which is expected in {}; is this the home it was started with \
             (--home, $DOORBELL_HOME)? A changed token takes effect at its next start",
            self.url,
            self.token_place
        )
    }

    /// The words of a problem+json answer.
    fn refused(&self, reply: &ApiReply) -> anyhow::Error {
        let problem: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let words = ["detail", "title", "error"].iter().find_map(|key| problem[key].as_str());
        match words {
            Some(words) => anyhow!("{words}"),
            None => anyhow!(
                "{} answered HTTP {} without a word that Doorbell would say; is another program at admin.port?",
                self.url,
                reply.status
            ),
        }
    }
}

#[async_trait]
impl Backend for Api {
    async fn status(&self) -> anyhow::Result<Value> {
        self.json("GET", "/status", None).await
    }

    async fn nodes(&self) -> anyhow::Result<Value> {
        self.json("GET", "/nodes", None).await
    }

    async fn page(&self, noun: Noun, query: Query) -> anyhow::Result<Value> {
        let path = format!("/{}?{}", noun.path(), parameters(query));
        self.json("GET", &path, None).await
    }

    async fn show(&self, noun: Noun, id: &str) -> anyhow::Result<Value> {
        self.json("GET", &format!("/{}/{}", noun.path(), encoded(id)), None).await
    }

    async fn body(&self, event_id: &str) -> anyhow::Result<Vec<u8>> {
        Ok(self.call("GET", &format!("/events/{}/body", encoded(event_id)), None).await?.body)
    }

    async fn retry_event(&self, id: &str) -> anyhow::Result<()> {
        self.act(&format!("/events/{}/retry", encoded(id))).await
    }

    async fn cancel_event(&self, id: &str) -> anyhow::Result<()> {
        self.act(&format!("/events/{}/cancel", encoded(id))).await
    }

    async fn replay(&self, event_id: &str) -> anyhow::Result<Value> {
        self.json("POST", &format!("/events/{}/replay", encoded(event_id)), Some(json!({}))).await
    }

    async fn stop_run(&self, id: &str) -> anyhow::Result<()> {
        self.act(&format!("/runs/{}/stop", encoded(id))).await
    }

    async fn retry_delivery(&self, id: &str) -> anyhow::Result<()> {
        self.act(&format!("/deliveries/{}/retry", encoded(id))).await
    }

    async fn pause(&self, route: &str) -> anyhow::Result<()> {
        self.act(&format!("/routes/{}/pause", encoded(route))).await
    }

    async fn resume(&self, route: &str) -> anyhow::Result<()> {
        self.act(&format!("/routes/{}/resume", encoded(route))).await
    }

    async fn send(&self, work: Work) -> anyhow::Result<Value> {
        let body = json!({
            "route": work.route,
            "payload_base64": STANDARD.encode(&work.payload),
            "id": work.id,
            "in_ms": work.delay.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
            "hop": work.hop,
            "from_run": work.from_run,
        });
        self.json("POST", "/send", Some(body)).await
    }

    async fn close(&self) {}
}

/// A listing's query string.
fn parameters(query: Query) -> String {
    let Query { route, event_id, state, delivery_id, since, limit, cursor } = query;
    let given = [
        ("limit", Some(limit.to_string())),
        ("route", route),
        ("event_id", event_id),
        ("state", state),
        ("delivery_id", delivery_id),
        ("since", since.map(rfc3339)),
        ("cursor", cursor),
    ];
    let pairs = given.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", encoded(&value?))));
    pairs.collect::<Vec<_>>().join("&")
}

/// Text as one part of a URL (RFC 3986, 2.3): nothing in it ends the part.
fn encoded(text: &str) -> String {
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            part.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(part, "%{byte:02X}");
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_one_parameter() {
        let query = Query { route: Some("a&b=c/é".into()), since: Some(0), limit: 5, ..Query::default() };
        assert_eq!(parameters(query), "limit=5&route=a%26b%3Dc%2F%C3%A9&since=1970-01-01T00%3A00%3A00.000Z");
    }
}
