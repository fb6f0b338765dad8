//! Letting go of what has been kept long enough.

use std::sync::Arc;
use std::time::Duration;

use rules::states::EventState;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::Core;

/// How often old events are looked for.
const EVERY: Duration = Duration::from_mins(10);
/// Events that one step removes: few, since what comes meanwhile waits for the step.
const AT_ONCE: u32 = 32;
/// The longest rest between two steps.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Removes finished events that are older than `store.retention`, now and then, until `shutdown`.
pub async fn keep_house(core: Arc<Core>, shutdown: CancellationToken) {
    let mut doubted = false;
    loop {
        let doubt = core.wall.in_doubt(core.clock.now());
        if doubt && !doubted {
            tracing::warn!(
                "old events are not removed for an hour: the clock went ahead by more than a day, or the gateway did not run \
                 for so long"
            );
        }
        doubted = doubt;
        if let Err(error) = prune_all(&core, &shutdown).await {
            tracing::warn!(%error, "old events were not removed; trying again later");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = sleep(EVERY) => {}
        }
    }
}

async fn prune_all(core: &Core, shutdown: &CancellationToken) -> Result<(), ledger::Error> {
    let kept = core.config().store.retention;
    for (state, kept) in [
        (EventState::Succeeded, kept.succeeded),
        (EventState::Exhausted, kept.exhausted),
        (EventState::Cancelled, kept.cancelled),
        (EventState::Ignored, kept.ignored),
    ] {
        let age = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let before = core.clock.now().saturating_sub(age);
        let mut gone = 0;
        while !shutdown.is_cancelled() && !core.wall.in_doubt(core.clock.now()) {
            let removed = unhurried(core.ledger.prune(state, before, AT_ONCE)).await?;
            gone += removed;
            if removed < AT_ONCE {
                break;
            }
        }
        if gone > 0 {
            tracing::info!(%state, gone, "old events removed");
        }
    }
    while !shutdown.is_cancelled() && unhurried(core.ledger.give_back()).await? {}
    Ok(())
}

/// A step, and a rest as long as the step took: the ledger is for what comes in first.
async fn unhurried<T>(step: impl Future<Output = Result<T, ledger::Error>>) -> Result<T, ledger::Error> {
    let began = Instant::now();
    let done = step.await?;
    sleep(began.elapsed().min(LONGEST_REST)).await;
    Ok(done)
}
