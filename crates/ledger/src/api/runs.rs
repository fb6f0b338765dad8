//! How runs are claimed and ended.

use rules::run_end::{Next, Standing};
use rules::states::{DeliveryState, EventState, RunState};

use crate::{Boot, Error, Millis, NewDelivery};

/// A route that may start runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRoom {
    /// The route's name.
    pub route: String,
    /// The agent that it wakes.
    pub agent: String,
    /// Runs that it may start beside those in flight.
    pub room: u32,
}

/// An agent that may start runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRoom {
    /// The agent's name.
    pub agent: String,
    /// Runs that it may start beside those in flight.
    pub room: u32,
    /// Runs of it that may be in flight on all nodes together, those left by dead ones included until they are taken over;
    /// `None`: each node counts for itself.
    pub cluster_limit: Option<u32>,
}

/// A request for work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRuns {
    /// The claiming gateway's life.
    pub boot: Boot,
    /// The claim's time: what is due by now may run.
    pub now: Millis,
    /// Routes with room; a route that is not named starts nothing.
    pub routes: Vec<RouteRoom>,
    /// Agents with room; an agent that is not named starts nothing.
    pub agents: Vec<AgentRoom>,
    /// Ids for the runs to start; their number bounds the claim.
    pub run_ids: Vec<String>,
}

/// A run that has begun: its event is `running`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRun {
    /// `run_…`.
    pub run_id: String,
    /// 1 for the first run of the event.
    pub attempt: u32,
    /// The event.
    pub event_id: String,
    /// Its route.
    pub route: String,
    /// The agent, as the claim's route named it.
    pub agent: String,
    /// Its event type.
    pub event_type: String,
    /// Its delivery id.
    pub delivery_id: String,
    /// Its hop.
    pub hop: u32,
    /// What earlier runs have used up.
    pub standing: Standing,
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunRecord {
    /// The agent's exit status, when it ended by itself.
    pub exit_code: Option<i32>,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// What is delivered.
    pub answer: Option<String>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
    /// The agent's own session.
    pub session_id: Option<String>,
    /// What it cost, in US dollars, as the agent wrote it.
    pub cost_usd: Option<serde_json::Number>,
    /// Token counts, in the agent's own shape.
    pub usage: Option<serde_json::Value>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishRun {
    /// The run.
    pub run_id: String,
    /// The life that writes the end: the run's own, or another one that found it orphaned.
    pub boot: Boot,
    /// The run's attempt.
    pub attempt: u32,
    /// When it ended.
    pub ended_at: Millis,
    /// Its state now.
    pub state: RunState,
    /// How it went.
    pub record: RunRecord,
    /// What becomes of the event.
    pub next: Next,
    /// The messages that its answer becomes.
    pub deliveries: Vec<NewDelivery>,
}

impl FinishRun {
    /// [`Error::Conflict`] when the run, its event or a delivery cannot come into the state that is given for it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let id = &self.run_id;
        if !RunState::Running.may_become(self.state) {
            return Err(Error::Conflict(format!("{id} cannot end as {}", self.state)));
        }
        if !EventState::Running.may_become(self.next.state) {
            return Err(Error::Conflict(format!("the end of {id} cannot make its event {}", self.next.state)));
        }
        let may_begin =
            |state| matches!(state, DeliveryState::Pending | DeliveryState::Suppressed | DeliveryState::Exhausted);
        match self.deliveries.iter().find(|d| !may_begin(d.state)) {
            Some(delivery) => Err(Error::Conflict(format!("{} cannot begin as {}", delivery.id, delivery.state))),
            None => Ok(()),
        }
    }
}

/// Whether the end was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// It is on record.
    Written,
    /// The run has ended already, or belongs to another life, or the life that writes is over: nothing was written.
    Fenced,
}

/// A run that was in flight when its gateway died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanRun {
    /// The run.
    pub run_id: String,
    /// Its attempt.
    pub attempt: u32,
    /// Its event.
    pub event_id: String,
    /// Its route.
    pub route: String,
    /// Its agent.
    pub agent: String,
    /// What earlier runs have used up.
    pub standing: Standing,
}
