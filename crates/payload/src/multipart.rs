//! `multipart/form-data` (RFC 7578, in the frame of RFC 2046 section 5.1) over a body that is in memory already.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::error::ParseError;
use crate::params::Params;
use crate::percent;
use crate::repeat;

/// Most parts of one body.
const MAX_PARTS: usize = 1000;
/// Most bytes of one part's headers.
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// RFC 2046: a boundary has 1 to 70 characters.
const MAX_BOUNDARY_BYTES: usize = 70;

/// Reads the parts of a body: fields are strings, files `{filename, content_type, size}`, repeated names lists.
///
/// # Errors
/// No or a wrong boundary, a body that ends before its last boundary, a part without a name, a field that is not UTF-8,
/// a transfer encoding, or more than the caps allow.
pub(crate) fn parse(body: &[u8], boundary: Option<&str>) -> Result<Value, ParseError> {
    let boundary = boundary.ok_or_else(|| ParseError::whole("multipart", "Content-Type has no boundary"))?;
    if boundary.is_empty() || boundary.len() > MAX_BOUNDARY_BYTES || boundary.contains(['\r', '\n']) {
        return Err(ParseError::whole("multipart", "Content-Type has a boundary that is not valid"));
    }
    let parts = Parts { body, delimiter: format!("\r\n--{boundary}").into_bytes() };
    let mut fields = Map::new();
    let mut next = parts.first()?;
    for _ in 0..MAX_PARTS {
        let Some(start) = next else { return repeat::unwrap_payload(fields) };
        let (headers, content_start) = parts.headers(start)?;
        let (content_end, after) = parts.find_delimiter(content_start)?;
        let (name, value) = field(&headers, &body[content_start..content_end], start)?;
        repeat::add(&mut fields, name, value);
        next = after;
    }
    match next {
        None => repeat::unwrap_payload(fields),
        Some(at) => Err(ParseError::at_byte("multipart", at, format!("more than {MAX_PARTS} parts"))),
    }
}

struct Parts<'a> {
    body: &'a [u8],
    /// Line break, two hyphens and the boundary.
    delimiter: Vec<u8>,
}

/// Where the next part begins; `None` behind the last boundary.
type Next = Option<usize>;

impl<'a> Parts<'a> {
    /// The first delimiter has no line break before it when nothing precedes it.
    fn first(&self) -> Result<Next, ParseError> {
        let line = &self.delimiter[2..];
        if self.body.starts_with(line)
            && let Some(next) = self.after(line.len())
        {
            return Ok(next);
        }
        self.find_delimiter(0).map(|(_, next)| next)
    }

    /// The first delimiter from a place on: where it begins, and what it leads to.
    ///
    /// A delimiter has a carriage return at its start only, so the search never looks at a byte twice.
    fn find_delimiter(&self, from: usize) -> Result<(usize, Next), ParseError> {
        let mut at = from;
        while let Some(found) = self.body[at..].iter().position(|byte| *byte == b'\r') {
            at += found;
            if self.body[at..].starts_with(&self.delimiter)
                && let Some(next) = self.after(at + self.delimiter.len())
            {
                return Ok((at, next));
            }
            at += 1;
        }
        Err(ParseError::at_byte("multipart", self.body.len(), "ends before the last boundary"))
    }

    /// What follows a boundary that ends at a place: `None` when it is only the beginning of a longer line.
    fn after(&self, end: usize) -> Option<Next> {
        let rest = &self.body[end..];
        if rest.starts_with(b"--") {
            return Some(None);
        }
        let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        rest[padding..].starts_with(b"\r\n").then_some(Some(end + padding + 2))
    }

    /// The headers of a part that begins at a place, and where its content begins.
    fn headers(&self, start: usize) -> Result<(Cow<'a, str>, usize), ParseError> {
        let wrong = |what: &'static str| ParseError::at_byte("multipart", start, what);
        let rest = &self.body[start..];
        if rest.starts_with(b"\r\n") {
            return Err(wrong("part without headers"));
        }
        let near = &rest[..rest.len().min(MAX_HEADER_BYTES + 4)];
        let end = near.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or_else(|| wrong("part whose headers do not end, or are longer than 16 KiB"))?;
        let text = std::str::from_utf8(&rest[..end]).map_err(|_| wrong("part whose headers are not UTF-8"))?;
        // A header may go on in a line that begins with a blank.
        let text = if text.contains("\r\n ") || text.contains("\r\n\t") {
            Cow::Owned(text.replace("\r\n ", " ").replace("\r\n\t", " "))
        } else {
            Cow::Borrowed(text)
        };
        Ok((text, start + end + 4))
    }
}

/// One part as a name and its value.
fn field(headers: &str, content: &[u8], start: usize) -> Result<(String, Value), ParseError> {
    let wrong = |what: &'static str| ParseError::at_byte("multipart", start, what);
    let header = |wanted: &str| {
        let lines = headers.split("\r\n").filter_map(|line| line.split_once(':'));
        lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim()).next()
    };
    let disposition = Params::read(header("content-disposition").unwrap_or_default());
    let name = disposition.get("name").filter(|_| disposition.first == "form-data");
    let name = name.ok_or_else(|| wrong("part without `Content-Disposition: form-data` and a name"))?;
    let encoding = header("content-transfer-encoding").unwrap_or("binary").to_ascii_lowercase();
    if !["7bit", "8bit", "binary"].contains(&encoding.as_str()) {
        return Err(wrong("part with a Content-Transfer-Encoding, which forms must not use (RFC 7578 section 4.7)"));
    }
    let filename = match disposition.get("filename*") {
        Some(extended) => Some(decode_extended(extended).ok_or_else(|| wrong("part whose filename* is not valid"))?),
        None => disposition.get("filename").map(str::to_owned),
    };
    let value = if let Some(filename) = filename {
        let content_type = header("content-type").unwrap_or("application/octet-stream");
        json!({ "filename": filename, "content_type": content_type, "size": content.len() })
    } else {
        let text = std::str::from_utf8(content).map_err(|_| wrong("part whose field is not UTF-8"))?;
        Value::String(text.to_owned())
    };
    Ok((name.to_owned(), value))
}

/// The value of a parameter in the form `UTF-8'language'percent-encoded` (RFC 8187 section 3.2).
fn decode_extended(written: &str) -> Option<String> {
    let mut pieces = written.splitn(3, '\'');
    let charset = pieces.next()?;
    let encoded = pieces.nth(1)?;
    if charset.eq_ignore_ascii_case("utf-8") { percent::decode(encoded, false).ok() } else { None }
}

#[cfg(test)]
mod tests;
