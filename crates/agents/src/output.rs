//! What an agent said, read from its stdout.

use serde_json::{Map, Value};

use crate::options::Output;

/// A run's answer and what the agent tells about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The answer, trimmed; may be empty when `silent`.
    pub text: String,
    /// The agent asks for nothing to be delivered.
    pub silent: bool,
    /// The session that the agent used, in its own words.
    pub session_id: Option<String>,
    /// What the run cost, in US dollars, zero or more.
    pub cost_usd: Option<f64>,
    /// What the run used: the agent's own object, such as `{"input_tokens": 3}`.
    pub usage: Option<Value>,
}

/// Why an output is no answer. The messages never hold the output itself: it may hold anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// Nothing but blanks, or JSON without an answer that does not say `silent`.
    #[error("empty_answer: the agent ended well but printed no answer")]
    EmptyAnswer,
    /// `output: json`, and stdout is not one JSON object.
    #[error("the output is not one JSON object: {0}")]
    NotJson(String),
    /// `output: json`, and a field has another shape than promised.
    #[error("`{field}` in the output is not {wanted}")]
    WrongField {
        /// The field's name.
        field: &'static str,
        /// What it should have been.
        wanted: &'static str,
    },
    /// `output: json`, and more was printed than `max_output_bytes` keeps.
    #[error("the output is longer than max_output_bytes ({0} bytes), and JSON that was cut cannot be read")]
    CutJson(u64),
}

/// Reads `stdout`. `cut` is the limit in bytes when more was printed than was kept.
///
/// Bytes that are not UTF-8 become U+FFFD in a text; in JSON they are an error.
pub fn read(kind: Output, stdout: &[u8], cut: Option<u64>) -> Result<Answer, OutputError> {
    match (kind, cut) {
        (Output::Text, _) => text(stdout, cut),
        (Output::Json, None) => json(stdout),
        (Output::Json, Some(limit)) => Err(OutputError::CutJson(limit)),
    }
}

fn text(stdout: &[u8], cut: Option<u64>) -> Result<Answer, OutputError> {
    let kept = if cut.is_some() { whole_characters(stdout) } else { stdout };
    let kept = String::from_utf8_lossy(kept);
    let kept = kept.trim();
    if kept.is_empty() {
        return Err(OutputError::EmptyAnswer);
    }
    let text = match cut {
        Some(limit) => format!("{kept}\n[output cut at {limit} bytes]"),
        None => kept.to_owned(),
    };
    Ok(Answer { text, ..Answer::default() })
}

/// `bytes` without a character that was torn at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(last) => {
            let torn = last.invalid();
            // A broken byte that is no beginning of a character stays, as it would anywhere else.
            let begins = matches!(torn.first(), Some(0xC2..=0xF4));
            if begins { &bytes[..bytes.len() - torn.len()] } else { bytes }
        }
        None => bytes,
    }
}

fn json(stdout: &[u8]) -> Result<Answer, OutputError> {
    if stdout.trim_ascii().is_empty() {
        return Err(OutputError::EmptyAnswer);
    }
    // The parser's message gives line and column, and quotes nothing.
    let value: Value = serde_json::from_slice(stdout).map_err(|error| OutputError::NotJson(error.to_string()))?;
    let Value::Object(fields) = value else {
        return Err(OutputError::NotJson("it is JSON, but not an object".to_owned()));
    };
    let text = text_field(&fields, "answer")?.unwrap_or_default().trim().to_owned();
    let silent = silent(&fields)?;
    if text.is_empty() && !silent {
        return Err(OutputError::EmptyAnswer);
    }
    let session_id = text_field(&fields, "session_id")?.filter(|id| !id.is_empty()).map(str::to_owned);
    Ok(Answer { text, silent, session_id, cost_usd: cost(&fields)?, usage: usage(&fields)? })
}

fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn text_field<'a>(fields: &'a Map<String, Value>, name: &'static str) -> Result<Option<&'a str>, OutputError> {
    let wrong = OutputError::WrongField { field: name, wanted: "a text" };
    field(fields, name).map(|value| value.as_str().ok_or(wrong)).transpose()
}

fn silent(fields: &Map<String, Value>) -> Result<bool, OutputError> {
    let wrong = OutputError::WrongField { field: "silent", wanted: "true or false" };
    field(fields, "silent").map_or(Ok(false), |value| value.as_bool().ok_or(wrong))
}

fn cost(fields: &Map<String, Value>) -> Result<Option<f64>, OutputError> {
    let wrong = OutputError::WrongField { field: "cost_usd", wanted: "a number of dollars, 0 or more" };
    let number = |value: &Value| value.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0).ok_or(wrong);
    field(fields, "cost_usd").map(number).transpose()
}

fn usage(fields: &Map<String, Value>) -> Result<Option<Value>, OutputError> {
    match field(fields, "usage") {
        None => Ok(None),
        Some(usage @ Value::Object(_)) => Ok(Some(usage.clone())),
        Some(_) => Err(OutputError::WrongField { field: "usage", wanted: "an object" }),
    }
}

#[cfg(test)]
mod tests;
