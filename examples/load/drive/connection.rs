//! One kept connection of a sender: as little HTTP as a sender needs, so that it costs less than what it measures.

use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::request::Request;

/// Answers are small; a longer line than this is no HTTP.
const LONGEST_LINE: u64 = 64 << 10;

pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: Vec<u8>,
    /// The server closes after its last answer.
    pub(crate) over: bool,
    /// Whether a byte of the answer under way has come.
    pub(crate) answering: bool,
}

/// How long the body of an answer is.
enum Length {
    Bytes(u64),
    Chunks,
    UntilEnd,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), line: Vec::new(), over: false, answering: false })
    }

    /// Sends a request and reads its whole answer, whose status it tells.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<u16> {
        self.answering = false;
        self.send(&request.head, request.rest()).await?;
        loop {
            let (status, length) = self.head().await?;
            // `100 Continue` and its like come before the answer.
            if status >= 200 {
                self.body(if matches!(status, 204 | 304) { Length::Bytes(0) } else { length }).await?;
                return Ok(status);
            }
        }
    }

    /// Both parts in one call to the system where it takes them.
    async fn send(&mut self, head: &[u8], rest: &[u8]) -> io::Result<()> {
        let socket = self.stream.get_mut();
        let sent = socket.write_vectored(&[IoSlice::new(head), IoSlice::new(rest)]).await?;
        if sent < head.len() {
            socket.write_all(&head[sent..]).await?;
        }
        socket.write_all(&rest[sent.saturating_sub(head.len())..]).await
    }

    async fn head(&mut self) -> io::Result<(u16, Length)> {
        let line = self.next_line().await?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "no status line"))?;
        self.over = line.starts_with("HTTP/1.0");
        let mut length = Length::UntilEnd;
        loop {
            let line = self.next_line().await?.to_ascii_lowercase();
            let Some((name, value)) = line.split_once(':') else { break };
            match (name, value.trim()) {
                ("content-length", value) => length = value.parse().map_or(Length::UntilEnd, Length::Bytes),
                ("transfer-encoding", value) if value.contains("chunked") => length = Length::Chunks,
                ("connection", value) => self.over = value.contains("close") || self.over && value != "keep-alive",
                _ => {}
            }
        }
        Ok((status, length))
    }

    async fn body(&mut self, length: Length) -> io::Result<()> {
        match length {
            Length::Bytes(bytes) => self.skip(bytes).await,
            Length::UntilEnd => {
                self.over = true;
                tokio::io::copy(&mut self.stream, &mut tokio::io::sink()).await.map(drop)
            }
            Length::Chunks => loop {
                let line = self.next_line().await?;
                let size = line.split(';').next().unwrap_or_default().trim().to_owned();
                let size = u64::from_str_radix(&size, 16).map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
                if size == 0 {
                    // Trailers, to the empty line.
                    while !self.next_line().await?.is_empty() {}
                    return Ok(());
                }
                self.skip(size + 2).await?;
            },
        }
    }

    async fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = tokio::io::copy(&mut (&mut self.stream).take(bytes), &mut tokio::io::sink()).await?;
        if skipped < bytes { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    async fn next_line(&mut self) -> io::Result<String> {
        self.line.clear();
        let read = (&mut self.stream).take(LONGEST_LINE).read_until(b'\n', &mut self.line).await?;
        self.answering |= read > 0;
        if self.line.last() != Some(&b'\n') {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&self.line).trim_end().to_owned())
    }
}
