//! Staying alive among the nodes of a shared ledger: renewing the lease, giving up in time, beginning anew, and taking over
//! what dead nodes left.
//!
//! A life that cannot be renewed ends its agents before others may run their events. Whether it was lost says the ledger
//! alone: after an outage in which nobody took anything over, everything goes on.

pub(crate) mod fence;
mod lost_claims;
mod predecessor;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ledger::{Boot, Error, Inheritance, Lease, Ledger, Renewal};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::process::moment;
use crate::run::StopWish;
use crate::{Core, deliver, run};
use predecessor::Remembered;
pub use predecessor::forget;

/// How long after the end of a lease it is looked for.
const A_MOMENT: Duration = Duration::from_millis(100);
/// Between two tries while the ledger cannot be used.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// Begins the first life of a gateway, which has the home's lock. Where lives hold leases it inherits what the life before in the
/// same home left, and is remembered there itself.
pub async fn begin(ledger: &dyn Ledger, home: &Path, name: &str, clock: &Clock) -> Result<(Boot, Inheritance), Error> {
    follow(ledger, clock).await?;
    let started_at = clock.now();
    let boot = ledger.begin_boot(name, started_at).await?;
    if ledger.lease().is_none() {
        return Ok((boot, Inheritance::default()));
    }
    let inheritance = predecessor::inherit(ledger, home, boot).await?;
    remember(home, &Remembered { boot, name: name.to_owned(), started_at });
    Ok((boot, inheritance))
}

fn remember(home: &Path, life: &Remembered) {
    if let Err(error) = predecessor::remember(home, life) {
        tracing::warn!(%error, "after a crash, this gateway's runs wait until its lease has ended");
    }
}

/// Lets the clock go by the ledger's, where that has one: nodes then agree on what is due, whatever their machines say.
async fn follow(ledger: &dyn Ledger, clock: &Clock) -> Result<(), Error> {
    let asked = std::time::Instant::now();
    if let Some(time) = ledger.time().await? {
        clock.follow(asked + asked.elapsed() / 2, time);
    }
    Ok(())
}

/// Keeps a gateway's life.
pub struct Keeper {
    core: Arc<Core>,
    /// Where runs and deliveries that are taken over are tracked.
    runs: TaskTracker,
    sending: TaskTracker,
    renewed: Instant,
    /// The agents were stopped, since the lease could not be renewed.
    gave_up: bool,
}

impl Keeper {
    /// A keeper of a life that has just begun or been renewed.
    pub fn new(core: Arc<Core>, runs: TaskTracker, sending: TaskTracker) -> Keeper {
        let keeper = Keeper { core, runs, sending, renewed: Instant::now(), gave_up: false };
        keeper.permit();
        keeper
    }

    /// Renews until `shutdown`. Without a lease there is nothing to do.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let core = Arc::clone(&self.core);
        let _watch = core.broken.watch();
        let Some(lease) = self.core.ledger.lease() else { return shutdown.cancelled().await };
        let mut wait = lease.renew_every;
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.core.lease_bell.notified() => {}
                () = sleep(wait) => {}
            }
            wait = match self.renew(lease).await {
                Ok(look_again) => look_again.unwrap_or(lease.renew_every).min(lease.renew_every),
                Err(Error::Closed) => return,
                Err(error) => {
                    self.core.signals.ledger_failed("renew the lease", &error);
                    TRY_AGAIN.min(lease.renew_every)
                }
            };
        }
    }

    /// Renews, and takes over what others left. Answers when another one's lease may have ended.
    async fn renew(&mut self, lease: Lease) -> Result<Option<Duration>, Error> {
        let began = Instant::now();
        // Who wakes up late asks once before it gives up: nobody may have missed it.
        let last_moment =
            (self.renewed + lease.give_up_after).max(began + lease.length.saturating_sub(lease.give_up_after) / 4);
        let core = Arc::clone(&self.core);
        let boot = core.boot();
        let mut asked = std::pin::pin!(core.ledger.renew(boot));
        let answer = if let Ok(answer) = timeout(last_moment - began, &mut asked).await {
            answer
        } else {
            self.give_up();
            asked.await
        };
        let mut others = None;
        match answer {
            Ok(Renewal::Kept { look_again }) => {
                others = look_again.map(|end| end + A_MOMENT);
                self.renewed = began;
                self.permit();
                self.gave_up = false;
            }
            Ok(Renewal::Lost) => self.begin_anew(boot).await?,
            Err(error) => {
                if self.renewed.elapsed() >= lease.give_up_after {
                    self.give_up();
                }
                return Err(error);
            }
        }
        follow(&*core.ledger, &core.clock).await?;
        deliver::recover(&core, &self.sending).await?;
        run::recover(&core, &self.runs).await?;
        lost_claims::give_back(&core, &self.runs, &self.sending).await?;
        // A node that died had no time to tell of what it took, and what it told may have been lost on the way.
        core.ring_all();
        Ok(others)
    }

    /// Programs may run for so long after the last renewal.
    fn permit(&self) {
        if let Some(lease) = self.core.ledger.lease() {
            let passed = u64::try_from(self.renewed.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.core.permits.extend(moment().saturating_sub(passed), lease.give_up_after);
        }
    }

    /// Soon others may run the events of what is in flight here.
    fn give_up(&mut self) {
        if self.gave_up {
            return;
        }
        self.gave_up = true;
        let runs = self.core.flights.count();
        tracing::error!(
            runs,
            "the lease could not be renewed in time; runs in flight are stopped, since other nodes may take over"
        );
        self.core.flights.stop_all(StopWish::Lease);
    }

    async fn begin_anew(&mut self, lost: Boot) -> Result<(), Error> {
        let core = &self.core;
        // Its runs are stopped before anything else can fail.
        core.flights.stop_all(StopWish::Lease);
        let (name, started_at) = (core.node_name(), core.clock.now());
        let boot = core.ledger.begin_boot(&name, started_at).await?;
        remember(&core.home, &Remembered { boot, name, started_at });
        core.begin_life(boot);
        self.renewed = Instant::now();
        self.permit();
        self.gave_up = false;
        let runs = core.flights.count();
        tracing::error!(
            runs,
            lost,
            boot,
            "another node took over, since this one's lease had ended; runs in flight were stopped"
        );
        core.ring_all();
        Ok(())
    }
}

/// Rings when other nodes may have made work ready, until `shutdown`.
pub async fn listen(core: Arc<Core>, shutdown: CancellationToken) {
    let _watch = core.broken.watch();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = core.ledger.changed() => core.ring_all(),
        }
    }
}
