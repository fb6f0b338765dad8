//! What a statement is given: a few kinds of values, each with its type, so that nothing need be prepared or asked for.

use std::borrow::Cow;

use tokio_postgres::types::{ToSql, Type};

/// A value of a statement.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Text(Option<Cow<'a, str>>),
    Number(Option<i64>),
    Status(Option<i32>),
    Bytes(Option<&'a [u8]>),
    Truth(bool),
    Texts(Vec<Option<Cow<'a, str>>>),
    Numbers(Vec<Option<i64>>),
    Blobs(Vec<&'a [u8]>),
}

impl Value<'_> {
    pub(super) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Value::Text(text) => (text, Type::TEXT),
            Value::Number(number) => (number, Type::INT8),
            Value::Status(status) => (status, Type::INT4),
            Value::Bytes(bytes) => (bytes, Type::BYTEA),
            Value::Truth(truth) => (truth, Type::BOOL),
            Value::Texts(texts) => (texts, Type::TEXT_ARRAY),
            Value::Numbers(numbers) => (numbers, Type::INT8_ARRAY),
            Value::Blobs(blobs) => (blobs, Type::BYTEA_ARRAY),
        }
    }

    /// A column of texts.
    pub(super) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value<'a> {
        Value::Texts(texts.into_iter().map(|text| Some(stored(text))).collect())
    }

    /// A column of texts that may be missing.
    pub(super) fn some_texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Value<'a> {
        Value::Texts(texts.into_iter().map(|text| text.map(stored)).collect())
    }

    /// A column of numbers.
    pub(super) fn numbers(numbers: impl IntoIterator<Item = i64>) -> Value<'static> {
        Value::Numbers(numbers.into_iter().map(Some).collect())
    }
}

/// The database has no NUL in texts; its picture stands in for it.
pub(crate) fn stored(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{2400}")) } else { Cow::Borrowed(text) }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Some(stored(text)))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(Some(stored(text)))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Value::Text(text.map(stored))
    }
}

impl<'a> From<&'a Option<String>> for Value<'a> {
    fn from(text: &'a Option<String>) -> Self {
        Value::Text(text.as_deref().map(stored))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Number(Some(number))
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Value::Number(Some(number.into()))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Value::Number(number)
    }
}

impl From<Option<i32>> for Value<'_> {
    fn from(status: Option<i32>) -> Self {
        Value::Status(status)
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Value::Truth(truth)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(Some(bytes))
    }
}

impl<'a> From<Option<&'a [u8]>> for Value<'a> {
    fn from(bytes: Option<&'a [u8]>) -> Self {
        Value::Bytes(bytes)
    }
}
