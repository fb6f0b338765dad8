//! Everything that is done before the first request is taken.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use config::Config;
use console::{Access, Console};
use gateway::clock::Clock;
use gateway::deliver::{self, Courier};
use gateway::housekeeping::keep_house;
use gateway::listen::{self, Limits, Serving};
use gateway::reload::Reloader;
use gateway::run::{self, Scheduler};
use gateway::{Core, ingest};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Options, home};
use crate::store;

/// Connections to the admin address: people, scripts and a browser's event streams.
const ADMIN_CONNECTIONS: usize = 256;

/// A gateway at work.
pub(super) struct Parts {
    pub(super) core: Arc<Core>,
    pub(super) reloader: Arc<Reloader>,
    pub(super) public: Serving,
    pub(super) admin: Serving,
    pub(super) scheduler: Worker,
    pub(super) courier: Worker,
    pub(super) housekeeping: Worker,
}

/// A stage with what it has under way.
pub(super) struct Worker {
    stop: CancellationToken,
    task: JoinHandle<()>,
    pub(super) under_way: TaskTracker,
}

impl Worker {
    fn of<F>(run: impl FnOnce(CancellationToken) -> F, under_way: TaskTracker) -> Worker
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = CancellationToken::new();
        Worker { stop: stop.clone(), task: tokio::spawn(run(stop)), under_way }
    }

    /// Takes nothing up any more; what is under way goes on.
    pub(super) async fn stop(&mut self) {
        self.stop.cancel();
        let _ = (&mut self.task).await;
        self.under_way.close();
    }
}

pub(super) async fn start(options: Options) -> anyhow::Result<Parts> {
    let config = config::load(&options.place, &options.environment)?;
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    points::reach("start.configured");
    home::prepare(&options.place.home)?;
    let ledger = store::open(&options.place.home, &config).await?;
    points::reach("start.opened");
    // Bound before anything is claimed: a gateway that cannot be rung does not start runs either.
    let public = listen::bind(&config.server.listen).await?;
    let admin = listen::bind(&config.admin.listen).await?;
    let access = access(&options, &config)?;
    points::reach("start.bound");
    let clock = Clock::system();
    let boot = ledger.begin_boot(clock.now()).await?;
    points::reach("start.booted");
    if let Err(error) = ledger.probe().await {
        tracing::warn!("{}", not_ready(&error));
    }
    let limits = Limits { connections: config.server.max_connections, header_timeout: config.server.header_timeout };
    let admin_limits = Limits { connections: ADMIN_CONNECTIONS, ..limits };
    let core = Arc::new(Core::new(ledger, boot, options.place.home.clone(), clock, config));
    let (scheduler, courier) = workers(&core).await?;
    let housekeeping = Worker::of(|stop| keep_house(Arc::clone(&core), stop), TaskTracker::new());
    let admin_url = admin.url();
    home::write_admin_url(&options.place.home, &admin_url)?;
    points::reach("start.url_written");
    say_ready(&public.url(), &admin_url);
    points::reach("start.ready");
    let public = public.serve(ingest::router(Arc::clone(&core)), limits)?;
    let certificates = public.certificate().into_iter().collect();
    let reloader = Reloader::new(Arc::clone(&core), options.place, options.environment, certificates);
    let reloader = Arc::new(reloader);
    let console = Console::new(Arc::clone(&core), Arc::clone(&reloader), access, admin_url.clone());
    let admin = admin.serve(console.router(), admin_limits)?;
    Ok(Parts { core, reloader, public, admin, scheduler, courier, housekeeping })
}

/// What a person is told of a ledger that can store no event now. The gateway starts all the same: what is stored already
/// can run and be read, and room may come back.
fn not_ready(error: &ledger::Error) -> String {
    let remedy = match error {
        ledger::Error::DiskLow { .. } => "make room on the disk, or lower store.min_free",
        _ => "look after the disk and the rights of the folder that the ledger is in",
    };
    format!("{error}; webhooks are answered 503 until that is over: {remedy}")
}

/// The one line that `serve` prints. Both addresses are bound by now, and whoever comes waits for no more than the next
/// few instructions; said earlier than the first answer, so that a script that was answered can rely on the line.
fn say_ready(public_url: &str, admin_url: &str) {
    let line = format!("doorbell is ready: webhooks on {public_url}, admin on {admin_url}\n");
    let mut out = std::io::stdout().lock();
    // Somebody who has closed it does not want to know.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

fn access(options: &Options, config: &Config) -> anyhow::Result<Access> {
    if config.admin.open {
        return Ok(Access::Open);
    }
    match &config.admin.token {
        Some(token) => Ok(Access::Token(token.expose().to_owned())),
        None => home::admin_token(&options.place.home).map(Access::Token),
    }
}

/// Starts the stages behind the ledger, after what an earlier life left is settled or on its way to be.
async fn workers(core: &Arc<Core>) -> anyhow::Result<(Worker, Worker)> {
    let (runs, sending) = (TaskTracker::new(), TaskTracker::new());
    core.reconcile_routes().await?;
    points::reach("start.reconciled");
    deliver::recover(core, &sending).await?;
    points::reach("start.deliveries_recovered");
    run::recover(core, &runs).await?;
    points::reach("start.runs_recovered");
    let courier =
        Courier::new(Arc::clone(core), sending.clone()).map_err(anyhow::Error::msg).context("cannot deliver")?;
    let scheduler = Scheduler::new(Arc::clone(core), runs.clone());
    let scheduler = Worker::of(|stop| scheduler.run(stop), runs);
    let courier = Worker::of(|stop| courier.run(stop), sending);
    Ok((scheduler, courier))
}

#[cfg(test)]
mod tests {
    use super::not_ready;

    #[test]
    fn a_ledger_that_is_not_ready_comes_with_a_remedy() {
        let low = not_ready(&ledger::Error::DiskLow { free: 12, wanted: 34 });
        assert!(
            low.contains("12 bytes free") && low.ends_with("make room on the disk, or lower store.min_free"),
            "{low}"
        );
        let broken = not_ready(&ledger::Error::Unavailable("disk I/O error".into()));
        assert!(broken.contains("disk I/O error") && broken.contains("503") && broken.contains("rights"), "{broken}");
    }
}
