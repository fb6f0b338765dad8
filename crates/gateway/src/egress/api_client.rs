//! The client of commands: it talks to the admin address of a gateway that may or may not be running.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use serde_json::Value;

/// A gateway on this machine answers at once or is not there.
const CONNECT: Duration = Duration::from_secs(5);
/// From the connection to the end of the answer; a stored body may be large.
const WHOLE: Duration = Duration::from_mins(1);

/// Speaks to the admin API of one gateway after another; connections are shared.
#[derive(Debug, Clone)]
pub struct ApiClient(reqwest::Client);

/// What the gateway answered, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiReply {
    /// The HTTP status.
    pub status: u16,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// Nobody listens there: no request was made.
    #[error("nobody listens there")]
    Refused,
    /// Anything else; the text says what, without the address.
    #[error("{0}")]
    Other(String),
}

impl ApiClient {
    /// A client; the error says why there cannot be one on this machine.
    pub fn new() -> Result<ApiClient, ApiError> {
        let client = super::careful(|builder| builder.connect_timeout(CONNECT).timeout(WHOLE));
        client.map(ApiClient).map_err(other)
    }

    /// Makes a request. `token` goes into `Authorization`, `body` is sent as JSON.
    pub async fn call(
        &self,
        method: &str,
        url: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Result<ApiReply, ApiError> {
        let method = method.parse().map_err(|_| ApiError::Other(format!("{method} is no method")))?;
        let mut request = self.0.request(method, url);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await.map_err(other)?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(other)?.to_vec();
        Ok(ApiReply { status, body })
    }
}

fn other(error: reqwest::Error) -> ApiError {
    if is_refusal(&error) { ApiError::Refused } else { ApiError::Other(super::words(error)) }
}

/// Whether the system said that nobody listens at the address.
fn is_refusal(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        let kind = inner.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if kind == Some(ErrorKind::ConnectionRefused) {
            return error.is_connect();
        }
        cause = inner.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    fn client() -> ApiClient {
        // A second installation fails and is as good as the first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        ApiClient::new().unwrap()
    }

    #[tokio::test]
    async fn nobody_listening_is_told_from_other_failures() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        drop(listener);
        assert_eq!(client().call("GET", &url, None, None).await, Err(ApiError::Refused));
        let no_such_host = client().call("GET", "http://no-such-host.invalid/", None, None).await;
        assert!(matches!(no_such_host, Err(ApiError::Other(_))), "{no_such_host:?}");
    }

    #[tokio::test]
    async fn a_request_carries_token_and_json_and_every_status_is_an_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/api", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut seen = vec![0; 4096];
            let mut length = 0;
            while !seen[..length].ends_with(b"{\"n\":1}") {
                length += socket.read(&mut seen[length..]).await.unwrap();
            }
            socket.write_all(b"HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
            String::from_utf8(seen[..length].to_vec()).unwrap().to_ascii_lowercase()
        });
        let reply = client().call("POST", &url, Some("t0ken"), Some(&serde_json::json!({"n": 1}))).await.unwrap();
        assert_eq!(reply, ApiReply { status: 409, body: b"no".to_vec() });
        let seen = server.await.unwrap();
        assert!(seen.contains("authorization: bearer t0ken") && seen.contains("application/json"), "{seen}");
    }
}
