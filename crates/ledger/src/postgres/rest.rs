//! A database that cannot be reached is left alone: one caller at a time looks whether it is back, more and more rarely, and all
//! others are told at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;

/// Waits before the next try to connect, doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Whether the database is left alone.
#[derive(Clone, Default)]
pub(super) struct Rest(Arc<Mutex<Option<Away>>>);

struct Away {
    why: Error,
    wait: Duration,
    next_try: Instant,
    /// Somebody is at it.
    trying: bool,
}

/// The right to connect. While the database is away one caller has it.
pub(super) struct Turn {
    rest: Rest,
    only: bool,
}

impl Rest {
    /// Asks for the right to connect; the error is why not now.
    pub(super) fn turn(&self, now: Instant) -> Result<Turn, Error> {
        let mut state = self.state();
        if let Some(away) = &mut *state {
            if away.trying || now < away.next_try {
                return Err(away.why.clone());
            }
            away.trying = true;
        }
        Ok(Turn { only: state.is_some(), rest: self.clone() })
    }

    /// The database could not be reached.
    pub(super) fn begins(&self, why: &Error, now: Instant) {
        let mut state = self.state();
        let wait = state.as_ref().map_or(FIRST_WAIT, |away| (away.wait * 2).min(LONGEST_WAIT));
        let trying = state.as_ref().is_some_and(|away| away.trying);
        *state = Some(Away { why: why.clone(), wait, next_try: now + wait, trying });
    }

    /// It does not answer on a connection that it has; another one may tell more.
    pub(super) fn is_doubtful(&self, why: &Error, now: Instant) {
        let doubt = || Away { why: why.clone(), wait: FIRST_WAIT, next_try: now, trying: false };
        self.state().get_or_insert_with(doubt);
    }

    /// It answers.
    pub(super) fn ends(&self) {
        *self.state() = None;
    }

    /// Why it is left alone, when it is.
    pub(super) fn why(&self) -> Option<Error> {
        self.state().as_ref().map(|away| away.why.clone())
    }

    fn state(&self) -> MutexGuard<'_, Option<Away>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.only
            && let Some(away) = &mut *self.rest.state()
        {
            away.trying = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_looks_more_and_more_rarely() {
        let rest = Rest::default();
        let why = Error::Away("gone".into());
        let mut now = Instant::now();
        // Nothing is known yet: everybody may try.
        let (one, other) = (rest.turn(now).unwrap(), rest.turn(now).unwrap());
        drop((one, other));
        rest.begins(&why, now);
        for wait in [100, 200, 400, 800, 1600, 2000, 2000, 2000] {
            assert_eq!(rest.turn(now + Duration::from_millis(wait - 1)).err(), Some(why.clone()));
            now += Duration::from_millis(wait);
            let turn = rest.turn(now).unwrap();
            assert!(rest.turn(now).is_err(), "somebody is at it");
            rest.begins(&why, now);
            assert!(rest.turn(now + LONGEST_WAIT).is_err(), "and still is");
            drop(turn);
        }
        rest.ends();
        assert!(rest.turn(now).is_ok() && rest.why().is_none());
    }

    #[test]
    fn a_doubt_is_looked_into_at_once_by_one() {
        let (rest, now) = (Rest::default(), Instant::now());
        rest.is_doubtful(&Error::Away("silent".into()), now);
        let turn = rest.turn(now).unwrap();
        assert!(rest.turn(now).is_err());
        // Who gives up in the middle leaves the turn to the next one.
        drop(turn);
        assert!(rest.turn(now).is_ok());
    }
}
