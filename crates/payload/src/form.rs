//! `application/x-www-form-urlencoded`, read strictly: lossy decoding would hide from the agent that data is missing.

use serde_json::{Map, Value};

use crate::error::ParseError;
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
    let bytes = written.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = match bytes[at] {
            b'+' => b' ',
            b'%' => {
                let escaped = match (digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
                    (Some(high), Some(low)) => high << 4 | low,
                    _ => return Err(ParseError::at_byte("form", offset + at, "% without two hex digits")),
                };
                at += 2;
                escaped
            }
            other => other,
        };
        decoded.push(byte);
        at += 1;
    }
    String::from_utf8(decoded)
        .map_err(|_| ParseError::at_byte("form", offset, "percent escapes that are not UTF-8 in the field"))
}

fn digit(byte: Option<&u8>) -> Option<u8> {
    let value = char::from(*byte?).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests;
