//! `load drive`: drives any system that takes webhooks, as the gateway is driven.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use clap::Args;

use super::Drive;
use crate::bodies::Bodies;
use crate::request::{Shape, Sign};

/// Sends signed requests to a URL and tells how many were accepted, and how fast
#[derive(Args)]
pub(crate) struct Command {
    /// http://HOST:PORT/PATH
    #[arg(long)]
    to: String,
    /// github, hermes, none, or HEADER=VALUE where the value holds hmac-sha256-hex, hmac-sha256-base64 or secret
    #[arg(long, default_value = "github")]
    sign: Sign,
    /// What the requests are signed with
    #[arg(long, default_value = "")]
    secret: String,
    /// A further header, "Name: value"; {id} in it is the request's own id
    #[arg(long = "header", value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Kept connections, each with one request under way at a time
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Requests over all connections
    #[arg(long, default_value_t = 1000)]
    requests: usize,
    /// Bytes of each body, a JSON document {"id": …, "text": …}
    #[arg(long, default_value_t = 8192)]
    body_bytes: usize,
    /// Requests a second over all connections; without it as fast as they are answered
    #[arg(long)]
    pace: Option<f64>,
    /// Stop after so many seconds, though not all is sent
    #[arg(long)]
    seconds: Option<f64>,
    /// What ids begin with; without it something new each time
    #[arg(long)]
    prefix: Option<String>,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is \"Name: value\"")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Command {
    pub(crate) fn run(self) {
        let (host, path) = parts(&self.to);
        let address = resolve(&host);
        let shape = Shape {
            host,
            path,
            sign: self.sign,
            secret: self.secret,
            headers: self.headers,
            bodies: Bodies::new(self.body_bytes),
        };
        let prefix = self.prefix.unwrap_or_else(|| uuid::Uuid::now_v7().simple().to_string());
        let lists = shape.deal(&prefix, self.requests, self.connections.clamp(1, self.requests.max(1)));
        let drive = Drive { pace: self.pace, ..Drive::to(address) };
        if let Some(seconds) = self.seconds {
            let stop = drive.stop.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs_f64(seconds));
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            });
        }
        let outcome = drive.run(lists);
        let mut line = outcome.to_json();
        line["connections"] = self.connections.into();
        line["body_bytes"] = self.body_bytes.into();
        if self.json {
            return println!("{line}");
        }
        for (name, value) in line.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            println!("{name:<14}{value}");
        }
    }
}

/// Host with port, and path.
fn parts(url: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("{url}: only http:// can be driven"));
    let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    (host, path.to_owned())
}

fn resolve(host: &str) -> SocketAddr {
    let found = host.to_socket_addrs().unwrap_or_else(|error| panic!("{host}: {error}")).collect::<Vec<_>>();
    // Most systems that are measured listen on 127.0.0.1 only.
    let v4 = found.iter().find(|address| address.is_ipv4()).or(found.first());
    *v4.unwrap_or_else(|| panic!("{host} has no address"))
}
