//! From a claimed event to a call: the prompt, the environment, the values for the targets.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{Agent, Call, CallFacts};
use config::{Config, Route};
use ledger::ClaimedRun;
use rules::template::{Scope, default_prompt};

use super::outcome::Parcel;
use crate::ingest::Stored;
use crate::{Core, chance};

/// A run that is ready to start.
pub(super) struct Prepared {
    pub(super) agent: Arc<Agent>,
    pub(super) route: Arc<Route>,
    pub(super) prompt: String,
    pub(super) call: Call,
    /// What each target will get with the answer.
    pub(super) parcels: Vec<Parcel>,
}

/// Why a run was not prepared.
pub(super) enum Unprepared {
    /// By what its event or the configuration is; the text is for the run's record.
    Fault(String),
    /// The ledger could not be read.
    Ledger(ledger::Error),
}

/// Renders a run's prompt and values by the route as it is now.
pub(super) async fn prepare(core: &Core, config: &Config, run: &ClaimedRun) -> Result<Prepared, Unprepared> {
    let fault = |why: String| Unprepared::Fault(why);
    let route = config.routes.get(&run.route).ok_or_else(|| fault("the route has gone".into()))?;
    let agent = config.agents.get(&run.agent).ok_or_else(|| fault(format!("there is no agent {}", run.agent)))?;
    let request = core.ledger.request(&run.event_id).await.map_err(Unprepared::Ledger)?;
    // Parsing is work for a processor, up to the largest body.
    let stored = tokio::task::block_in_place(|| Stored::parse(request)).map_err(|error| fault(error.to_string()))?;
    let scope = stored.scope(&run.event_type, &run.route, &run.delivery_id, &run.event_id);
    let prompt = match &route.prompt {
        Some(template) => template.render(&scope).text,
        None => default_prompt(&scope),
    };
    let parcels = route.deliver.iter().map(|delivery| parcel(delivery, &scope)).collect();
    let home = core.home.to_string_lossy();
    let prompt_file = prompt_file(core, &run.run_id);
    let call = agent.call(&CallFacts {
        run_id: &run.run_id,
        event_id: &run.event_id,
        route: &run.route,
        event_type: &run.event_type,
        delivery_id: &run.delivery_id,
        attempt: run.attempt,
        hop: run.hop,
        session: None,
        home: &home,
        traceparent: &chance::traceparent(),
        prompt: &prompt,
        prompt_file: &prompt_file.to_string_lossy(),
        environment: &core.environment,
    });
    Ok(Prepared { agent: Arc::clone(agent), route: Arc::clone(route), prompt, call, parcels })
}

fn parcel(delivery: &config::RouteDelivery, scope: &Scope<'_>) -> Parcel {
    let extra = match delivery.extra.render(scope) {
        // What came out empty is not given: the target's default is meant.
        Ok(values) => {
            Ok(values.as_object().map(|values| targets::values_for(&delivery.target, &[], values)).unwrap_or_default())
        }
        Err(unresolved) => Err(unresolved.to_string()),
    };
    Parcel { target: delivery.target.clone(), extra }
}

/// Where a run's prompt goes when its agent reads it from a file.
pub(super) fn prompt_file(core: &Core, run_id: &str) -> PathBuf {
    core.runs_folder().join(format!("{run_id}.prompt"))
}

/// The file whose lock a run's warden holds.
pub(super) fn lock_file(core: &Core, run_id: &str) -> PathBuf {
    core.runs_folder().join(format!("{run_id}.lock"))
}
