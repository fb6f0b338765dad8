//! The one order in which a gateway stops: first what brings work, last what remembers it.

use std::time::Duration;

use gateway::life;
use gateway::run::StopWish;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::start::{Parts, Workers};

/// Requests that are being answered may finish within this.
const REQUESTS: Duration = Duration::from_secs(3);
/// A stopped run ends within its own grace of 5 s; this is some more.
const STOPPED_RUNS: Duration = Duration::from_secs(10);
/// Deliveries under way may finish within this; later ones are of unknown outcome or sent again, as their targets allow.
const DELIVERIES: Duration = Duration::from_secs(5);

/// Stops all stages. Runs that are cut off go back to the queue, what was finished is on record.
pub(super) async fn in_order(parts: Parts) {
    // The lock of the home is held until the end.
    let Parts { core, public, admin, workers, reloader: _, lock: _lock } = parts;
    let Workers { mut scheduler, mut courier, mut housekeeping, mut listener, mut keeper } = workers;
    let grace = core.config().server.shutdown_grace;
    points::reach("stop.asked");
    tokio::join!(public.stop(REQUESTS), scheduler.stop(), housekeeping.stop(), listener.stop());
    points::reach("stop.sources_stopped");
    finish_runs(&core, &scheduler.under_way, grace).await;
    points::reach("stop.runs_ended");
    courier.stop().await;
    points::reach("stop.courier_stopped");
    if timeout(DELIVERIES, courier.under_way.wait()).await.is_err() {
        tracing::warn!("deliveries were still under way");
    }
    points::reach("stop.deliveries_ended");
    admin.stop(REQUESTS).await;
    core.tasks.close();
    let _ = timeout(REQUESTS, core.tasks.wait()).await;
    points::reach("stop.tasks_ended");
    // Renewed until here: what ends is written by a life that lives.
    keeper.stop().await;
    say_goodbye(&core).await;
    core.ledger.close().await;
    points::reach("stop.ledger_closed");
    let _ = std::fs::remove_file(super::admin_url_file(&core.home));
    points::reach("stop.done");
    tracing::info!("stopped");
}

/// Ends the life: what it could not end may be taken over by other nodes at once.
async fn say_goodbye(core: &gateway::Core) {
    if let Ok(Ok(())) = timeout(REQUESTS, core.ledger.end_boot(core.boot())).await {
        life::forget(&core.home);
    } else {
        tracing::warn!("the ledger was not told of the end; what was left is taken over when the lease has ended");
    }
}

async fn finish_runs(core: &gateway::Core, runs: &TaskTracker, grace: Duration) {
    if timeout(grace, runs.wait()).await.is_ok() {
        return;
    }
    tracing::info!(runs = core.flights.count(), "handing runs back that did not end in server.shutdown_grace");
    core.flights.stop_all(StopWish::Shutdown);
    if timeout(STOPPED_RUNS, runs.wait()).await.is_err() {
        tracing::error!(runs = core.flights.count(), "runs did not end; the next start finds them");
    }
}
