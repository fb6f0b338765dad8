//! What a run came to, as the ledger takes it.

use agents::{Answer, RunVerdict};
use ledger::{NewDelivery, RunRecord};
use rules::run_end::Ending;
use rules::silence;
use rules::states::{DeliveryState, RunState};
use serde_json::{Map, Value};

use super::flights::StopWish;
use crate::chance;
use crate::process::{Exit, Report};

/// What a target gets with the answer: its values, or why they cannot be had.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parcel {
    pub(super) target: String,
    pub(super) extra: Result<Map<String, Value>, String>,
}

/// A run's end: its state, its record, and what that means for its event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) state: RunState,
    pub(super) ending: Ending,
    pub(super) record: RunRecord,
    /// The agent said that its answer is not to be delivered.
    pub(super) silent: bool,
}

impl Outcome {
    /// The outcome of a run that never got as far as its agent.
    pub(super) fn unprepared(why: String) -> Outcome {
        Outcome::failed(why, RunRecord::default())
    }

    /// The outcome of a run that the machine or the gateway could not begin: its event is where it was.
    pub(super) fn unstarted(wish: Option<StopWish>, why: &str) -> Outcome {
        let outcome = Outcome::cut_off(wish, why, RunRecord::default());
        match outcome.ending {
            Ending::Interrupted => Outcome { ending: Ending::Unstarted, ..outcome },
            _ => outcome,
        }
    }

    fn failed(why: String, record: RunRecord) -> Outcome {
        Outcome {
            state: RunState::Failed,
            ending: Ending::Failed { reason: why.clone() },
            record: RunRecord { error: Some(why), ..record },
            silent: false,
        }
    }

    /// Judges how an agent's process ended. `verdict` reads its exit and output; a run that we ended ourselves is not read.
    pub(super) fn of(report: &Report, wish: Option<StopWish>, verdict: impl FnOnce() -> RunVerdict) -> Outcome {
        let exit_code = match report.exit {
            Exit::Code(code) => Some(code),
            _ => None,
        };
        let record = RunRecord { exit_code, stderr: report.stderr.clone(), ..RunRecord::default() };
        if report.exit == Exit::Stopped {
            let why = match wish {
                // Nobody's wish: its warden ended it, since the gateway was halted or the machine suspended.
                Some(StopWish::Lease) | None => "the gateway did not renew its lease in time",
                _ => "the gateway stopped",
            };
            return Outcome::cut_off(wish, why, record);
        }
        if let Exit::NoMeans(why) = &report.exit {
            return Outcome::unstarted(wish, why);
        }
        match verdict() {
            RunVerdict::Succeeded(answer) => Outcome::succeeded(answer, record),
            RunVerdict::Failed(why) => Outcome::failed(why, record),
            RunVerdict::Later(why) => Outcome { ending: Ending::Later, ..Outcome::failed(why, record) },
        }
    }

    /// The outcome of a run that did not end by itself: for `why`, unless a person wanted it.
    pub(super) fn cut_off(wish: Option<StopWish>, why: &str, record: RunRecord) -> Outcome {
        let (state, ending, why) = match wish {
            Some(StopWish::Person) => (RunState::Stopped, Ending::Stopped, "stopped by a person"),
            _ => (RunState::Interrupted, Ending::Interrupted, why),
        };
        Outcome { state, ending, record: RunRecord { error: Some(why.into()), ..record }, silent: false }
    }

    fn succeeded(answer: Answer, record: RunRecord) -> Outcome {
        let record = RunRecord {
            answer: Some(answer.text),
            session_id: answer.session_id,
            cost_usd: answer.cost_usd.and_then(serde_json::Number::from_f64),
            usage: answer.usage,
            ..record
        };
        Outcome { state: RunState::Succeeded, ending: Ending::Succeeded, record, silent: answer.silent }
    }

    /// The deliveries of a success: one for each parcel.
    pub(super) fn deliveries(&self, parcels: Vec<Parcel>, now: i64) -> Vec<NewDelivery> {
        if self.state != RunState::Succeeded {
            return Vec::new();
        }
        let quiet = self.silent || self.record.answer.as_deref().is_some_and(silence::is_silent);
        parcels
            .into_iter()
            .map(|parcel| {
                let (state, error, extra) = match parcel.extra {
                    _ if quiet => (DeliveryState::Suppressed, None, Map::new()),
                    Ok(extra) => (DeliveryState::Pending, None, extra),
                    Err(why) => (DeliveryState::Exhausted, Some(why), Map::new()),
                };
                NewDelivery { id: chance::delivery_id(), target: parcel.target, state, error, extra, created_at: now }
            })
            .collect()
    }
}
