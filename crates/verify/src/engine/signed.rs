//! What a signature covers: literal text with placeholders, as bytes that are never copied.

use crate::options::is_header_name;
use crate::request::Request;
use crate::verdict::Refused;

/// What is signed, in order.
#[derive(Debug)]
pub(crate) struct Template(Vec<Piece>);

/// A part of what is signed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// This text.
    Literal(String),
    /// The body as received.
    Body,
    /// The timestamp, as sent.
    Timestamp,
    /// The value of a header, as sent.
    Header(String),
}

impl Template {
    /// Reads `{body}`, `{timestamp}`, `{header:name}` and the text between them.
    ///
    /// # Errors
    /// What is wrong with the template, as the end of a sentence that begins with its name.
    pub(crate) fn parse(template: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((literal, tail)) = rest.split_once('{') {
            push_literal(&mut pieces, literal);
            let (name, tail) = tail.split_once('}').ok_or("has a `{` without its `}`")?;
            pieces.push(placeholder(name)?);
            rest = tail;
        }
        push_literal(&mut pieces, rest);
        Ok(Template(pieces))
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The bytes that were signed; `timestamp` gives the timestamp as sent.
    pub(super) fn fill<'a>(
        &'a self,
        request: &Request<'a>,
        timestamp: impl Fn() -> Result<&'a str, Refused>,
    ) -> Result<Vec<&'a [u8]>, Refused> {
        let fill = |piece: &'a Piece| match piece {
            Piece::Literal(text) => Ok(text.as_bytes()),
            Piece::Body => Ok(request.body),
            Piece::Timestamp => timestamp().map(str::as_bytes),
            Piece::Header(name) => request.required(name).map(str::as_bytes),
        };
        self.0.iter().map(fill).collect()
    }
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Literal(text.to_owned()));
    }
}

fn placeholder(name: &str) -> Result<Piece, String> {
    match name.strip_prefix("header:") {
        Some(header) if is_header_name(header) => Ok(Piece::Header(header.to_ascii_lowercase())),
        None if name == "body" => Ok(Piece::Body),
        None if name == "timestamp" => Ok(Piece::Timestamp),
        _ => Err(format!("has `{{{name}}}`; known are `{{body}}`, `{{timestamp}}` and `{{header:name}}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_the_text_between_them() {
        let template = Template::parse("v0:{timestamp}:{body}{header:X-Id}\n").expect("known placeholders");
        let wanted = [
            Piece::Literal("v0:".into()),
            Piece::Timestamp,
            Piece::Literal(":".into()),
            Piece::Body,
            Piece::Header("x-id".into()),
            Piece::Literal("\n".into()),
        ];
        assert_eq!(template.pieces(), wanted);
    }

    #[test]
    fn what_is_no_placeholder_is_an_error() {
        for template in ["{", "{body", "{bdy}", "{header:}", "{header:a b}", "{{body}}", "{ body }", "{}"] {
            assert!(Template::parse(template).is_err(), "{template}");
        }
    }

    #[test]
    fn every_row_has_a_readable_template() {
        for source in crate::sources() {
            if let crate::scheme::Scheme::Hmac(hmac) = &source.scheme {
                assert!(Template::parse(&hmac.signed).is_ok(), "{}", source.name);
            }
        }
    }
}
