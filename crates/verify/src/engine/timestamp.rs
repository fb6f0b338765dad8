//! How old a request is.

use std::time::Duration;

use serde_json::Value;

use crate::engine::parse::Parsed;
use crate::path;
use crate::request::Request;
use crate::scheme::{Timestamp, TimestampPlace, Unit};
use crate::verdict::Refused;

impl Unit {
    fn millis(self) -> i64 {
        match self {
            Unit::Seconds => 1000,
            Unit::Millis => 1,
        }
    }
}

impl Timestamp {
    /// The timestamp as sent outside the body, for schemes that sign it.
    pub(super) fn outside_body<'a>(
        &self,
        request: &Request<'a>,
        parsed: &Parsed<'a>,
    ) -> Result<Option<&'a str>, Refused> {
        for place in &self.places {
            let found = match place {
                TimestampPlace::Header(name) => request.at_most_one(name)?,
                TimestampPlace::Field(name) => {
                    parsed.field(name).map_err(|why| Refused::new(format!("the signature header {why}")))?
                }
                TimestampPlace::Body(_) => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Refuses a request that was not sent around now. To be called when the signature has passed, not before: only
    /// then may the body be parsed.
    pub(super) fn check(
        &self,
        tolerance: Duration,
        request: &Request<'_>,
        outside_body: Option<&str>,
        now_ms: i64,
    ) -> Result<(), Refused> {
        let in_body = self.in_body(request.body);
        let text = in_body.as_deref().or(outside_body).ok_or_else(|| self.missing())?;
        let sent_at = parse(text).ok_or_else(|| {
            Refused::new(format!("the timestamp in {} is not a whole number of digits", self.describe()))
        })?;
        self.judge(tolerance, sent_at, now_ms)
    }

    /// The timestamp in a JSON body, when that is where the scheme keeps it.
    fn in_body(&self, body: &[u8]) -> Option<String> {
        let path = self.places.iter().find_map(|place| match place {
            TimestampPlace::Body(path) => Some(path),
            TimestampPlace::Header(_) | TimestampPlace::Field(_) => None,
        })?;
        let payload: Value = serde_json::from_slice(body).ok()?;
        match path::at(&payload, path)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    fn judge(&self, tolerance: Duration, sent_at: i64, now_ms: i64) -> Result<(), Refused> {
        // Compared in the sender's unit: a sender that counts whole seconds has cut off the rest, and so do we.
        let unit = i128::from(self.unit.millis());
        let off = i128::from(now_ms).div_euclid(unit) - i128::from(sent_at);
        let off_ms = (off * unit).unsigned_abs();
        if off_ms <= tolerance.as_millis() {
            return Ok(());
        }
        let unit_hint = match self.unit {
            Unit::Seconds if i128::from(now_ms).abs_diff(i128::from(sent_at)) <= tolerance.as_millis() => {
                ": it counts milliseconds, so set the unit to `ms`"
            }
            _ => "; check the clocks of both machines (NTP), or set the route's `tolerance`",
        };
        Err(Refused::new(format!(
            "the signature is right, but the timestamp in {} is {} s {} and {} s are allowed{unit_hint}",
            self.describe(),
            off_ms.div_ceil(1000),
            if off > 0 { "old" } else { "ahead of our clock" },
            tolerance.as_secs(),
        )))
    }

    /// What is said of a request without a timestamp.
    pub(super) fn missing(&self) -> Refused {
        Refused::new(format!("there is no timestamp in {}", self.describe()))
    }

    fn describe(&self) -> String {
        let names = self.places.iter().map(|place| match place {
            TimestampPlace::Header(name) => format!("header {name}"),
            TimestampPlace::Field(name) => format!("field {name} of the signature header"),
            TimestampPlace::Body(path) => format!("body field {path}"),
        });
        names.collect::<Vec<_>>().join(" or ")
    }
}

/// Decimal digits and nothing else: no sign, no space, no exponent, no `NaN`.
fn parse(text: &str) -> Option<i64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_790_000_000_900;

    fn seconds() -> Timestamp {
        Timestamp::seconds([TimestampPlace::Header("x-t".into())])
    }

    #[test]
    fn only_digits_are_a_timestamp() {
        assert_eq!(parse("1790000000"), Some(1_790_000_000));
        assert_eq!(parse("9223372036854775807"), Some(i64::MAX));
        for text in ["", "NaN", "-1", "+1", "1e9", "1.5", " 1", "1 ", "0x1", "١", "9223372036854775808"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn exactly_the_tolerance_passes_in_both_directions() {
        let limit = Duration::from_mins(5);
        for (sent_at, passes) in [(1_789_999_700, true), (1_790_000_300, true), (1_789_999_699, false)] {
            assert_eq!(seconds().judge(limit, sent_at, NOW_MS).is_ok(), passes, "{sent_at}");
        }
        let millis = Timestamp::millis([TimestampPlace::Header("x-t".into())]);
        for (sent_at, passes) in [(NOW_MS - 300_000, true), (NOW_MS + 300_000, true), (NOW_MS - 300_001, false)] {
            assert_eq!(millis.judge(limit, sent_at, NOW_MS).is_ok(), passes, "{sent_at}");
        }
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        for sent_at in [0, i64::MAX] {
            for now_ms in [i64::MIN, 0, i64::MAX] {
                assert!(seconds().judge(Duration::MAX, sent_at, now_ms).is_ok());
            }
        }
    }

    #[test]
    fn the_reason_says_how_far_off_and_what_to_do() {
        let reason = |sent_at| seconds().judge(Duration::from_mins(5), sent_at, NOW_MS).expect_err("too far").reason;
        assert!(reason(1_789_999_699).contains("301 s old and 300 s are allowed; check the clocks"));
        assert!(reason(1_789_999_699).contains("NTP"));
        assert!(reason(1_790_000_301).contains("301 s ahead of our clock"));
        assert!(reason(NOW_MS).contains("it counts milliseconds"));
    }
}
