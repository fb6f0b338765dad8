//! A length of time.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::number::{self, Written};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A hundred years: sums with the clock cannot overflow below it, and nobody means more.
const LONGEST: Duration = Duration::from_secs(36_500 * DAY);

/// A length of time, written `500ms`, `30s`, `5m`, `2h`, `7d`, or as a number of seconds.
///
/// Fractions are fine (`1.5h`, `0.5`); signs are not. At most 36500 days. [`fmt::Display`] gives the shortest exact
/// form, which reads back as the same length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

/// A text or value that is not a length of time; its message says what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// Not a number with one of the units.
    #[error("`{0}` is not a duration: write 500ms, 30s, 5m, 2h, 7d, or a number of seconds")]
    Unreadable(String),
    /// Longer than 36500 days.
    #[error("`{0}` is too long: a duration is at most 36500d")]
    TooLong(String),
}

impl Span {
    /// A length of whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Span(Duration::from_secs(seconds))
    }

    /// Whether it is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0.is_zero()
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Span(duration)
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        span.0
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let unreadable = || SpanError::Unreadable(text.to_owned());
        let (number, unit) = number::split(text).ok_or_else(unreadable)?;
        let unit = match unit {
            "ms" => Duration::from_millis(1),
            "" | "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(MINUTE),
            "h" => Duration::from_secs(HOUR),
            "d" => Duration::from_secs(DAY),
            _ => return Err(unreadable()),
        };
        let too_long = || SpanError::TooLong(text.to_owned());
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: u32 = whole.parse().map_err(|_| too_long())?;
        let whole = unit.checked_mul(whole).ok_or_else(too_long)?;
        let part = number::part_of(unit.as_nanos(), fraction);
        limited(whole + Duration::from_nanos(part), text)
    }
}

/// Refuses what is longer than [`LONGEST`]; `written` is named in the error.
fn limited(duration: Duration, written: &str) -> Result<Span, SpanError> {
    if duration > LONGEST { Err(SpanError::TooLong(written.to_owned())) } else { Ok(Span(duration)) }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.as_secs(), self.0.subsec_nanos());
        if nanos == 0 {
            let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "m")];
            let fits = units.iter().find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit));
            let (unit, name) = fits.copied().unwrap_or((1, "s"));
            write!(f, "{}{name}", seconds / unit)
        } else if nanos.is_multiple_of(1_000_000) {
            write!(f, "{}ms", self.0.as_millis())
        } else {
            let fraction = format!("{nanos:09}");
            write!(f, "{seconds}.{}s", fraction.trim_end_matches('0'))
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match Written::from(serde_json::Value::deserialize(deserializer)?) {
            Written::Text(text) => text.parse(),
            Written::Number(number) => of_seconds(&number),
            Written::Other(what) => Err(SpanError::Unreadable(what)),
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// A plain number is read as seconds; one with an exponent goes through a float.
fn of_seconds(number: &serde_json::Number) -> Result<Span, SpanError> {
    let text = number.to_string();
    match text.parse() {
        Err(SpanError::Unreadable(text)) => {
            let seconds = number.as_f64().filter(|s| *s >= 0.0).ok_or_else(|| SpanError::Unreadable(text.clone()))?;
            let duration = Duration::try_from_secs_f64(seconds).map_err(|_| SpanError::TooLong(text.clone()))?;
            limited(duration, &text)
        }
        read => read,
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration: `500ms`, `30s`, `5m`, `2h`, `7d`, or a number of seconds.",
            "type": ["string", "number"],
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|m|h|d)?\s*$",
            "minimum": 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{from_str, json};

    fn ms(text: &str) -> u128 {
        text.parse::<Span>().unwrap_or_else(|e| panic!("{e}")).0.as_millis()
    }

    #[test]
    fn every_unit_is_read() {
        let read = ["500ms", "30s", "5m", "2h", "7d", "45", "1.5h", "0.25", " 3 s "].map(ms);
        assert_eq!(read, [500, 30_000, 300_000, 7_200_000, 604_800_000, 45_000, 5_400_000, 250, 3_000]);
    }

    #[test]
    fn numbers_are_seconds() {
        let read = |text: &str| from_str::<Span>(text).map(|s| s.0.as_millis());
        assert_eq!(read("30").unwrap(), 30_000);
        assert_eq!(read("0.50").unwrap(), 500);
        assert_eq!(read("1.5e3").unwrap(), 1_500_000);
        assert_eq!(serde_json::from_value::<Span>(json!(2.5)).unwrap().0.as_millis(), 2_500);
    }

    #[test]
    fn what_is_refused_says_what_is_accepted() {
        for bad in ["", "s", "-1s", "1w", "1h30m", ".5", "5.", "1.2.3", "5 minutes", "٣s", "1e3"] {
            let error = bad.parse::<Span>().expect_err(bad).to_string();
            assert!(error.contains("30s, 5m, 2h, 7d"), "{bad}: {error}");
        }
        for bad in ["null", "true", "[]", "{}", "-3", "\"soon\""] {
            let error = from_str::<Span>(bad).expect_err(bad).to_string();
            assert!(error.contains("is not a duration"), "{bad}: {error}");
        }
        for long in ["36501d", "99999999999999999999d", "5000000000h"] {
            assert!(matches!(long.parse::<Span>(), Err(SpanError::TooLong(_))), "{long}");
        }
        assert!(from_str::<Span>("1e30").is_err());
    }

    #[test]
    fn the_longest_unit_that_fits_is_shown() {
        let show = |ms| Span(Duration::from_millis(ms)).to_string();
        assert_eq!([0, 500, 1_500, 90_000, 900_000].map(show), ["0s", "500ms", "1500ms", "90s", "15m"]);
        assert_eq!(Span(Duration::from_micros(1_500)).to_string(), "0.0015s");
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(nanos in 0..3_000_000_000_000_000_000_u64) {
            let span = Span(Duration::from_nanos(nanos));
            prop_assert_eq!(span.to_string().parse::<Span>(), Ok(span));
            prop_assert_eq!(from_str::<Span>(&serde_json::to_string(&span).unwrap()).unwrap(), span);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = text.parse::<Span>();
        }
    }
}
