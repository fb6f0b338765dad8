//! Runs of an earlier life: what is left of them is ended, then their events run again.

use std::sync::Arc;

use ledger::{FinishRun, Finished, OrphanRun, RunRecord};
use rules::run_end::Policy;
use rules::states::RunState;
use tokio_util::task::TaskTracker;

use super::{flight, prepare, stop_command};
use crate::{Core, process};

/// Finds the runs that an earlier life left in flight and deals with each in a task of its own. An event stays `running`
/// until nothing of its last run is alive.
pub async fn recover(core: &Arc<Core>, tasks: &TaskTracker) -> Result<(), ledger::Error> {
    for orphan in core.ledger.orphan_runs(core.boot).await? {
        tracing::warn!(
            run_id = orphan.run_id,
            event_id = orphan.event_id,
            "the run was interrupted; ending what is left of it"
        );
        let core = Arc::clone(core);
        tasks.spawn(async move { end(&core, orphan).await });
    }
    Ok(())
}

async fn end(core: &Core, orphan: OrphanRun) {
    let lock = prepare::lock_file(core, &orphan.run_id);
    let gone = tokio::task::spawn_blocking(move || process::wait_until_gone(&lock)).await;
    if let Ok(Err(error)) = gone {
        tracing::error!(run_id = orphan.run_id, %error, "cannot tell whether the run's process has ended; going on");
    }
    let _ = std::fs::remove_file(prepare::prompt_file(core, &orphan.run_id));
    let config = core.config();
    if let Some(agent) = config.agents.get(&orphan.agent)
        && let Some(stop) = agent.stop(&orphan.run_id, &core.home.to_string_lossy(), &core.environment)
    {
        stop_command::run(core, &orphan.run_id, &stop).await;
    }
    let policy = config.routes.get(&orphan.route).map_or_else(flight::policy_without_route, |route| Policy {
        max_retries: route.max_retries,
        backoff: route.backoff,
    });
    let now = core.clock.now();
    let finish = FinishRun {
        run_id: orphan.run_id.clone(),
        boot: core.boot,
        attempt: orphan.attempt,
        ended_at: now,
        state: RunState::Interrupted,
        record: RunRecord { error: Some("the gateway died during the run".into()), ..RunRecord::default() },
        next: flight::interrupted(orphan.standing, &policy, now),
        deliveries: Vec::new(),
    };
    if flight::record(core, &finish).await == Finished::Written {
        tracing::info!(run_id = orphan.run_id, event_id = orphan.event_id, next = %finish.next.state, "recovered");
    }
    core.runs_bell.notify_one();
}
