//! What the end of a run makes of its event: done, again later, again at once, or given up.

use std::time::Duration;

use crate::retry::{Backoff, after};
use crate::states::EventState;

/// An event that was cut off so many times in a row takes the gateway down with it, by all appearances.
pub const MOST_INTERRUPTIONS: u32 = 5;
/// So long an agent may answer "later" (exit 75) before its event is given up.
pub const LONGEST_LATER: Duration = Duration::from_hours(24);

/// The reason of an event that [`MOST_INTERRUPTIONS`] ended.
pub const CRASH_LOOP: &str = "crash_loop";
/// The reason of an event whose agent said "later", while it waits and when [`LONGEST_LATER`] is over.
pub const UNAVAILABLE: &str = "unavailable";
/// The reason of an event whose run a person stopped.
pub const STOPPED: &str = "stopped";

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer.
    Succeeded,
    /// Without one.
    Failed {
        /// A short word or sentence for it (`timeout`, `empty_answer`), kept as the event's reason.
        reason: String,
    },
    /// The agent said that it cannot now (exit 75).
    Later,
    /// Cut off from outside: a kill, a crash, a polite stop, a lost lease.
    Interrupted,
    /// Before it began: the machine, or the gateway itself, was short of what a start takes.
    Unstarted,
    /// By a person.
    Stopped,
}

/// What an event has behind it; kept with it from run to run. A person's retry begins with the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Retries that failed runs have used up.
    pub retries_spent: u32,
    /// Interruptions in a row.
    pub interruptions: u32,
    /// When the first of the "later"s in a row was said, in Unix milliseconds.
    pub later_since: Option<i64>,
}

/// What the route allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Runs after the first one that failure may cost (`max_retries`).
    pub max_retries: u32,
    /// The waits before them (`retry_backoff`, at most 30 minutes).
    pub backoff: Backoff,
}

/// What the event becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// Its state.
    pub state: EventState,
    /// Why it is in that state, where the state does not say it all.
    pub reason: Option<String>,
    /// When it runs again, in Unix milliseconds; `None`: at once for `queued`, never for the others.
    pub due_at: Option<i64>,
    /// What it has behind it now.
    pub standing: Standing,
}

/// What an event becomes when a run of it ends.
///
/// - A success and a stop are final.
/// - A failure spends a retry and waits for it, longer each time; without retries left the event is exhausted.
/// - "Later" waits without spending one, as long again as it has been waiting, for at most a day.
/// - A run that could not begin through no fault of its agent leaves everything as it was.
/// - An interruption spends none and waits for nothing; the fifth in a row ends the event.
///
/// A run that ended by itself ends a row of interruptions, and anything but "later" ends a row of those. `now` is in
/// Unix milliseconds; `jitter` from 0 to 1 as in [`Backoff::delay`].
pub fn judge(ending: Ending, standing: Standing, policy: &Policy, now: i64, jitter: f64) -> Next {
    let retries_spent = standing.retries_spent;
    let calm = Standing { retries_spent, ..Standing::default() };
    match ending {
        Ending::Succeeded => finished(EventState::Succeeded, None, calm),
        Ending::Stopped => finished(EventState::Cancelled, Some(STOPPED.to_owned()), calm),
        Ending::Failed { reason } if retries_spent >= policy.max_retries => {
            finished(EventState::Exhausted, Some(reason), calm)
        }
        Ending::Failed { reason } => {
            let number = retries_spent + 1;
            let due = after(now, policy.backoff.delay(number, jitter));
            waiting(reason, due, Standing { retries_spent: number, ..calm })
        }
        Ending::Later => later(standing, policy, now, jitter),
        Ending::Unstarted => Next { state: EventState::Queued, reason: None, due_at: None, standing },
        Ending::Interrupted => interrupted(Standing { later_since: None, ..standing }),
    }
}

fn later(standing: Standing, policy: &Policy, now: i64, jitter: f64) -> Next {
    let since = standing.later_since.unwrap_or(now);
    let last = after(since, LONGEST_LATER);
    let standing = Standing { interruptions: 0, later_since: Some(since), ..standing };
    if now >= last {
        return finished(EventState::Exhausted, Some(UNAVAILABLE.to_owned()), standing);
    }
    let elapsed = Duration::from_millis(u64::try_from(now.saturating_sub(since)).unwrap_or(0));
    // The last try falls on the end of the day, not short of it.
    let due = after(now, policy.backoff.as_long_again(elapsed, jitter)).min(last);
    waiting(UNAVAILABLE.to_owned(), due, standing)
}

fn interrupted(standing: Standing) -> Next {
    let interruptions = standing.interruptions.saturating_add(1);
    let standing = Standing { interruptions, ..standing };
    if interruptions >= MOST_INTERRUPTIONS {
        return finished(EventState::Exhausted, Some(CRASH_LOOP.to_owned()), standing);
    }
    Next { state: EventState::Queued, reason: None, due_at: None, standing }
}

fn waiting(reason: String, due: i64, standing: Standing) -> Next {
    Next { state: EventState::Failed, reason: Some(reason), due_at: Some(due), standing }
}

fn finished(state: EventState, reason: Option<String>, standing: Standing) -> Next {
    Next { state, reason, due_at: None, standing }
}

#[cfg(test)]
mod tests;
