//! Reading what stands under `targets.<name>`, so that everything wrong with it is told at once.

use serde_json::{Map, Value};
use span::Span;

use crate::kind::Kind;

/// One thing wrong with a target's settings or with the values a route gives it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct TargetError {
    /// The key, below `targets.<name>` or `deliver_extra`; empty for the whole.
    pub key: String,
    /// What is wrong and what to do; never holds a value of a credential.
    pub message: String,
    /// The known word that is nearest to an unknown one, if one is near.
    pub nearest: Option<String>,
}

impl TargetError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), nearest: None }
    }
}

/// Below this likeness a suggestion would be a guess.
const LIKE: f64 = 0.8;

/// The word of `known` that is most like `word`.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|other| (strsim::jaro_winkler(word, other), other)).filter(|(score, _)| *score >= LIKE);
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other.to_owned())
}

/// A target's settings while they are read. `null` and the empty text mean "not given".
pub(crate) struct Options<'a> {
    fields: &'a Map<String, Value>,
    errors: Vec<TargetError>,
}

impl<'a> Options<'a> {
    pub(crate) fn new(fields: &'a Map<String, Value>) -> Self {
        Self { fields, errors: Vec::new() }
    }

    /// Notes every key that `kind` does not know.
    pub(crate) fn refuse_unknown(&mut self, kind: &Kind) {
        let known: Vec<&str> = kind.all_keys().map(|key| key.name).collect();
        for key in self.fields.keys().filter(|key| !known.contains(&key.as_str())) {
            let message = format!("unknown key for a target of kind `{}`; known: {}", kind.name, known.join(", "));
            let nearest = nearest(key, known.iter().copied());
            self.errors.push(TargetError { key: key.clone(), message, nearest });
        }
    }

    /// Notes something wrong.
    pub(crate) fn error(&mut self, key: &str, message: impl Into<String>) {
        self.errors.push(TargetError::new(key, message));
    }

    /// All that was noted.
    pub(crate) fn into_errors(self) -> Vec<TargetError> {
        self.errors
    }

    fn given(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key).filter(|value| is_given(value))
    }

    fn wrong(&mut self, key: &str, wanted: &str, found: &Value) {
        self.error(key, format!("expected {wanted}, found {}", shape_of(found)));
    }

    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        let value = self.given(key)?;
        let text = text_of(value);
        if text.is_none() {
            self.wrong(key, "a text", value);
        }
        text
    }

    /// One of `words`; the first is the default.
    pub(crate) fn one_of(&mut self, key: &str, words: &[&'static str]) -> &'static str {
        let first = words.first().copied().unwrap_or_default();
        let Some(text) = self.text(key) else { return first };
        if let Some(word) = words.iter().find(|word| **word == text) {
            return word;
        }
        let message = format!("unknown value `{text}`; known: {}", words.join(", "));
        self.errors.push(TargetError { key: key.to_owned(), message, nearest: nearest(&text, words.iter().copied()) });
        first
    }

    pub(crate) fn texts(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.given(key) else { return Vec::new() };
        let texts = value.as_array().and_then(|all| all.iter().map(text_of).collect());
        texts.unwrap_or_else(|| {
            self.wrong(key, "a list of texts", value);
            Vec::new()
        })
    }

    pub(crate) fn pairs(&mut self, key: &str) -> Vec<(String, String)> {
        let Some(value) = self.given(key) else { return Vec::new() };
        let pair = |(name, value): (&String, &Value)| Some((name.clone(), text_of(value)?));
        let pairs = value.as_object().and_then(|all| all.iter().map(pair).collect());
        pairs.unwrap_or_else(|| {
            self.wrong(key, "a mapping of names to texts", value);
            Vec::new()
        })
    }

    pub(crate) fn span(&mut self, key: &str, default: Span) -> Span {
        let Some(value) = self.given(key) else { return default };
        serde_json::from_value(value.clone()).unwrap_or_else(|error| {
            self.error(key, error.to_string());
            default
        })
    }

    pub(crate) fn count(&mut self, key: &str, default: u32) -> u32 {
        let Some(value) = self.given(key) else { return default };
        let count = text_of(value).and_then(|text| text.parse().ok()).filter(|count| *count > 0);
        count.unwrap_or_else(|| {
            self.error(key, "expected a whole number from 1");
            default
        })
    }

    pub(crate) fn flag(&mut self, key: &str) -> bool {
        let Some(value) = self.given(key) else { return false };
        value.as_bool().unwrap_or_else(|| {
            self.wrong(key, "true or false", value);
            false
        })
    }
}

/// Whether a value says anything: `null` and the empty text do not.
pub(crate) fn is_given(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// A text as people write it in YAML, where `5` and `true` are no texts but may be meant as such.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn shape_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
