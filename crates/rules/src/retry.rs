//! How long to wait before something is tried again.

use std::time::Duration;

/// The longest wait that a receiver may ask for with `Retry-After`.
pub const LONGEST_ASKED: Duration = Duration::from_hours(1);
/// The shortest one: "at once" from a receiver that has just refused is no plan.
const SHORTEST_ASKED: Duration = Duration::from_secs(1);

/// Waits that double from one retry to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The whole wait before the first retry.
    pub first: Duration,
    /// No wait is longer than this, `first` included.
    pub cap: Duration,
}

impl Backoff {
    /// The wait before retry `number` (the first is 1): `first` doubled with each retry, at most `cap`, then shortened
    /// by chance to between half of that and the whole. `jitter` is the chance, from 0 (half) to 1 (the whole);
    /// it keeps many events that failed together from coming back together.
    pub fn delay(&self, number: u32, jitter: f64) -> Duration {
        let doublings = number.saturating_sub(1).min(127);
        let whole = self.first.as_nanos().saturating_mul(1 << doublings).min(self.cap.as_nanos());
        scaled(whole, jitter)
    }

    /// The wait after `elapsed` of waiting already: as long again, between `first` and `cap`, shortened as in
    /// [`delay`](Self::delay). So the waits double here too, without a count of them.
    pub fn as_long_again(&self, elapsed: Duration, jitter: f64) -> Duration {
        scaled(elapsed.max(self.first).min(self.cap).as_nanos(), jitter)
    }
}

/// Between half of `whole` (nanoseconds) and all of it. Whole numbers throughout: no wait can overflow or be negative.
fn scaled(whole: u128, jitter: f64) -> Duration {
    const ONE: f64 = 4_294_967_296.0;
    let half = whole / 2;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^32; not a number gives 0")]
    let chance = (jitter.clamp(0.0, 1.0) * ONE) as u128;
    Duration::from_nanos_u128(whole - half + ((half * chance) >> 32))
}

/// How long to wait when the other side may have asked for a time: what it asked for, from a second to
/// [`LONGEST_ASKED`], else `own`.
pub fn asked_or(asked: Option<Duration>, own: Duration) -> Duration {
    asked.map_or(own, |asked| asked.clamp(SHORTEST_ASKED, LONGEST_ASKED))
}

/// The time `wait` after `at` (both sides Unix milliseconds; the latest possible time where that overflows).
pub fn after(at: i64, wait: Duration) -> i64 {
    at.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROUTE: Backoff = Backoff { first: Duration::from_mins(1), cap: Duration::from_mins(30) };

    #[test]
    fn doubles_up_to_the_cap() {
        let whole: Vec<u64> = (1..=7).map(|n| ROUTE.delay(n, 1.0).as_secs()).collect();
        assert_eq!(whole, [60, 120, 240, 480, 960, 1800, 1800]);
        let half: Vec<u64> = (1..=7).map(|n| ROUTE.delay(n, 0.0).as_secs()).collect();
        assert_eq!(half, [30, 60, 120, 240, 480, 900, 900]);
        assert_eq!(ROUTE.delay(u32::MAX, 0.5), Duration::from_secs(1350));
        assert_eq!(ROUTE.delay(0, 1.0), Duration::from_mins(1), "there is no retry before the first");
    }

    #[test]
    fn a_bad_chance_is_still_a_wait() {
        assert_eq!(ROUTE.delay(1, f64::NAN), Duration::from_secs(30));
        assert_eq!(ROUTE.delay(1, -3.0), Duration::from_secs(30));
        assert_eq!(ROUTE.delay(1, 3.0), Duration::from_mins(1));
    }

    #[test]
    fn as_long_again_doubles_the_elapsed_time() {
        let wait = |elapsed| ROUTE.as_long_again(Duration::from_secs(elapsed), 1.0).as_secs();
        assert_eq!([wait(0), wait(60), wait(120), wait(240), wait(9999)], [60, 60, 120, 240, 1800]);
    }

    #[test]
    fn a_receiver_may_ask_for_an_hour_at_most() {
        let own = Duration::from_secs(30);
        let asked = |seconds| asked_or(Some(Duration::from_secs(seconds)), own).as_secs();
        assert_eq!([asked(3), asked(0), asked(86_400)], [3, 1, 3600]);
        assert_eq!(asked_or(None, own), own);
    }

    proptest! {
        #[test]
        fn is_between_half_and_the_whole(
            first in any::<Duration>(), cap in any::<Duration>(), number: u32, jitter in 0.0..1.0,
        ) {
            let backoff = Backoff { first, cap };
            let delay = backoff.delay(number, jitter);
            prop_assert!(delay <= backoff.delay(number, 1.0) && delay >= backoff.delay(number, 0.0));
            prop_assert!(delay <= cap);
            prop_assert!(delay >= first.min(cap) / 2);
        }

        #[test]
        fn grows_with_the_number(first in any::<Duration>(), cap in any::<Duration>(), number in 0_u32..200, jitter: f64) {
            let backoff = Backoff { first, cap };
            prop_assert!(backoff.delay(number, jitter) <= backoff.delay(number + 1, jitter));
        }

        #[test]
        fn time_never_goes_back(at: i64, wait in any::<Duration>()) {
            prop_assert!(after(at, wait) >= at);
        }
    }
}
