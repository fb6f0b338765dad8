//! Signed requests, made before anything is timed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::gateway::SECRET;

/// A signed GitHub delivery with an id of its own, as it stands on the wire.
pub(crate) fn signed(route: &str, id: &str, body_bytes: usize) -> Vec<u8> {
    let filler = "x".repeat(body_bytes.saturating_sub(40));
    let body = format!("{{\"id\":\"{id}\",\"filler\":\"{filler}\"}}");
    let signature = verify::sign::github(&verify::Secret::new(SECRET), body.as_bytes());
    format!(
        "POST /webhooks/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\n\
         X-GitHub-Delivery: {id}\r\nX-Hub-Signature-256: {signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A connection that is kept open.
pub(crate) struct Line {
    write: TcpStream,
    read: BufReader<TcpStream>,
}

impl Line {
    pub(crate) fn open(address: SocketAddr) -> Line {
        let write = TcpStream::connect(address).expect("a connection");
        write.set_nodelay(true).expect("no delay");
        let read = BufReader::new(write.try_clone().expect("a second handle"));
        Line { write, read }
    }

    /// Sends a request and answers the status of its answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> u16 {
        self.write.write_all(request).expect("the request is taken");
        let mut line = String::new();
        self.read.read_line(&mut line).expect("a status line");
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let mut length = 0;
        loop {
            line.clear();
            self.read.read_line(&mut line).expect("a header");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.read.read_exact(&mut body).expect("a body");
        status
    }
}
