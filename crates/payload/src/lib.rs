//! What did they send? Bytes, a content type and a content encoding become one [`serde_json::Value`].
//!
//! Two steps, kept apart because a signature covers the bytes as received: [`inflate()`] undoes `Content-Encoding`
//! within a limit, [`parse`] reads the result by its `Content-Type`. [`parse_json`] reads JSON whatever its label.
//!
//! The input is hostile. Nothing here panics, recursion is bounded by [`MAX_DEPTH`], the time is linear in the length
//! of the body, and no error repeats a byte of it.

mod error;
mod form;
mod inflate;
mod json;
mod kind;
mod multipart;
mod params;
mod percent;
mod repeat;
mod text;
mod xml;

use serde_json::{Map, Value};

pub use error::ParseError;
pub use inflate::{InflateError, inflate};
use kind::{ContentType, Kind};

/// How deeply a payload may nest: brackets of JSON, elements of XML. Every [`Value`] that leaves this crate has at most
/// this many brackets inside one another, so later walks over it may recurse.
pub const MAX_DEPTH: usize = 128;

/// Reads a body by its `Content-Type` header (whole value, parameters included; `None` when there was none).
///
/// | content type | result |
/// |---|---|
/// | none, `application/json`, `text/json`, `…+json` | JSON of any kind, strict RFC 8259 |
/// | `application/x-www-form-urlencoded` | an object of strings; a repeated name is a list |
/// | `multipart/form-data` | fields are strings, files are `{filename, content_type, size}` |
/// | `application/xml`, `text/xml`, `…+xml` | `{root: …}`; attributes `@name`, text beside them `#text` |
/// | other `text/…` | the JSON when it parses, else `{"text": "…"}` |
/// | anything else | the JSON when it parses, else an error |
///
/// A form or multipart body whose field `payload` holds a JSON object or list is that JSON. An empty or blank body is
/// `{}`. Text is UTF-8 whatever charset is declared; a byte-order mark is skipped.
///
/// # Errors
/// The body does not parse, is not UTF-8, or nests deeper than [`MAX_DEPTH`].
pub fn parse(body: &[u8], content_type: Option<&str>) -> Result<Value, ParseError> {
    let declared = ContentType::read(content_type.unwrap_or_default());
    if text::is_blank(body) {
        return Ok(Value::Object(Map::new()));
    }
    match declared.kind() {
        Kind::Multipart => multipart::parse(body, declared.param("boundary")),
        Kind::Json => json::parse(text::decode(body, &declared)?),
        Kind::Form => form::parse(text::decode(body, &declared)?),
        Kind::Xml => xml::parse(text::decode(body, &declared)?),
        Kind::Text => text::parse(text::decode(body, &declared)?),
        Kind::Other => match text::decode(body, &declared).and_then(json::parse) {
            Err(why) if !why.is_too_deep() => Err(declared.unreadable()),
            result => result,
        },
    }
}

/// Reads a body as JSON whatever its content type: strict RFC 8259, numbers with their text as written, objects in
/// their order, of duplicate keys the last, an unpaired surrogate escape as U+FFFD; an empty or blank body is `{}`.
///
/// Use this instead of `serde_json::from_slice` to read a payload back: that one refuses 128 levels, writes `1e400` as
/// `1e+400`, and takes an object with the key `$serde_json::private::Number` for a number.
///
/// # Errors
/// The body is not JSON, is not UTF-8, or nests deeper than [`MAX_DEPTH`].
pub fn parse_json(body: &[u8]) -> Result<Value, ParseError> {
    parse(body, None)
}
