//! Runs of an earlier life: what is left of them is ended, then their events run again.

use std::sync::Arc;

use ledger::{FinishRun, Finished, OrphanRun, RunRecord};
use rules::run_end;
use tokio_util::task::TaskTracker;

use super::flights::Flight;
use super::outcome::Outcome;
use super::{flight, prepare, stop_command};
use crate::process::{self, Mark};
use crate::{Core, chance};

/// Deals with the runs that lives which are over left in flight, here or on other nodes.
pub async fn recover(core: &Arc<Core>, tasks: &TaskTracker) -> Result<(), ledger::Error> {
    take_up(core, tasks, core.ledger.orphan_runs(core.boot()).await?);
    Ok(())
}

/// Deals with each of these runs in a task of its own. An event stays `running` until nothing of its last run is alive.
pub fn take_up(core: &Arc<Core>, tasks: &TaskTracker, orphans: Vec<OrphanRun>) {
    for orphan in orphans {
        // It has its place among the runs in flight until nothing of it is left: no other run gets its agent's room. One that is
        // there already is being dealt with, or is of a life of this gateway that has just ended, and ends by itself.
        let Some(flight) = core.flights.begin_new(&orphan.run_id, &orphan.route, &orphan.agent) else { continue };
        tracing::warn!(
            run_id = orphan.run_id,
            event_id = orphan.event_id,
            "the run was interrupted; ending what is left of it"
        );
        points::reach("recover.run_found");
        let core = Arc::clone(core);
        tasks.spawn(async move {
            let _watch = core.broken.watch();
            let run_id = orphan.run_id.clone();
            end(&core, orphan, &flight).await;
            points::reach("recover.run_recorded");
            core.flights.end(&run_id);
            core.runs_bell.notify_one();
        });
    }
}

async fn end(core: &Core, orphan: OrphanRun, place: &Flight) {
    let lock = prepare::lock_file(core, &orphan.run_id);
    let mark = Mark::run(&orphan.run_id);
    let gone = tokio::task::spawn_blocking(move || process::wait_until_gone(&lock, &mark)).await;
    if let Ok(Err(error)) = gone {
        tracing::error!(run_id = orphan.run_id, %error, "cannot tell whether the run's process has ended; going on");
    }
    points::reach("recover.run_gone");
    let _ = std::fs::remove_file(prepare::prompt_file(core, &orphan.run_id));
    let config = core.config();
    if let Some(agent) = config.agents.get(&orphan.agent)
        && let Some(stop) = agent.stop(&orphan.run_id, &core.home.to_string_lossy(), &core.environment)
    {
        stop_command::run(core, &orphan.run_id, &stop).await;
    }
    let outcome = Outcome::cut_off(place.wish(), "the gateway died during the run", RunRecord::default());
    record(core, orphan, outcome).await;
}

/// Gives back runs whose claims' answers were lost on the way: nothing of them was ever started.
pub(crate) fn give_back(core: &Arc<Core>, tasks: &TaskTracker, lost: Vec<OrphanRun>) {
    for orphan in lost {
        let Some(place) = core.flights.begin_new(&orphan.run_id, &orphan.route, &orphan.agent) else { continue };
        let core = Arc::clone(core);
        tasks.spawn(async move {
            let _watch = core.broken.watch();
            let run_id = orphan.run_id.clone();
            let why = "the ledger's answer was lost before the run could begin";
            record(&core, orphan, Outcome::unstarted(place.wish(), why)).await;
            core.flights.end(&run_id);
            core.runs_bell.notify_one();
        });
    }
}

async fn record(core: &Core, orphan: OrphanRun, outcome: Outcome) {
    let config = core.config();
    let policy = flight::policy(config.routes.get(&orphan.route).map(AsRef::as_ref));
    let now = core.clock.now();
    let finish = FinishRun {
        run_id: orphan.run_id.clone(),
        boot: core.boot(),
        attempt: orphan.attempt,
        ended_at: now,
        state: outcome.state,
        record: outcome.record,
        next: run_end::judge(outcome.ending, orphan.standing, &policy, now, chance::jitter()),
        deliveries: Vec::new(),
    };
    if flight::record(core, &finish).await == Finished::Written {
        tracing::info!(run_id = orphan.run_id, event_id = orphan.event_id, next = %finish.next.state, "recovered");
    }
}
