//! Strict reading of a route's `options`.

use serde_json::{Map, Value};

use crate::settings::SettingsError;
use crate::source::{Source, nearest_of};

/// The options of one source, all of them known to it.
pub(crate) struct Options<'a>(&'a Map<String, Value>);

impl<'a> Options<'a> {
    /// Refuses keys that `source` does not take.
    pub(crate) fn of(source: &Source, options: &'a Map<String, Value>) -> Result<Options<'a>, SettingsError> {
        let known = || source.options.iter().map(|setting| setting.key);
        match options.keys().find(|key| !known().any(|name| name == *key)) {
            None => Ok(Options(options)),
            Some(key) => Err(bad(key, unknown(source, nearest_of(key, known())))),
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A text that holds something.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, SettingsError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(_) => Err(bad(key, "must be text that is not empty")),
        }
    }

    /// The name of a header, in lower case.
    pub(crate) fn header(&self, key: &str) -> Result<Option<String>, SettingsError> {
        match self.text(key)? {
            None => Ok(None),
            Some(name) if is_header_name(name) => Ok(Some(name.to_ascii_lowercase())),
            Some(_) => Err(bad(key, "must be the name of a header, such as `X-Signature`")),
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, SettingsError> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        let Some((_, meaning)) = words.iter().find(|(known, _)| *known == word) else {
            let known: Vec<_> = words.iter().map(|(known, _)| format!("`{known}`")).collect();
            return Err(bad(key, format!("must be one of {}", known.join(", "))));
        };
        Ok(Some(*meaning))
    }
}

/// An error about `key`.
pub(crate) fn bad(key: &str, why: impl Into<String>) -> SettingsError {
    SettingsError::BadOption { key: key.to_owned(), why: why.into() }
}

/// A token of RFC 9110, section 5.6.2.
pub(crate) fn is_header_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn unknown(source: &Source, nearest: Option<&str>) -> String {
    match nearest {
        Some(known) => format!("source `{}` has no such option; did you mean `{known}`?", source.name),
        None if source.options.is_empty() => format!("source `{}` takes no options", source.name),
        None => {
            let known: Vec<_> = source.options.iter().map(|setting| setting.key).collect();
            format!("source `{}` has no such option; it takes {}", source.name, known.join(", "))
        }
    }
}
