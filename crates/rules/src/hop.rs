//! The hop count: how many gateways an event has come through, so that two of them cannot wake each other for ever.

use serde_json::Value;

/// The header that carries the count, in lower case as headers are kept.
pub const HEADER: &str = "x-hermes-hop";

/// Counts above this are not told apart: no limit is meant to be so high, and every store takes the number.
const MOST: u32 = i32::MAX as u32;

/// How many gateways an event came through before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hop {
    /// So many; 0 for an event from outside.
    Count(u32),
    /// More than can be counted, or a header that nobody can read: above every limit.
    TooHigh,
}

impl Hop {
    /// Whether the event must not run where `limit` hops are allowed.
    pub fn is_above(self, limit: u32) -> bool {
        match self {
            Hop::Count(count) => count > limit,
            Hop::TooHigh => true,
        }
    }

    /// The count to store with the event; `TooHigh` is the largest number that any store takes (2^31 − 1).
    pub fn number(self) -> u32 {
        match self {
            Hop::Count(count) => count,
            Hop::TooHigh => MOST,
        }
    }
}

/// The hop of an inbound request: the largest of its `X-Hermes-Hop` headers and, when `body_counts`, of `hop` in
/// its payload; else 0.
///
/// `headers` have lower-cased names. `body_counts` is for sources that sign such a body (`hermes`); elsewhere `hop`
/// may mean anything. A header that is no whole number is [`Hop::TooHigh`]: somebody counted, and we cannot tell how
/// far. In the payload only a whole number from 0 up counts; other values are somebody else's `hop`.
pub fn inbound(headers: &[(String, String)], payload: &Value, body_counts: bool) -> Hop {
    let said = headers.iter().filter(|(name, _)| name == HEADER).map(|(_, value)| header(value));
    let body = if body_counts { payload.get("hop").and_then(field) } else { None };
    said.chain(body).max().unwrap_or(Hop::Count(0))
}

fn header(value: &str) -> Hop {
    let digits = value.trim();
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().map_or(Hop::TooHigh, count) } else { Hop::TooHigh }
}

fn field(value: &Value) -> Option<Hop> {
    let Value::Number(number) = value else { return None };
    if let Some(whole) = number.as_u64() {
        return Some(u32::try_from(whole).map_or(Hop::TooHigh, count));
    }
    // Digits beyond 64 bits, and whole numbers that were written with a point or an exponent.
    let about: f64 = number.to_string().parse().ok()?;
    if about > f64::from(MOST) {
        return Some(Hop::TooHigh);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and from 0 to MOST")]
    (about >= 0.0 && about.fract() == 0.0).then_some(Hop::Count(about as u32))
}

fn count(count: u32) -> Hop {
    if count > MOST { Hop::TooHigh } else { Hop::Count(count) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::arbitrary::json as any_json;

    fn hop(header: &[&str], body: &str, body_counts: bool) -> Hop {
        let headers: Vec<_> = header.iter().map(|value| (HEADER.to_owned(), (*value).to_owned())).collect();
        inbound(&headers, &serde_json::from_str(body).unwrap(), body_counts)
    }

    #[test]
    fn the_largest_counts() {
        assert_eq!(hop(&[], "{}", true), Hop::Count(0));
        assert_eq!(hop(&["2"], "{}", true), Hop::Count(2));
        assert_eq!(hop(&[], r#"{"hop":3}"#, true), Hop::Count(3));
        assert_eq!(hop(&["1"], r#"{"hop":4}"#, true), Hop::Count(4));
        assert_eq!(hop(&["3"], r#"{"hop":1}"#, true), Hop::Count(3));
        assert_eq!(hop(&["1", " 5 ", "2"], "{}", true), Hop::Count(5));
        assert_eq!(hop(&[], r#"{"hop":7}"#, false), Hop::Count(0), "another source's `hop` means something else");
        assert_eq!(hop(&["2"], r#"{"hop":7}"#, false), Hop::Count(2));
    }

    #[test]
    fn an_unreadable_header_is_too_high() {
        for bad in ["", " ", "-1", "+1", "1.5", "two", "1, 2", "0x1", "99999999999999999999", "4294967295", "²"] {
            assert_eq!(hop(&[bad], "{}", false), Hop::TooHigh, "{bad:?}");
            assert_eq!(hop(&["0", bad], "{}", false), Hop::TooHigh, "{bad:?}");
        }
        assert!(Hop::TooHigh.is_above(u32::MAX));
        assert_eq!(Hop::TooHigh.number(), 2_147_483_647);
    }

    #[test]
    fn a_body_counts_only_with_a_whole_number() {
        for other in [r#""9""#, "-1", "1.5", "null", "true", "[9]", "{}"] {
            assert_eq!(hop(&[], &format!(r#"{{"hop":{other}}}"#), true), Hop::Count(0), "{other}");
        }
        for huge in ["99999999999999999999999", "4294967296", "1e30", "1e999"] {
            assert_eq!(hop(&[], &format!(r#"{{"hop":{huge}}}"#), true), Hop::TooHigh, "{huge}");
        }
        assert_eq!(hop(&[], r#"{"hop":9.0}"#, true), Hop::Count(9));
        assert_eq!(inbound(&[], &json!([{"hop": 3}]), true), Hop::Count(0));
    }

    #[test]
    fn at_the_limit_it_still_runs() {
        assert!(!Hop::Count(5).is_above(5));
        assert!(Hop::Count(6).is_above(5));
    }

    proptest! {
        #[test]
        fn never_below_a_readable_header(header in any::<u16>(), body in any_json(), counts: bool) {
            let headers = [(HEADER.to_owned(), header.to_string())];
            prop_assert!(inbound(&headers, &body, counts) >= Hop::Count(u32::from(header)));
        }

        #[test]
        fn never_panics(header in ".{0,20}", body in any_json(), counts: bool) {
            let seen = inbound(&[(HEADER.to_owned(), header)], &json!({"hop": body}), counts);
            prop_assert!(seen.number() <= MOST);
        }
    }
}
