//! `doorbell verify --batch`: a request a line, a verdict a line.

use std::io::BufRead as _;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use verify::Request;

use crate::cli::out;

/// A recorded request. What is null or absent was not given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    id: Value,
    source: String,
    secret: Option<String>,
    public_key: Option<String>,
    /// No source that is built in signs it.
    #[serde(rename = "url")]
    _url: Option<String>,
    /// No source that is built in signs it.
    #[serde(rename = "method")]
    _method: Option<String>,
    headers: Option<Map<String, Value>>,
    body_base64: Option<String>,
    /// Unix seconds; without it the clock is not judged.
    now: Option<i64>,
    options: Option<Map<String, Value>>,
}

/// Judges every line of standard input. Fails at the end when a line could not be read.
pub(super) fn run() -> anyhow::Result<()> {
    let mut unreadable = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.context("cannot read standard input")?;
        if line.trim().is_empty() {
            continue;
        }
        let verdict = match serde_json::from_str::<Row>(&line) {
            Ok(row) => {
                let id = row.id.clone();
                let reason = judge(row).err();
                json!({"id": id, "valid": reason.is_none(), "reason": reason})
            }
            Err(error) => {
                unreadable += 1;
                let id = serde_json::from_str(&line).map_or(Value::Null, |line: Value| line["id"].clone());
                json!({"id": id, "valid": false, "reason": format!("not a request: {error}")})
            }
        };
        out::line(&verdict.to_string())?;
    }
    anyhow::ensure!(unreadable == 0, "{unreadable} of the lines are not requests");
    Ok(())
}

/// The error is the reason for which the request is not believed.
fn judge(row: Row) -> Result<(), String> {
    if row.public_key.is_some() {
        return Err("public_key: not supported".to_owned());
    }
    let headers = headers(row.headers.unwrap_or_default())?;
    let body = STANDARD.decode(row.body_base64.unwrap_or_default()).map_err(|_| "body_base64 is not base64")?;
    let secrets = row.secret.into_iter().collect();
    let verifier = super::verifier(row.source, secrets, row.options.unwrap_or_default(), row.now.is_some());
    let verifier = verifier.map_err(|error| error.to_string())?;
    let now_ms = row.now.unwrap_or_default().saturating_mul(1000);
    let verdict = verifier.verify(&Request { headers: &headers, body: &body }, now_ms);
    verdict.map(drop).map_err(|refused| refused.reason)
}

/// A header's value is a text, or a list of texts when it was sent several times.
fn headers(written: Map<String, Value>) -> Result<Vec<(String, String)>, String> {
    let mut headers = Vec::new();
    for (name, value) in written {
        let values = match value {
            Value::Array(values) => values,
            one => vec![one],
        };
        for value in values {
            let Value::String(value) = value else { return Err(format!("headers.{name}: not a text")) };
            headers.push((name.to_ascii_lowercase(), value));
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(row: Value) -> Result<(), String> {
        judge(serde_json::from_value(row).unwrap())
    }

    /// The example of GitHub's own page.
    fn github() -> Value {
        json!({
            "id": "1", "source": "github", "secret": "It's a Secret to Everybody", "method": "POST", "url": null,
            "headers": {"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
            "body_base64": "SGVsbG8sIFdvcmxkIQ==", "now": null, "options": null, "public_key": null,
        })
    }

    #[test]
    fn a_row_is_judged_by_its_source() {
        assert_eq!(judged(github()), Ok(()));
        let mut wrong = github();
        wrong["body_base64"] = "SGVsbG8=".into();
        assert!(judged(wrong).is_err());
        let mut twice = github();
        twice["headers"]["X-Hub-Signature-256"] = json!(["sha256=00", "sha256=01"]);
        assert!(judged(twice).unwrap_err().contains("2 times"));
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let with = |key: &str, value: Value| {
            let mut row = github();
            row[key] = value;
            judged(row).unwrap_err()
        };
        assert!(with("source", "githib".into()).contains("did you mean `github`"));
        assert!(with("public_key", "k".into()).contains("not supported"));
        assert!(with("secret", Value::Null).contains("secret"));
        assert!(with("body_base64", "?".into()).contains("base64"));
        assert!(with("options", json!({"x": 1})).contains("options"));
    }
}
