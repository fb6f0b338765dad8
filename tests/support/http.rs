//! A plain HTTP/1.1 client: one request on one connection, every byte as the test says.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::PATIENCE;

/// An answer.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.body))
    }
}

impl Answer {
    /// A header's first value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body, which must be JSON and say so.
    pub(crate) fn json(&self) -> Value {
        let kind = self.header("content-type").unwrap_or_default();
        assert!(
            kind.starts_with("application/json") || kind.starts_with("application/problem+json"),
            "no JSON: {self:?}"
        );
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body, when the status is as it should be.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }
}

/// A request's bytes; `Content-Length` is added unless the headers say where the body ends.
pub(crate) fn request(method: &str, path: &str, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut lines =
        vec![format!("{method} {path} HTTP/1.1"), "Host: 127.0.0.1".to_owned(), "Connection: close".to_owned()];
    lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    let framed =
        |name: &str| name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding");
    if !headers.iter().any(|(name, _)| framed(name)) && (!body.is_empty() || method == "POST") {
        lines.push(format!("Content-Length: {}", body.len()));
    }
    [lines.join("\r\n").as_bytes(), b"\r\n\r\n", body].concat()
}

/// A connection that gives up after [`PATIENCE`].
pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(10))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Makes a request on a connection of its own.
pub(crate) fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> io::Result<Answer> {
    let mut stream = connect(address)?;
    // A server may answer and close before it has all of a large body: the answer is what counts.
    let sent = stream.write_all(&request(method, path, headers, body));
    read_answer(&mut stream, method == "HEAD").map_err(|error| sent.err().unwrap_or(error))
}

/// Reads one answer; interim ones (1xx) are passed over.
pub(crate) fn read_answer(stream: impl Read, without_body: bool) -> io::Result<Answer> {
    let mut reader = BufReader::new(stream);
    loop {
        let status = status_line(&mut reader)?;
        let headers = headers(&mut reader)?;
        if (100..200).contains(&status) {
            continue;
        }
        let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let mut body = Vec::new();
        if without_body || status == 204 || status == 304 {
        } else if header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            body = chunks(&mut reader)?;
        } else if let Some(length) = header("content-length") {
            body.resize(length.parse().map_err(|_| io::ErrorKind::InvalidData)?, 0);
            reader.read_exact(&mut body)?;
        } else {
            reader.read_to_end(&mut body)?;
        }
        return Ok(Answer { status, headers, body });
    }
}

fn line(reader: &mut BufReader<impl Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn status_line(reader: &mut BufReader<impl Read>) -> io::Result<u16> {
    let line = line(reader)?;
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
    status.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("no status line: {line}")))
}

fn headers(reader: &mut BufReader<impl Read>) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            return Ok(headers);
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

fn chunks(reader: &mut BufReader<impl Read>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(reader)?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
        let mut chunk = vec![0; size];
        reader.read_exact(&mut chunk)?;
        line(reader)?;
        if size == 0 {
            return Ok(body);
        }
        body.append(&mut chunk);
    }
}

/// Everything that comes until the other side closes; a reset counts as the end.
pub(crate) fn read_to_end(mut stream: impl Read) -> Vec<u8> {
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut some) {
            Ok(0) => return all,
            Ok(length) => all.extend_from_slice(&some[..length]),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return all,
            Err(error) => panic!("the connection was not closed: {error}; so far {}", String::from_utf8_lossy(&all)),
        }
    }
}
