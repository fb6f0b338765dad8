//! How a payload looks where people and agents read it: indented JSON, cut where it would be too long.
//!
//! Lengths are counted in characters (Unicode scalar values), so a cut never falls inside one. Characters beyond
//! ASCII stay as they are: an agent reads `é` better than an escape.

use std::io::{self, Write};

use serde_json::Value;

/// An object or list inside a text is cut after so many characters.
pub const PART_LIMIT: usize = 2000;
/// The whole payload inside a text is cut after so many characters; a mark behind it says so.
pub const WHOLE_LIMIT: usize = 4000;

/// The whole value as JSON indented by two spaces, nothing left out. Numbers keep every digit, keys their order.
pub fn pretty(value: &Value) -> String {
    Head::of(value, usize::MAX).0
}

/// A part of a payload: as [`pretty`], but at most [`PART_LIMIT`] characters of it.
pub fn part(value: &Value) -> String {
    Head::of(value, PART_LIMIT).0
}

/// The whole payload: as [`pretty`], but after [`WHOLE_LIMIT`] characters a line says how many are left out.
pub fn whole(value: &Value) -> String {
    let (text, left_out) = Head::of(value, WHOLE_LIMIT);
    if left_out == 0 { text } else { format!("{text}\n[cut here: {left_out} more characters]") }
}

/// Keeps the first characters of what is written to it and counts the others, so that a payload of a megabyte
/// costs four thousand characters of memory.
struct Head {
    kept: Vec<u8>,
    limit: usize,
    seen: usize,
}

impl Head {
    /// The first `limit` characters of the indented value, and how many characters follow them.
    fn of(value: &Value, limit: usize) -> (String, usize) {
        let mut head = Self { kept: Vec::new(), limit, seen: 0 };
        serde_json::to_writer_pretty(&mut head, value).expect("a value has text keys and memory takes every write");
        let text = String::from_utf8(head.kept).expect("whole characters of valid text");
        (text, head.seen.saturating_sub(limit))
    }
}

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            // A byte that continues a character belongs to the one before it, kept or not.
            self.seen += usize::from(byte & 0xC0 != 0x80);
            if self.seen <= self.limit {
                self.kept.push(byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::arbitrary::json as any_json;

    #[test]
    fn is_indented_and_keeps_every_digit_and_the_order() {
        let value: Value = serde_json::from_str(r#"{"z":12345678901234567890123,"a":[1.10,{}],"t":"é"}"#).unwrap();
        let want = "{\n  \"z\": 12345678901234567890123,\n  \"a\": [\n    1.10,\n    {}\n  ],\n  \"t\": \"é\"\n}";
        assert_eq!(pretty(&value), want);
        assert_eq!(whole(&value), want, "nothing is cut, so there is no mark");
    }

    #[test]
    fn the_mark_counts_what_is_left_out() {
        let text = whole(&json!("x".repeat(5000)));
        assert_eq!(text.lines().next().unwrap().len(), 4000);
        assert!(text.ends_with("\n[cut here: 1002 more characters]"), "{}", &text[3990..]);
    }

    #[test]
    fn deep_values_are_written() {
        let deep = (0..128).fold(json!(1), |value, _| json!([value]));
        assert!(pretty(&deep).contains(&format!("{}1", "  ".repeat(128))));
    }

    #[test]
    fn wide_text_is_cut_between_characters() {
        for pad in 0..8 {
            let value = json!({"t": format!("{}{}", "x".repeat(pad), "你👨‍👩‍👧é".repeat(2000))});
            assert_eq!(part(&value).chars().count(), PART_LIMIT);
            assert!(pretty(&value).starts_with(&part(&value)));
            assert!(whole(&value).chars().count() < WHOLE_LIMIT + 60);
        }
    }

    proptest! {
        #[test]
        fn is_the_same_value_again(value in any_json()) {
            prop_assert_eq!(&serde_json::from_str::<Value>(&pretty(&value)).unwrap(), &value);
        }

        #[test]
        fn a_cut_keeps_whole_characters(value in any_json(), limit in 0_usize..80) {
            let (text, left_out) = Head::of(&value, limit);
            let all = pretty(&value);
            prop_assert!(all.starts_with(&text));
            prop_assert_eq!(text.chars().count() + left_out, all.chars().count());
            prop_assert!(text.chars().count() <= limit);
        }
    }
}
