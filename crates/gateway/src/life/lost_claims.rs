//! Claims whose answers were lost on the way: the ledger has given this life a run or a delivery, and nobody here knows. Nothing
//! of them was ever started.

use std::sync::Arc;
use std::time::Duration;

use ledger::Error;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::{Core, deliver, run};

/// How long to wait for whoever claims just now.
const PATIENCE: Duration = Duration::from_secs(1);

/// Compares what the ledger says that this life has under way with what it has, and gives back what it does not know of. Put off
/// when a claim takes long.
pub(super) async fn give_back(core: &Arc<Core>, runs: &TaskTracker, sending: &TaskTracker) -> Result<(), Error> {
    let Ok(_nobody_claims) = timeout(PATIENCE, core.claims.write()).await else { return Ok(()) };
    // Before the ledger is asked: what ends meanwhile is no longer here, and was known all the same.
    let (flying, being_sent) = (core.flights.ids(), core.sending.ids());
    let mut lost = core.ledger.under_way(core.boot()).await?;
    lost.runs.retain(|run| !flying.contains(&run.run_id));
    lost.deliveries.retain(|delivery| !being_sent.contains(&delivery.id));
    run::give_back(core, runs, lost.runs);
    deliver::give_back(core, sending, lost.deliveries);
    Ok(())
}
