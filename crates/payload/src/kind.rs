//! Which format a `Content-Type` stands for.

use crate::error::ParseError;
use crate::params::Params;

/// The formats that bodies are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Form,
    Multipart,
    Xml,
    Text,
    /// A type that nothing is known about; senders do label JSON as `application/octet-stream`.
    Other,
}

/// A `Content-Type` header, read case-blind.
pub(crate) struct ContentType(Params);

impl ContentType {
    /// Reads a header value; an empty one stands for no header.
    pub(crate) fn read(value: &str) -> Self {
        Self(Params::read(value))
    }

    /// The format that it stands for.
    pub(crate) fn kind(&self) -> Kind {
        match self.0.first.as_str() {
            "" | "application/json" | "text/json" => Kind::Json,
            "application/x-www-form-urlencoded" => Kind::Form,
            "multipart/form-data" => Kind::Multipart,
            "application/xml" | "text/xml" => Kind::Xml,
            other if other.ends_with("+json") => Kind::Json,
            other if other.ends_with("+xml") => Kind::Xml,
            other if other.starts_with("text/") => Kind::Text,
            _ => Kind::Other,
        }
    }

    /// A parameter such as `boundary` (lower case).
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.0.get(name)
    }

    /// The error for a body of a type that nothing is known about and that is not JSON either.
    pub(crate) fn unreadable(&self) -> ParseError {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/+-._".contains(c);
        // The name comes from the sender, so only a harmless one is repeated.
        let name = if self.0.first.len() <= 100 && self.0.first.chars().all(plain) { &self.0.first } else { "this" };
        ParseError::whole("body", format!("{name} is no content type that can be read, and the body is not JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentType, Kind};

    #[test]
    fn content_types_choose_the_format() {
        let table = [
            ("", Kind::Json),
            ("  ", Kind::Json),
            ("application/json", Kind::Json),
            ("Application/Json; charset=utf-8", Kind::Json),
            ("text/json", Kind::Json),
            ("application/problem+json", Kind::Json),
            ("application/cloudevents+JSON;charset=UTF-8", Kind::Json),
            ("APPLICATION/x-www-form-urlencoded; charset=UTF-8", Kind::Form),
            ("multipart/form-data; boundary=x", Kind::Multipart),
            ("application/xml", Kind::Xml),
            ("text/xml;charset=utf-8", Kind::Xml),
            ("application/soap+xml", Kind::Xml),
            ("text/plain", Kind::Text),
            ("text/html; charset=utf-8", Kind::Text),
            ("application/octet-stream", Kind::Other),
            ("image/png", Kind::Other),
            ("multipart/mixed; boundary=x", Kind::Other),
            ("nonsense", Kind::Other),
        ];
        for (value, kind) in table {
            assert_eq!(ContentType::read(value).kind(), kind, "{value}");
        }
    }

    #[test]
    fn only_a_harmless_name_is_repeated() {
        assert!(ContentType::read("image/png").unreadable().to_string().contains("image/png"));
        assert!(!ContentType::read("a\u{1b}[31m").unreadable().to_string().contains('\u{1b}'));
        assert!(ContentType::read(&"x".repeat(5000)).unreadable().to_string().len() < 200);
    }
}
