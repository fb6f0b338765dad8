//! `application/x-www-form-urlencoded`, read strictly: lossy decoding would hide from the agent that data is missing.

use serde_json::{Map, Value};

use crate::error::ParseError;
use crate::percent::{self, Wrong};
use crate::repeat;

/// Most fields of one form, repeated names included.
const MAX_FIELDS: usize = 10_000;

/// Reads a form: values are strings, `+` is a space, a repeated name is a list in its order.
///
/// # Errors
/// An invalid percent escape, bytes that are not UTF-8, or more than [`MAX_FIELDS`] fields.
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    let mut fields = Map::new();
    let mut offset = 0;
    let mut count = 0;
    for pair in text.split('&') {
        if !pair.is_empty() {
            count += 1;
            if count > MAX_FIELDS {
                return Err(ParseError::at_byte("form", offset, format!("more than {MAX_FIELDS} fields")));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name, offset)?;
            let value = decode(value, offset + pair.len() - value.len())?;
            repeat::add(&mut fields, name, Value::String(value));
        }
        offset += pair.len() + 1;
    }
    repeat::unwrap_payload(fields)
}

/// Decodes a name or a value that begins at `offset` of the body.
fn decode(written: &str, offset: usize) -> Result<String, ParseError> {
    percent::decode(written, true).map_err(|wrong| match wrong {
        Wrong::Escape(at) => ParseError::at_byte("form", offset + at, "% without two hex digits"),
        Wrong::NotUtf8 => ParseError::at_byte("form", offset, "percent escapes that are not UTF-8 in the field"),
    })
}

#[cfg(test)]
mod tests;
