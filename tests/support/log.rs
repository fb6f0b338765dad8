//! The lines that a gateway wrote, in memory.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Lines of all lives of one gateway.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Takes lines from a stream until its end.
    pub(super) fn follow(&self, stream: impl Read + Send + 'static) {
        let log = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n') {
                let Ok(line) = line else { return };
                log.push(String::from_utf8_lossy(&line).into_owned());
            }
        });
    }

    /// Adds a line.
    pub(super) fn push(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// All of it.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// The last lines, for a test that failed.
    pub(super) fn tail(&self, lines: usize) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}
