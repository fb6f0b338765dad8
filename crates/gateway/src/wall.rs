//! The wall clock against one that nobody can set.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ledger::{Ledger, Millis};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::Core;

/// How often the clocks are compared.
const LOOK: Duration = Duration::from_secs(1);
/// How often the time is noted in the ledger, so that the next life knows about when this one ended.
const NOTE: Duration = Duration::from_mins(1);
/// What the clocks may differ by from look to look: a correction of less is nobody's business.
const STEP: Millis = 2_000;
/// A leap ahead of more than this may be a mistake that somebody is about to mend.
const DAY: Millis = 86_400_000;
/// How long after such a leap nothing is removed for its age.
const DOUBT: Duration = Duration::from_hours(1);

/// What is known of the wall clock.
#[derive(Debug)]
pub struct Wall {
    known: Mutex<Known>,
    /// Whether it is that of a ledger which several nodes share: then it is not for one of them to move what waits.
    shared: bool,
}

#[derive(Debug)]
struct Known {
    /// Both clocks at the last look.
    last: (Instant, Millis),
    /// How far it was set back, until the ledger has been told.
    back: Millis,
    /// It went on by itself, less or more, since somebody asked.
    leapt: bool,
    /// When it last went ahead by more than a day.
    doubted: Option<Instant>,
}

impl Wall {
    /// Begins at `now`; `noted` is what the wall clock said late in the life before.
    pub fn new(now: Millis, noted: Option<Millis>, shared: bool) -> Wall {
        let at = Instant::now();
        let far = noted.is_some_and(|noted| now.saturating_sub(noted) > DAY);
        let known = Known { last: (at, now), back: 0, leapt: false, doubted: far.then_some(at) };
        Wall { known: Mutex::new(known), shared }
    }

    /// Compares the clocks. Answers how far the wall clock was set since the last look, when it was.
    fn look(&self, now: Millis) -> Option<Millis> {
        let mut known = self.known();
        let at = Instant::now();
        let (then, said) = std::mem::replace(&mut known.last, (at, now));
        let passed = Millis::try_from(at.saturating_duration_since(then).as_millis()).unwrap_or(Millis::MAX);
        let step = now.saturating_sub(said.saturating_add(passed));
        if step.abs() < STEP {
            return None;
        }
        known.leapt = true;
        known.back = known.back.saturating_add(step.min(0).saturating_neg());
        if step > DAY {
            known.doubted = Some(at);
        }
        Some(step)
    }

    /// Whether `now` is too doubtful to remove something for its age.
    pub(crate) fn in_doubt(&self, now: Millis) -> bool {
        self.announce(self.look(now));
        self.known().doubted.is_some_and(|at| at.elapsed() < DOUBT)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, step: Option<Millis>) {
        match step {
            Some(back) if back < 0 && self.shared => {
                tracing::warn!(
                    by_s = -back / 1000,
                    "the database's clock was set back; what waits for a time waits longer"
                );
            }
            Some(back) if back < 0 => {
                tracing::warn!(
                    by_s = -back / 1000,
                    "the clock was set back; what waits for a time waits no longer for that"
                );
            }
            Some(ahead) => {
                tracing::warn!(by_s = ahead / 1000, "the clock was set ahead; what is due by now is done now");
            }
            None => {}
        }
    }
}

/// Begins a life's time: what waits in the ledger does not wait longer because the clock was set back between two lives.
pub async fn begin(ledger: &dyn Ledger, now: Millis) -> Result<Wall, ledger::Error> {
    let shared = ledger.lease().is_some();
    let noted = if shared { None } else { ledger.keep_time(now, None).await? };
    let wall = Wall::new(now, noted, shared);
    wall.announce(noted.map(|noted| now - noted).filter(|step| *step <= -STEP));
    Ok(wall)
}

/// Keeps the ledger's waits right while somebody sets the clock, until `shutdown`.
pub async fn keep(core: Arc<Core>, shutdown: CancellationToken) {
    let mut noted = Instant::now();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = sleep(LOOK) => {}
        }
        let now = core.clock.now();
        core.wall.announce(core.wall.look(now));
        let (back, leapt) = {
            let mut known = core.wall.known();
            (known.back, std::mem::take(&mut known.leapt))
        };
        if !core.wall.shared && (back > 0 || noted.elapsed() >= NOTE) {
            match core.ledger.keep_time(now, Some(back)).await {
                Ok(_) => {
                    core.wall.known().back -= back;
                    noted = Instant::now();
                }
                // Tried again at the next look.
                Err(error) => core.signals.ledger_failed("note the time", &error),
            }
        }
        if leapt || back > 0 {
            core.ring_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Millis = 1_790_000_000_000;

    #[test]
    fn a_clock_that_goes_as_it_should_is_let_be() {
        let wall = Wall::new(T0, None, false);
        assert_eq!(wall.look(T0), None);
        assert_eq!(wall.look(T0 + 1_500), None);
        assert!(!wall.in_doubt(T0 + 1_500));
    }

    #[test]
    fn steps_are_seen_and_add_up_until_the_ledger_knows() {
        let wall = Wall::new(T0, None, false);
        let hour = 3_600_000;
        assert!(wall.look(T0 - hour).is_some_and(|step| (-hour - 1000..=-hour).contains(&step)));
        assert!(wall.look(T0).is_some_and(|step| step > hour - 1000));
        assert!(wall.look(T0 - hour).is_some());
        assert!(wall.known().back >= 2 * hour, "ahead in between mends nothing: what was stored then is further ahead");
    }

    #[test]
    fn after_a_leap_of_more_than_a_day_age_is_doubted() {
        assert!(Wall::new(T0, Some(T0 - 2 * DAY), false).in_doubt(T0));
        assert!(!Wall::new(T0, Some(T0 - DAY), false).in_doubt(T0));
        let wall = Wall::new(T0, Some(T0), false);
        assert!(wall.in_doubt(T0 + 400 * DAY), "seen by who asks, not only by who looks now and then");
        assert!(wall.in_doubt(T0), "also when it is back");
    }
}
