//! The bare handler: HTTP and one HMAC over the body, nothing else. No gateway on the same stack can be faster than this.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::serve::ListenerExt as _;
use axum::{Json, Router, routing};
use serde_json::{Value, json};

use crate::gateway::SECRET;

/// Serves until it is killed. Says where on its output.
pub(crate) fn serve() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", listener.local_addr().expect("its address"));
        let router = Router::new().route("/webhooks/{route}", routing::post(answer));
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("no delay"));
        axum::serve(listener, router).await.expect("a server");
    });
}

async fn answer(headers: HeaderMap, body: Bytes) -> (StatusCode, Json<Value>) {
    let signature = verify::sign::github(&verify::Secret::new(SECRET), &body);
    if headers.get("x-hub-signature-256").is_none_or(|given| *given != signature) {
        return (StatusCode::UNAUTHORIZED, Json(json!({"error": "Invalid signature"})));
    }
    let answer = json!({
        "status": "accepted", "route": "queue", "event": "push", "delivery_id": "d", "event_id": "ev_0"
    });
    (StatusCode::ACCEPTED, Json(answer))
}

/// Such a server in a process of its own.
pub(crate) struct Handler {
    pub(crate) address: SocketAddr,
    process: Child,
}

impl Handler {
    pub(crate) fn start() -> Handler {
        let own = std::env::current_exe().expect("our own path");
        #[expect(clippy::disallowed_methods, reason = "the bench starts what it compares with")]
        let mut process =
            Command::new(own).arg("handler").stdout(Stdio::piped()).spawn().expect("the bare handler starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut line).expect("its address");
        Handler { address: line.trim().parse().expect("an address"), process }
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
