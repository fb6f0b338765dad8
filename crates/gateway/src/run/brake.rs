//! When programs cannot be started through a fault of the machine's: events wait instead of being used up one after the other.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Before the first further try.
const FIRST: Duration = Duration::from_secs(1);
/// Between later ones.
const LONGEST: Duration = Duration::from_secs(15);

/// Pulled when a run could not be started, released when one was.
#[derive(Debug, Default)]
pub struct Brake(Mutex<Option<Pulled>>);

#[derive(Debug)]
struct Pulled {
    since: Instant,
    until: Instant,
    wait: Duration,
}

/// How many runs may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// As many as there is room for.
    All,
    /// One, to see whether it works.
    One,
    /// None before this time has passed.
    None(Duration),
}

impl Brake {
    /// What is allowed now.
    pub(super) fn leave(&self) -> Leave {
        match &*self.pulled() {
            None => Leave::All,
            Some(pulled) => match pulled.until.saturating_duration_since(Instant::now()) {
                Duration::ZERO => Leave::One,
                left => Leave::None(left),
            },
        }
    }

    /// A run could not be started. Said once until one can.
    pub(crate) fn pull(&self, why: &str) {
        let now = Instant::now();
        let mut pulled = self.pulled();
        // Those that were begun at once fail at once; how long a further try waits was settled when it began.
        if pulled.is_none() {
            tracing::error!(why, "programs cannot be started; what needs one waits, and no retry is spent");
            *pulled = Some(Pulled { since: now, until: now + FIRST, wait: FIRST });
        }
    }

    /// The one try is under way: no further one before the next wait is over, which is longer.
    pub(super) fn trying(&self) {
        if let Some(pulled) = &mut *self.pulled() {
            pulled.wait = (2 * pulled.wait).min(LONGEST);
            pulled.until = Instant::now() + pulled.wait;
        }
    }

    /// A run has been started.
    pub(crate) fn release(&self) {
        if let Some(pulled) = self.pulled().take() {
            tracing::warn!(lasted_s = pulled.since.elapsed().as_secs(), "programs can be started again");
        }
    }

    fn pulled(&self) -> std::sync::MutexGuard<'_, Option<Pulled>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_until_a_run_has_been_started() {
        let brake = Brake::default();
        assert_eq!(brake.leave(), Leave::All);
        brake.pull("too many open files");
        brake.pull("too many open files");
        assert!(matches!(brake.leave(), Leave::None(left) if left <= FIRST), "several at once are one failure");
        brake.release();
        assert_eq!(brake.leave(), Leave::All);
    }

    #[test]
    fn after_the_wait_one_may_try() {
        let brake = Brake::default();
        brake.pull("out of memory");
        if let Some(pulled) = &mut *brake.pulled() {
            pulled.until = Instant::now();
        }
        assert_eq!(brake.leave(), Leave::One);
        brake.trying();
        assert!(matches!(brake.leave(), Leave::None(_)), "one at a time");
        brake.release();
        brake.release();
        assert_eq!(brake.leave(), Leave::All);
    }
}
