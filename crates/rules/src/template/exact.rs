//! Rendered text that tells events apart: dedupe keys, lines, sessions, coalescing.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// Longer texts are shortened, so that each fits a database index; in bytes.
const LONGEST: usize = 200;
/// How much of a long text stays readable; in bytes.
const READABLE: usize = 100;

/// A template filled without cuts. Every placeholder resolved, none was `null`, and the text is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    pub(super) text: String,
    pub(super) lengths: Vec<usize>,
}

impl Exact {
    /// The text as a person reads it; a long one ends in the SHA-256 of the whole. Two templates' texts may agree by
    /// accident: good for lines and sessions, where that only makes events wait.
    pub fn into_text(self) -> String {
        shorten(&self.text)
    }

    /// The text with the lengths of its parts, so that one template never gives one key for different parts: `a` and
    /// `b#c` against `a#b` and `c` in `{x}#{y}`. For keys, where an accident would lose an event.
    pub fn into_key(self) -> String {
        match self.lengths.split_last() {
            Some((_, before)) if !before.is_empty() => {
                let lengths: Vec<_> = before.iter().map(ToString::to_string).collect();
                shorten(&format!("{}|{}", self.text, lengths.join(",")))
            }
            _ => shorten(&self.text),
        }
    }
}

/// `text` itself when it is short enough for an index, else its beginning and the SHA-256 of the whole.
pub fn shorten(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut short = format!("{}…sha256:", &text[..text.floor_char_boundary(READABLE)]);
    for byte in Sha256::digest(text) {
        write!(short, "{byte:02x}").expect("text takes every write");
    }
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_text_stays_and_long_text_ends_in_its_digest() {
        assert_eq!(shorten("octo/app#7"), "octo/app#7");
        assert_eq!(shorten(&"x".repeat(200)).len(), 200);
        let long = shorten(&"a".repeat(1_000_000));
        assert!(long.ends_with("sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"), "{long}");
    }

    proptest! {
        #[test]
        fn every_text_fits_and_none_is_torn(text in "[a你👨\u{0}]{0,400}") {
            let short = shorten(&text);
            prop_assert!(short.len() <= LONGEST);
            prop_assert_eq!(short == text, text.len() <= LONGEST);
        }
    }
}
