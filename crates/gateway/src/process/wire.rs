//! What the gateway and a warden say to each other.
//!
//! To the warden's standard input: one line of JSON ([`Order`]), then `stdin_bytes` bytes for the program, then control bytes,
//! some with an argument; the end of the stream means that the gateway has gone. From its standard output: frames of a tag (one byte), a
//! length (4 bytes, big-endian) and so many bytes.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

/// Control byte: end the program and all that it started.
pub(super) const STOP: u8 = b'T';

/// Control byte: the program may run until the moment that follows, in 8 bytes, big-endian (see `permit.rs`).
pub(super) const PERMIT: u8 = b'P';

/// Frame: the program has started; its process id, which is its group's too, in 4 bytes, big-endian.
pub(super) const STARTED: u8 = b'S';
/// Frame: bytes of its standard output.
pub(super) const STDOUT: u8 = b'O';
/// Frame: bytes of its standard error.
pub(super) const STDERR: u8 = b'E';
/// Frame: it has ended, as JSON ([`End`]). The last one.
pub(super) const END: u8 = b'X';

/// The largest frame; output comes in pieces well below it.
pub(super) const LARGEST_FRAME: u32 = 1 << 20;

/// What to start.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) argv: Vec<String>,
    /// The whole environment; nothing else is inherited.
    pub(super) env: Vec<(String, String)>,
    pub(super) cwd: Option<String>,
    pub(super) stdin_bytes: usize,
    pub(super) timeout_ms: u64,
    /// The moment until which the program may run, if the gateway does not say another one.
    pub(super) permitted_until: u64,
    /// Between the polite signal and the one that cannot be refused.
    pub(super) grace_ms: u64,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    Code(i32),
    Signal(i32),
    TimedOut,
    Stopped,
    NotStarted(String),
    /// The machine was short of something; nothing was started.
    NoMeans(String),
}

pub(super) fn write_frame(out: &mut impl Write, tag: u8, bytes: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| std::io::ErrorKind::InvalidInput)?;
    let mut head = [tag, 0, 0, 0, 0];
    head[1..].copy_from_slice(&length.to_be_bytes());
    out.write_all(&head)?;
    out.write_all(bytes)?;
    out.flush()
}

/// Reads the order's line, byte by byte up to the line feed, so that nothing behind it is swallowed.
pub(super) fn read_order(from: &mut impl Read) -> std::io::Result<Order> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        from.read_exact(&mut byte)?;
        if byte[0] == b'\n' {
            return serde_json::from_slice(&line).map_err(Into::into);
        }
        line.push(byte[0]);
    }
}
