//! A sender's side: one request over one connection.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;
use verify::{Secret, sign};

/// Rings as GitHub does, and gives the answer as a line for people.
pub(super) fn github(to: SocketAddr, route: &str, secret: &str, delivery: &str, body: &str) -> anyhow::Result<String> {
    let signature = sign::github(&Secret::new(secret), body.as_bytes());
    let request = format!(
        "POST /webhooks/{route} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         X-GitHub-Event: pull_request\r\nX-GitHub-Delivery: {delivery}\r\nX-Hub-Signature-256: {signature}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (status, body) = ask(to, &request)?;
    Ok(format!("POST /webhooks/{route} → {status} {body}"))
}

/// Reads something of the admin API.
pub(super) fn admin(to: SocketAddr, token: &str, path: &str) -> anyhow::Result<serde_json::Value> {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n");
    let (status, body) = ask(to, &request)?;
    anyhow::ensure!(status.starts_with("200"), "{path} answered {status} {body}");
    serde_json::from_str(&body).with_context(|| format!("{path} did not answer JSON"))
}

/// The status line without the version, and the body.
fn ask(to: SocketAddr, request: &str) -> anyhow::Result<(String, String)> {
    let mut stream = TcpStream::connect(to).with_context(|| format!("cannot reach {to}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer is not HTTP")?;
    let status = head.lines().next().and_then(|line| line.split_once(' ')).map(|(_, status)| status);
    Ok((status.context("the answer has no status")?.to_owned(), body.to_owned()))
}
