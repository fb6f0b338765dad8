//! Templates: text with `{placeholders}` that a payload fills.
//!
//! A placeholder is a name between braces, of letters, digits, `_` and `-`, with dots between its parts:
//! `{pull_request.labels.0.name}`. Everything else, braces included, is text and stays as it is; `{{x}}` is `{`, the
//! placeholder `{x}`, `}`. A template is read once, when the configuration is, and filled in one pass: what is inserted
//! is never looked at again, so a payload cannot bring placeholders of its own.

mod default_prompt;
pub mod exact;
mod name;
pub mod tree;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

pub use default_prompt::default_prompt;
use exact::Exact;
use name::{Found, Name};

use crate::shown;

/// Everything a placeholder may stand for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The payload, after the route's script. `{a.b.0}` walks it, `{__raw__}` is all of it.
    pub payload: &'a Value,
    /// `{event_type}`.
    pub event_type: &'a str,
    /// `{route}`.
    pub route: &'a str,
    /// `{delivery_id}`.
    pub delivery_id: &'a str,
    /// `{event_id}`, with its `ev_`.
    pub event_id: &'a str,
    /// `{headers.Name}`: lower-cased names, in the order they came.
    pub headers: &'a [(String, String)],
    /// `{body_sha256}`: of the bytes as received, in lower-case hexadecimal.
    pub body_sha256: &'a str,
}

/// A text with placeholders, read once and filled many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Range<usize>),
    Placeholder { written: Range<usize>, name: Name },
}

/// A filled template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text. A placeholder that did not resolve stands in it as it was written. U+0000 has become U+FFFD, which
    /// every target and every process takes.
    pub text: String,
    /// The placeholders that did not resolve, as written, braces included, each once, in order.
    pub unresolved: Vec<String>,
}

/// How strictly a template is filled.
#[derive(Clone, Copy)]
struct Fill {
    /// Whether long parts are cut, as in everything that is read.
    cut: bool,
    /// Whether `null` counts as a value, as in everything that is read. Where the text picks something, it does not.
    null: bool,
}

/// For a reader.
const SHOWN: Fill = Fill { cut: true, null: true };
/// For a place to send to: never to a chat called `null`.
const ADDRESS: Fill = Fill { cut: true, null: false };
/// For telling values apart: a cut would make different ones equal.
const EXACT: Fill = Fill { cut: false, null: false };

struct Filled {
    text: String,
    unresolved: Vec<String>,
    /// The length in bytes of each inserted text.
    lengths: Vec<usize>,
}

impl Template {
    /// Reads a template. Any text is one.
    pub fn parse(source: &str) -> Self {
        Self { pieces: pieces(source), source: source.to_owned() }
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it has no placeholder, so that it gives the same text for every event.
    pub fn is_plain(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Placeholder { .. }))
    }

    /// Fills it for a reader. Strings go in as they are, everything else as JSON (numbers with every digit, `null`,
    /// `true`), objects and lists indented and cut at [`shown::PART_LIMIT`] characters, `{__raw__}` at
    /// [`shown::WHOLE_LIMIT`] with a line that says so. Names of the gateway's own go before keys of the payload, which
    /// `{payload.route}` still reaches.
    pub fn render(&self, scope: &Scope) -> Rendered {
        let filled = self.fill(scope, SHOWN);
        Rendered { text: filled.text, unresolved: filled.unresolved }
    }

    /// Fills it for telling events apart: nothing is cut. `None` when a placeholder does not resolve or is `null`, or
    /// when only blanks are left: then there is nothing to tell them apart by.
    pub fn exact(&self, scope: &Scope) -> Option<Exact> {
        let filled = self.fill(scope, EXACT);
        let usable = filled.unresolved.is_empty() && !filled.text.trim().is_empty();
        usable.then_some(Exact { text: filled.text, lengths: filled.lengths })
    }

    fn fill(&self, scope: &Scope, how: Fill) -> Filled {
        let mut filled = Filled { text: String::new(), unresolved: Vec::new(), lengths: Vec::new() };
        let mut whole = None;
        for piece in &self.pieces {
            let (written, name) = match piece {
                Piece::Text(range) => {
                    filled.text.push_str(&self.source[range.clone()]);
                    continue;
                }
                Piece::Placeholder { written, name } => (&self.source[written.clone()], name),
            };
            let before = filled.text.len();
            match name.find(scope) {
                None => filled.leave(written),
                Some(Found::Json(Value::Null)) if !how.null => filled.leave(written),
                Some(Found::Text(text)) => filled.text.push_str(&text),
                // The same text however often it is asked for: written once.
                Some(Found::Whole) => filled.text.push_str(whole.get_or_insert_with(|| payload(scope.payload, how))),
                Some(Found::Json(value)) => filled.text.push_str(&json(value, how)),
            }
            filled.lengths.push(filled.text.len() - before);
        }
        if filled.text.contains('\0') {
            filled.text = filled.text.replace('\0', "\u{fffd}");
        }
        filled
    }
}

impl Filled {
    fn leave(&mut self, written: &str) {
        self.text.push_str(written);
        if !self.unresolved.iter().any(|known| known == written) {
            self.unresolved.push(written.to_owned());
        }
    }
}

fn payload(payload: &Value, how: Fill) -> String {
    if how.cut { shown::whole(payload) } else { shown::pretty(payload) }
}

fn json(value: &Value, how: Fill) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(_) | Value::Object(_) if how.cut => Cow::Owned(shown::part(value)),
        _ => Cow::Owned(shown::pretty(value)),
    }
}

/// Splits a template at its placeholders.
fn pieces(source: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = 0;
    for (open, _) in source.match_indices('{') {
        let inside = &source[open + 1..];
        let length = inside.find(|c| !name::may_contain(c)).unwrap_or(inside.len());
        if !inside[length..].starts_with('}') {
            continue;
        }
        let Some(name) = Name::parse(&inside[..length]) else { continue };
        let end = open + length + 2;
        if text < open {
            pieces.push(Piece::Text(text..open));
        }
        pieces.push(Piece::Placeholder { written: open..end, name });
        text = end;
    }
    if text < source.len() {
        pieces.push(Piece::Text(text..source.len()));
    }
    pieces
}

#[cfg(test)]
mod tests;
