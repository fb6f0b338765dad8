//! What is told about a recorded request, step by step.

use verify::{Request, Verified, Verifier};

use super::recording::Recording;
use crate::cli::table::Table;
use crate::cli::{out, sources};

/// Prints the steps; answers whether the request would be let in.
pub(super) fn print(verifier: &Verifier, recording: &Recording, now_ms: Option<i64>) -> anyhow::Result<bool> {
    let request = Request { headers: &recording.headers, body: &recording.body };
    let judged = verifier.verify(&request, now_ms.unwrap_or_default());
    let mut steps = Table::bare();
    steps.row(["source", &scheme(verifier.source_name())]);
    let names: Vec<&str> = recording.headers.iter().map(|(name, _)| name.as_str()).collect();
    steps.row(["headers", &names.join(", ")]);
    steps.row(["body", &format!("{} bytes", recording.body.len())]);
    recording.notes.iter().for_each(|note| steps.row(["note", note]));
    if now_ms.is_none() {
        steps.row(["clock", "not judged; --at UNIX judges it"]);
    }
    match &judged {
        Ok(verdict) => believed(&mut steps, verifier, verdict, recording),
        Err(refused) => steps.row(["invalid", &refused.reason]),
    }
    out::line(&steps.text())?;
    Ok(judged.is_ok())
}

fn scheme(name: &str) -> String {
    match verify::source(name) {
        Some(source) => format!("{name}: {}", sources::words::scheme(&source.scheme)),
        None => format!("{name}: the first header that is known decides"),
    }
}

fn believed(steps: &mut Table, verifier: &Verifier, verdict: &Verified<'_>, recording: &Recording) {
    let source = verdict.source;
    if verifier.source_name() != source.name {
        steps.row(["chosen", &scheme(source.name)]);
    }
    if verdict.deprecated {
        steps.row(["note", "the sender should leave this scheme for a better one"]);
    }
    steps.row(["valid", if verifier.is_open() { "anyone is believed" } else { "the secret fits" }]);
    let header =
        |wanted: &str| recording.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let plain = payload::inflate(&recording.body, header("content-encoding"), usize::MAX).ok();
    let payload = plain.and_then(|plain| payload::parse(&plain, header("content-type")).ok());
    let Some(payload) = payload else {
        steps.row(["payload", "cannot be parsed: the gateway would answer 400 or 415"]);
        return;
    };
    steps.row(["event", &verify::event_type(source, &recording.headers, &payload)]);
    let id = verify::delivery_id(source, &recording.headers, &payload);
    steps.row(["delivery", id.as_deref().unwrap_or("no id: nothing can be a duplicate of it")]);
}
