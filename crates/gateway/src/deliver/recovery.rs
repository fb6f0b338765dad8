//! Deliveries that were under way when an earlier life ended: nobody knows whether they arrived.

use std::sync::Arc;

use ledger::{DeliveryEnd, StuckDelivery};
use rules::states::DeliveryState;
use tokio_util::task::TaskTracker;

use super::courier;
use crate::Core;
use crate::process::{self, Mark};

/// Settles what lives that are over left `sending`, here or on other nodes.
pub async fn recover(core: &Arc<Core>, tasks: &TaskTracker) -> Result<(), ledger::Error> {
    for stuck in core.ledger.stuck_deliveries(core.boot()).await? {
        if !core.sending.begin(&stuck.id) {
            continue;
        }
        match core.ledger.adopt_delivery(&stuck.id, core.boot()).await {
            Ok(true) => {}
            Ok(false) => {
                core.sending.end(&stuck.id);
                continue;
            }
            Err(error) => {
                core.sending.doubt(&stuck.id);
                return Err(error);
            }
        }
        points::reach("recover.delivery_adopted");
        begin(core, tasks, stuck);
    }
    Ok(())
}

/// Settles deliveries that are this life's own since it inherited them.
pub fn take_up(core: &Arc<Core>, tasks: &TaskTracker, inherited: Vec<StuckDelivery>) {
    for stuck in inherited {
        if core.sending.begin(&stuck.id) {
            begin(core, tasks, stuck);
        }
    }
}

/// Gives back deliveries whose claims' answers were lost on the way: nobody has begun to send them.
pub(crate) fn give_back(core: &Arc<Core>, tasks: &TaskTracker, lost: Vec<StuckDelivery>) {
    for delivery in lost {
        if core.sending.is_doubtful(&delivery.id) {
            take_up(core, tasks, vec![delivery]);
        } else if core.sending.begin(&delivery.id) {
            let core = Arc::clone(core);
            tasks.spawn(async move {
                let _watch = core.broken.watch();
                let id = delivery.id.clone();
                let why = "the ledger's answer was lost before anything was sent";
                record(&core, delivery, true, why).await;
                core.sending.end(&id);
            });
        }
    }
}

/// Settles one in a task of its own: sent again where that is safe, else of `unknown` outcome.
fn begin(core: &Arc<Core>, tasks: &TaskTracker, stuck: StuckDelivery) {
    let core = Arc::clone(core);
    tasks.spawn(async move {
        let _watch = core.broken.watch();
        let id = stuck.id.clone();
        settle(&core, stuck).await;
        core.sending.end(&id);
    });
}

async fn settle(core: &Core, stuck: StuckDelivery) {
    // A program that was telling the message may still be at it.
    let lock = core.runs_folder().join(format!("{}.lock", stuck.id));
    let mark = Mark::delivery(&stuck.id);
    if let Ok(Err(error)) = tokio::task::spawn_blocking(move || process::wait_until_gone(&lock, &mark)).await {
        tracing::error!(delivery_id = stuck.id, %error, "cannot tell whether the target's program has ended; going on");
    }
    points::reach("recover.delivery_gone");
    let again = core.config().targets.get(&stuck.target).is_some_and(|target| target.safe_to_resend());
    record(core, stuck, again, "the gateway died while it was sending").await;
}

/// Records that a delivery is to be sent again, or of unknown outcome.
async fn record(core: &Core, stuck: StuckDelivery, again: bool, why: &str) {
    let now = core.clock.now();
    let end = DeliveryEnd {
        id: stuck.id,
        boot: core.boot(),
        attempt: stuck.attempt,
        state: if again { DeliveryState::Failed } else { DeliveryState::Unknown },
        error: Some(why.into()),
        due_at: again.then_some(now),
        now,
    };
    courier::record(core, &end, &stuck.target).await;
    points::reach("recover.delivery_recorded");
    core.deliveries_bell.notify_one();
}
