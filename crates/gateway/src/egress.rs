//! The one HTTP client: no redirects, which would carry a credential elsewhere, and no proxy that nobody asked for.

pub mod api_client;

use std::time::Duration;

use reqwest::ClientBuilder;
use reqwest::redirect::Policy;
use targets::{Http, Reply};

/// Bytes of an answer that are read.
const READ: usize = 64 << 10;

/// A client for requests to targets. Clones share its connections.
#[derive(Clone)]
pub(crate) struct Client(reqwest::Client);

impl Client {
    pub(crate) fn new() -> Result<Client, String> {
        let client = careful(|builder| builder.pool_idle_timeout(Duration::from_secs(30)));
        client.map(Client).map_err(|error| format!("cannot make an HTTP client: {error}"))
    }

    /// Makes a request; `timeout` is from the connection to the end of the answer.
    pub(crate) async fn send(&self, http: &Http, timeout: Duration) -> Reply {
        let Ok(method) = http.method.parse::<reqwest::Method>() else {
            return Reply::NotSent(format!("{} is no method", http.method));
        };
        let mut request = self.0.request(method, &http.url).timeout(timeout).body(http.body.clone());
        for (name, value) in &http.headers {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(mut response) => {
                let status = response.status().as_u16();
                let retry_after =
                    response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
                let mut body = Vec::new();
                // The status alone decides; a body that breaks off costs only the receiver's own words.
                while body.len() < READ
                    && let Ok(Some(chunk)) = response.chunk().await
                {
                    body.extend_from_slice(&chunk[..chunk.len().min(READ - body.len())]);
                }
                Reply::Http { status, retry_after, body }
            }
            Err(error) if error.is_connect() || error.is_builder() => Reply::NotSent(words(error)),
            Err(error) => Reply::NoAnswer(words(error)),
        }
    }
}

/// A client with the properties that all of ours have, and those that `shape` adds.
///
/// A machine may have no certificates of authorities, as small containers do: then HTTPS fails when it is used, and all
/// that needs none works.
fn careful(shape: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<reqwest::Client, reqwest::Error> {
    let builder = || {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that makes HTTP clients")]
        let builder = reqwest::Client::builder();
        let agent = concat!("doorbell/", env!("CARGO_PKG_VERSION"));
        shape(builder.redirect(Policy::none()).no_proxy().user_agent(agent))
    };
    builder().build().or_else(|error| {
        let client = builder().tls_certs_only([]).build()?;
        let why = words(error);
        tracing::warn!(
            "https addresses cannot be reached: {why}; install the certificates of authorities (ca-certificates)"
        );
        Ok(client)
    })
}

/// The error and its causes, without the URL, which may hold a credential.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        return "timed out".into();
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
