//! Headers as the rest of the house knows them.

use axum::http::{HeaderMap, header};

/// Names in lower case, values as text, in the order of the wire. Bytes that are not UTF-8 are taken as Latin-1, the
/// historical reading of a header.
pub(super) fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            let text = match std::str::from_utf8(value.as_bytes()) {
                Ok(text) => text.to_owned(),
                Err(_) => value.as_bytes().iter().map(|b| char::from(*b)).collect(),
            };
            (name.as_str().to_owned(), text)
        })
        .collect()
}

/// The value of a header's first line.
pub(crate) fn first<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The length that the request says it has.
pub(super) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
