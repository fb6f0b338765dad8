//! Who runs next, and when to look again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agents::Scope;
use config::Config;
use ledger::{AgentRoom, ClaimRuns, ClaimedRun, RouteRoom};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{brake::Leave, flight, flights::Flight};
use crate::{Core, chance};

/// Without a bell and without a due time the ledger is looked at now and then all the same.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);
/// While the ledger cannot be used, or something is due that has no room.
const SHORT_SLEEP: Duration = Duration::from_secs(1);
/// Runs that one claim may start; the rest is claimed right after.
const AT_ONCE: u32 = 64;

/// Starts runs while there is room.
pub struct Scheduler {
    core: Arc<Core>,
    runs: TaskTracker,
}

impl Scheduler {
    /// A scheduler whose runs are tracked by `runs`.
    pub fn new(core: Arc<Core>, runs: TaskTracker) -> Scheduler {
        Scheduler { core, runs }
    }

    /// Starts runs until `shutdown`. Runs in flight go on.
    pub async fn run(self, shutdown: CancellationToken) {
        let _watch = self.core.broken.watch();
        loop {
            let wait = match self.start_all().await {
                Ok(wait) => wait,
                Err(error) => {
                    self.core.signals.ledger_failed("claim runs", &error);
                    SHORT_SLEEP
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.core.runs_bell.notified() => {}
                () = sleep(wait) => {}
            }
        }
    }

    /// Starts what may start and answers how long nothing new can become due.
    async fn start_all(&self) -> Result<Duration, ledger::Error> {
        let config = self.core.config();
        loop {
            let mut claim = self.claim(&config);
            match self.core.brake.leave() {
                Leave::All => {}
                Leave::One => claim.run_ids.truncate(1),
                Leave::None(wait) => return Ok(wait),
            }
            if claim.run_ids.is_empty() {
                // The end of a run rings the bell.
                return Ok(LONGEST_SLEEP);
            }
            let wanted = claim.run_ids.len();
            let claiming = self.core.claims.read().await;
            let claimed = self.core.ledger.claim_runs(claim).await?;
            let started = claimed.len();
            if started > 0 {
                self.core.brake.trying();
                points::reach("run.claimed");
            }
            for run in claimed {
                self.start(run);
            }
            drop(claiming);
            if started < wanted {
                break;
            }
        }
        let due = self.core.ledger.due().await?.event;
        Ok(due.map_or(LONGEST_SLEEP, |at| match u64::try_from(at - self.core.clock.now()) {
            Ok(millis) => Duration::from_millis(millis).clamp(Duration::from_millis(1), LONGEST_SLEEP),
            Err(_) => SHORT_SLEEP,
        }))
    }

    /// The room that there is now.
    fn claim(&self, config: &Config) -> ClaimRuns {
        let by_agent = self.core.flights.by(|f: &Flight| &f.agent);
        let by_route = self.core.flights.by(|f: &Flight| &f.route);
        let left = |limit: u32, busy: &HashMap<String, u32>, name: &str| {
            limit.saturating_sub(busy.get(name).copied().unwrap_or(0))
        };
        let agents: Vec<AgentRoom> = config
            .agents
            .values()
            .map(|a| AgentRoom {
                agent: a.name.clone(),
                room: left(a.max_concurrent, &by_agent, &a.name),
                cluster_limit: (a.scope == Scope::Cluster).then_some(a.max_concurrent),
            })
            .filter(|a| a.room > 0)
            .collect();
        let routes = config
            .routes
            .values()
            .filter(|route| agents.iter().any(|a| a.agent == route.agent))
            .map(|route| RouteRoom {
                route: route.name.clone(),
                agent: route.agent.clone(),
                room: route.max_concurrent.map_or(u32::MAX, |limit| left(limit, &by_route, &route.name)),
            })
            .filter(|route| route.room > 0)
            .collect::<Vec<_>>();
        let most =
            if routes.is_empty() { 0 } else { agents.iter().map(|a| a.room).fold(0, u32::saturating_add).min(AT_ONCE) };
        let run_ids = (0..most).map(|_| chance::run_id()).collect();
        ClaimRuns { boot: self.core.boot(), now: self.core.clock.now(), routes, agents, run_ids }
    }

    fn start(&self, run: ClaimedRun) {
        let flight = self.core.flights.begin(&run.run_id, &run.route, &run.agent);
        let core = Arc::clone(&self.core);
        self.runs.spawn(async move {
            let _watch = core.broken.watch();
            let run_id = run.run_id.clone();
            flight::fly(&core, run, &flight).await;
            points::reach("run.finished");
            core.flights.end(&run_id);
            core.runs_bell.notify_one();
            core.deliveries_bell.notify_one();
        });
    }
}
