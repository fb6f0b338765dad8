//! Time, handed in: components own no clock, so tests can.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A handle to a clock.
#[derive(Clone)]
pub struct Clock {
    own: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// What another clock said, and when: time goes on from there.
    followed: Arc<RwLock<Option<(Instant, i64)>>>,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock::of(|| {
            #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }

    /// A clock that tells what `now` tells.
    pub fn of(now: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock { own: Arc::new(now), followed: Arc::default() }
    }

    /// Goes by another clock from now on, which said `time` at `at`: nodes that share a ledger have one time.
    pub fn follow(&self, at: Instant, time: i64) {
        *self.followed.write().unwrap_or_else(PoisonError::into_inner) = Some((at, time));
    }

    /// Unix time in milliseconds.
    pub fn now(&self) -> i64 {
        match *self.followed.read().unwrap_or_else(PoisonError::into_inner) {
            Some((at, time)) => time.saturating_add(i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX)),
            None => (self.own)(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_follows_another_goes_on_from_what_that_one_said() {
        let clock = Clock::of(|| 1_000);
        let other = clock.clone();
        assert_eq!(clock.now(), 1_000);
        clock.follow(Instant::now(), 500_000);
        assert!((500_000..510_000).contains(&other.now()), "every handle follows");
    }
}
