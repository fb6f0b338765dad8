//! Signed requests as they stand on the wire, made before anything is timed.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use verify::Secret;

use crate::bodies::Bodies;

/// A request on the wire: its head with the beginning of its body, and the rest of the body, which several may share.
pub(crate) struct Request {
    pub(crate) head: Vec<u8>,
    ending: Arc<[u8]>,
    cut: usize,
    /// Where the body begins in `head`.
    body_at: usize,
}

impl Request {
    pub(crate) fn rest(&self) -> &[u8] {
        &self.ending[self.cut..]
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        [&self.head[self.body_at..], self.rest()].concat()
    }

    /// The header lines, names in lower case, in the order of the wire.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let text = String::from_utf8_lossy(&self.head[..self.body_at]);
        let pairs = text.lines().skip(1).filter_map(|line| line.split_once(": "));
        pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect()
    }
}

/// How a request proves who sends it.
#[derive(Clone, Debug)]
pub(crate) enum Sign {
    Github,
    Hermes,
    None,
    /// A header of any name; its value holds one of [`MARKS`], which is replaced.
    Header(String, String),
}

/// What stands for the digest, or for the secret itself, in the value of a header.
const MARKS: [&str; 3] = ["hmac-sha256-hex", "hmac-sha256-base64", "secret"];

impl FromStr for Sign {
    type Err = String;

    fn from_str(text: &str) -> Result<Sign, String> {
        match (text, text.split_once('=')) {
            ("github", _) => Ok(Sign::Github),
            ("hermes", _) => Ok(Sign::Hermes),
            ("none", _) => Ok(Sign::None),
            (_, Some((name, value))) if MARKS.iter().any(|mark| value.contains(mark)) => {
                Ok(Sign::Header(name.to_owned(), value.to_owned()))
            }
            _ => Err(format!("use github, hermes, none, or HEADER=VALUE with one of {MARKS:?} in the value")),
        }
    }
}

/// What all requests of one measurement have in common.
pub(crate) struct Shape {
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) sign: Sign,
    pub(crate) secret: String,
    /// Further headers; `{id}` stands for the request's id.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) bodies: Bodies,
}

impl Shape {
    /// To a route of a gateway of ours, signed as GitHub does.
    pub(crate) fn github(route: &str, secret: &str, body_bytes: usize) -> Shape {
        Shape {
            host: "localhost".into(),
            path: format!("/webhooks/{route}"),
            sign: Sign::Github,
            secret: secret.into(),
            headers: Vec::new(),
            bodies: Bodies::new(body_bytes),
        }
    }

    pub(crate) fn make(&self, id: &str, number: usize) -> Request {
        let (start, ending, cut) = self.bodies.make(id, number);
        let body = [start.as_bytes(), &ending[cut..]].concat();
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            self.path,
            self.host,
            body.len()
        );
        for (name, value) in self.proof(id, &body) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {}\r\n", value.replace("{id}", id));
        }
        head.push_str("\r\n");
        let body_at = head.len();
        head.push_str(&start);
        Request { head: head.into_bytes(), ending, cut, body_at }
    }

    /// `count` requests with ids that no other prefix has, dealt out to `connections`.
    pub(crate) fn deal(&self, prefix: &str, count: usize, connections: usize) -> Vec<Vec<Request>> {
        let mut dealt: Vec<Vec<Request>> = (0..connections).map(|_| Vec::new()).collect();
        for number in 0..count {
            dealt[number % connections].push(self.make(&format!("{prefix}-{number}"), number));
        }
        dealt
    }

    fn proof(&self, id: &str, body: &[u8]) -> Vec<(String, String)> {
        let secret = Secret::new(&*self.secret);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match &self.sign {
            Sign::None => Vec::new(),
            Sign::Github => vec![
                pair("X-GitHub-Event", "push"),
                pair("X-GitHub-Delivery", id),
                pair("X-Hub-Signature-256", &verify::sign::github(&secret, body)),
            ],
            Sign::Hermes => vec![
                pair("X-Hermes-Event", "push"),
                pair("X-Hermes-Delivery", id),
                pair("X-Hermes-Signature-256", &verify::sign::hermes(&secret, body)),
            ],
            Sign::Header(name, value) => {
                let signature = verify::sign::github(&secret, body);
                let hex = signature.trim_start_matches("sha256=");
                let base64 = base64::engine::general_purpose::STANDARD.encode(bytes(hex));
                let facts = [hex, base64.as_str(), self.secret.as_str()];
                let found = MARKS.iter().zip(facts).find(|(mark, _)| value.contains(**mark));
                found.map(|(mark, fact)| pair(name, &value.replace(mark, fact))).into_iter().collect()
            }
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| u8::try_from(d).unwrap_or(0)).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
