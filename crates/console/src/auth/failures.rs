//! Counting wrong tokens.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_mins(1);
/// Wrong tokens that are answered as such within the window. A person mistypes a few times; a script that knows no better
/// is told to wait, and the log does not fill.
const MOST: usize = 20;

/// The wrong tokens of the last minute, whoever sent them.
#[derive(Debug, Default)]
pub(super) struct Failures(VecDeque<Instant>);

impl Failures {
    /// Counts one more, or answers the seconds until one more is counted.
    pub(super) fn count(&mut self, now: Instant) -> Result<(), u64> {
        while self.0.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.0.pop_front();
        }
        match self.0.front() {
            Some(first) if self.0.len() >= MOST => Err(WINDOW.saturating_sub(now.duration_since(*first)).as_secs() + 1),
            _ => {
                self.0.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_a_minute_are_answered() {
        let (mut failures, start) = (Failures::default(), Instant::now());
        for second in 0..20 {
            assert_eq!(failures.count(start + Duration::from_secs(second)), Ok(()));
        }
        assert_eq!(failures.count(start + Duration::from_secs(30)), Err(31));
        assert_eq!(failures.count(start + Duration::from_mins(1)), Ok(()), "the first one is a minute old");
        assert!(failures.count(start + Duration::from_mins(1)).is_err());
    }
}
