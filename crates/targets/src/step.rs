//! What is to be done to deliver one message.

use std::fmt;

use crate::mask::{self, Mask};

/// What a plan needs to know about the gateway.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Doorbell's home folder, absolute.
    pub home: &'a str,
    /// Now, in Unix milliseconds.
    pub now_ms: i64,
    /// The variables that a program may inherit: the gateway's environment, already reduced to the allow list that
    /// agents have too.
    pub environment: &'a [(String, String)],
}

/// A message that this target cannot be told, whenever it is tried; the text says which value is missing or wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

/// The one thing to do. The same message gives the same step on every attempt (timestamps of signatures excepted).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Write this to the gateway's log, as one line without control characters.
    Log {
        /// The line.
        line: String,
    },
    /// Add a line to a file.
    Append(Append),
    /// Make a request.
    Http(Http),
    /// Run a program.
    Process(Process),
}

/// A line to be added to a file with one write; the file and its folders are made when missing.
#[derive(Clone, PartialEq, Eq)]
pub struct Append {
    /// The file's path, absolute when the home is.
    pub path: String,
    /// The line, its end included.
    pub line: String,
}

/// A request; no redirect is followed.
#[derive(Clone, PartialEq, Eq)]
pub struct Http {
    /// Its method.
    pub method: &'static str,
    /// Its address; may hold credentials, so people are shown [`Http::shown_url`].
    pub url: String,
    /// Its headers, valid as such, in order.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
    pub(crate) mask: Mask,
}

/// A program to be run.
#[derive(Clone, PartialEq, Eq)]
pub struct Process {
    /// The program and its arguments; never empty, never through a shell.
    pub argv: Vec<String>,
    /// The whole environment, sorted by name: nothing else is inherited.
    pub env: Vec<(String, String)>,
    /// The folder to run in; none = the gateway's own.
    pub cwd: Option<String>,
    /// What to write on stdin before closing it.
    pub stdin: String,
    pub(crate) mask: Mask,
}

impl Step {
    /// `text`, which may quote the step, without its credentials.
    pub fn masked(&self, text: &str) -> String {
        match self {
            Step::Log { .. } | Step::Append(_) => text.to_owned(),
            Step::Http(http) => http.mask.apply(text),
            Step::Process(process) => process.mask.apply(text),
        }
    }
}

impl Http {
    /// Where the request goes, without user, path and query.
    pub fn shown_url(&self) -> String {
        mask::shown(&self.url)
    }
}

impl fmt::Debug for Append {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Append").field("path", &self.path).field("bytes", &self.line.len()).finish()
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("method", &self.method)
            .field("url", &self.shown_url())
            .field("headers", &names(&self.headers))
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("argv", &self.argv)
            .field("env", &names(&self.env))
            .field("cwd", &self.cwd)
            .field("stdin_bytes", &self.stdin.len())
            .finish_non_exhaustive()
    }
}

fn names(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().map(|(name, _)| name.as_str()).collect()
}
