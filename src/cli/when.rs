//! Times on the command line.

use std::time::Duration;

use gateway::clock::Clock;
use jiff::Timestamp;
use span::Span;

/// A length of time such as `10m`.
pub(super) fn length(text: &str) -> Result<Duration, String> {
    text.parse::<Span>().map(Duration::from).map_err(|error| error.to_string())
}

/// A moment in Unix milliseconds: a time such as `2026-01-31T12:00:00Z`, or a length of time back from now.
pub(super) fn since(text: &str) -> Result<i64, String> {
    since_before(text, Clock::system().now())
}

fn since_before(text: &str, now: i64) -> Result<i64, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let back = length(text).map_err(|_| {
        format!("`{text}` is neither a length of time (2h, 7d) nor a time with its zone (2026-01-31T12:00:00Z)")
    })?;
    Ok(now.saturating_sub(i64::try_from(back.as_millis()).unwrap_or(i64::MAX)))
}

/// A length of time for people: its two largest units.
pub(super) fn words(seconds: u64) -> String {
    let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest}s"),
        (0, 0, _) => format!("{minutes}m {rest}s"),
        (0, ..) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_time_or_a_length_back_from_now() {
        let now = 10_000_000_000;
        assert_eq!(since_before("1970-01-01T00:00:01Z", now), Ok(1000));
        assert_eq!(since_before("1970-01-01T01:00:01+01:00", now), Ok(1000));
        assert_eq!(since_before("2h", now), Ok(now - 7_200_000));
        assert_eq!(since_before("7d", now), Ok(now - 604_800_000));
        for wrong in ["yesterday", "2026-01-31", "-1h", ""] {
            assert!(since_before(wrong, now).unwrap_err().contains("7d"), "{wrong}");
        }
    }

    #[test]
    fn lengths_are_those_of_the_configuration() {
        assert_eq!(length("10m"), Ok(Duration::from_mins(10)));
        assert_eq!(length("1.5"), Ok(Duration::from_millis(1500)));
        assert!(length("ten").unwrap_err().contains("5m"));
    }

    #[test]
    fn lengths_read_well() {
        assert_eq!([0, 59, 61, 7260, 90_000].map(words), ["0s", "59s", "1m 1s", "2h 1m", "1d 1h"]);
    }
}
