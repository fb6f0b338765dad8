//! `doorbell verify`: whether a recorded request would be let in, and why not.

mod batch;
mod recording;
mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value};
use verify::{Secret, Settings, Verifier};

use super::out;

const BATCH: &str = "Judge JSON lines from standard input, each {id, source, secret, headers, body_base64, now, options}; \
                     print {id, valid, reason} for each";

#[derive(Args)]
#[command(after_help = "A recorded request is the request as it goes over the wire: request line, headers, an empty \
                        line, then the body byte for byte.")]
pub(super) struct Verify {
    /// Which way it is signed (`doorbell sources` lists them)
    #[arg(long, value_name = "NAME", required_unless_present = "batch")]
    source: Option<String>,
    /// The secret; several when any of them may match
    #[arg(long = "secret", value_name = "SECRET")]
    secrets: Vec<String>,
    /// An option of the source
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
    /// Judge the clock as if it were this time, in Unix seconds; without it the clock is not judged
    #[arg(long, value_name = "UNIX")]
    at: Option<i64>,
    /// The recorded request, - for standard input
    #[arg(long, value_name = "FILE", required_unless_present = "batch")]
    file: Option<PathBuf>,
    #[arg(long, help = BATCH, conflicts_with_all = ["source", "secrets", "options", "at", "file"])]
    batch: bool,
}

impl Verify {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (Some(source), Some(file)) = (self.source, self.file) else {
            return batch::run();
        };
        let verifier = verifier(source, self.secrets, options(self.options), self.at.is_some())?;
        let recording = recording::read(&read(&file)?)?;
        let now_ms = self.at.map(|at| at.saturating_mul(1000));
        if report::print(&verifier, &recording, now_ms)? { Ok(()) } else { Err(out::Said.into()) }
    }
}

/// Makes a verifier. Without a clock, a request of any age passes.
fn verifier(
    source: String,
    secrets: Vec<String>,
    options: Map<String, Value>,
    with_clock: bool,
) -> Result<Verifier, verify::SettingsError> {
    let secrets = secrets.into_iter().map(Secret::new).collect();
    let tolerance = (!with_clock).then_some(Duration::MAX);
    Verifier::new(&Settings { source, secrets, tolerance, options })
}

fn options(given: Vec<(String, String)>) -> Map<String, Value> {
    given.into_iter().map(|(key, value)| (key, Value::String(value))).collect()
}

fn option(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, such as header=X-Signature")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    super::input::read(file).with_context(|| format!("cannot read the request from {}", file.display()))
}
