//! Noticing that the ledger is back.

use std::sync::Arc;
use std::time::Duration;

use ledger::Error;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::Core;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// When the ledger has gone, looks until it can be used again, says so once, and rings for all who wait. Until `shutdown`.
pub async fn watch(core: Arc<Core>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = core.signals.ledger_gone() => {}
        }
        while matches!(core.ledger.probe().await, Err(Error::Unavailable(_) | Error::Busy)) {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = sleep(LOOK) => {}
            }
        }
        core.signals.ledger_works();
        core.lease_bell.notify_one();
        core.ring_all();
    }
}
