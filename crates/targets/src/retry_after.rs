//! The `Retry-After` header (RFC 9110, 10.2.3), and the fractions of seconds that some providers send.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// No receiver makes a delivery wait longer than this.
pub(crate) const LONGEST: Duration = Duration::from_hours(1);

/// The three forms of an HTTP date: IMF-fixdate, RFC 850 and asctime.
const DATES: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// How long to wait, at most [`LONGEST`]; nothing for a date that has passed, `None` for what cannot be read.
pub(crate) fn wait(header: &str, now_ms: i64) -> Option<Duration> {
    let header = header.trim();
    if header.starts_with(|c: char| c.is_ascii_digit()) && header.bytes().all(|c| c.is_ascii_digit() || c == b'.') {
        let seconds: f64 = header.parse().ok()?;
        return Some(Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64())));
    }
    let date = DATES.iter().find_map(|form| DateTime::strptime(form, header).ok())?;
    let at = TimeZone::UTC.to_timestamp(date).ok()?.as_millisecond();
    let wait = u64::try_from(at.saturating_sub(now_ms)).unwrap_or(0);
    Some(Duration::from_millis(wait).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const MOMENT: i64 = 784_111_777_000;

    #[test]
    fn seconds_and_fractions() {
        let read = ["2", " 120 ", "0.5", "0", "3601", "99999999999999999999999"].map(|text| wait(text, 0).unwrap());
        assert_eq!(read.map(|wait| wait.as_millis()), [2_000, 120_000, 500, 0, 3_600_000, 3_600_000]);
    }

    #[test]
    fn the_three_forms_of_a_date() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(wait(date, MOMENT - 90_000), Some(Duration::from_secs(90)), "{date}");
            assert_eq!(wait(date, MOMENT + 1), Some(Duration::ZERO), "{date}");
            assert_eq!(wait(date, 0), Some(LONGEST), "{date}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        for bad in ["", "soon", "-5", "1e3", "1.2.3", "NaN", "inf", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(wait(bad, 0), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn nothing_waits_longer_than_the_limit(header in "\\PC*|[0-9.]{1,40}", now_ms: i64) {
            prop_assert!(wait(&header, now_ms).is_none_or(|wait| wait <= LONGEST));
        }
    }
}
