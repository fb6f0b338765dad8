//! What a command prints: data on standard output, everything else on standard error.

use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

use serde_json::Value;

/// Everything that there is to say has been said: exit 1 without a further word.
#[derive(Debug, thiserror::Error)]
#[error("failed")]
pub(super) struct Said;

/// Nobody reads standard output any more (`doorbell events list | head`): nothing is wrong, and nothing more to do.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads the output")]
struct Unread;

/// Prints bytes as they are.
pub(super) fn bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Unread.into()),
        Err(error) => Err(anyhow::Error::new(error).context("cannot write to standard output")),
    }
}

/// Prints a line, or lines.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    bytes(format!("{text}\n").as_bytes())
}

/// Prints a value as JSON for programs, indented so that people can read it too.
pub(super) fn json(value: &Value) -> anyhow::Result<()> {
    line(&rules::shown::pretty(value))
}

/// Prints a whole listing as JSON.
pub(super) fn listing(items: impl IntoIterator<Item = Value>) -> anyhow::Result<()> {
    json(&serde_json::json!({"items": items.into_iter().collect::<Vec<_>>(), "next": null}))
}

/// Says something to people.
pub(super) fn note(text: &str) {
    // When nobody can be told, the exit status still says how it went.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says what went wrong, and gives the exit status for it.
pub(super) fn failure(error: &anyhow::Error) -> ExitCode {
    if error.is::<Unread>() {
        return ExitCode::SUCCESS;
    }
    if !error.is::<Said>() {
        note(&format!("doorbell: {error:#}"));
    }
    ExitCode::FAILURE
}
