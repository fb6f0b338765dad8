//! Everything that is done before the first request is taken.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use config::Config;
use console::{Access, Console};
use gateway::clock::Clock;
use gateway::deliver::{self, Courier};
use gateway::housekeeping::keep_house;
use gateway::life::{self, Keeper};
use gateway::listen::{self, Limits, Serving};
use gateway::reload::Reloader;
use gateway::run::{self, Scheduler};
use gateway::{Core, ingest, leftovers, trouble, wall};
use ledger::Inheritance;
use ledger::sqlite::Lock;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Options, files, home};
use crate::store;

/// Connections to the admin address: people, scripts and a browser's event streams.
const ADMIN_CONNECTIONS: usize = 256;

/// A gateway at work.
pub(super) struct Parts {
    pub(super) core: Arc<Core>,
    pub(super) reloader: Arc<Reloader>,
    pub(super) public: Serving,
    pub(super) admin: Serving,
    pub(super) workers: Workers,
    /// Of the home, where the ledger does not have it.
    pub(super) lock: Option<Lock>,
}

/// The stages behind the ledger, and what keeps them going.
pub(super) struct Workers {
    pub(super) scheduler: Worker,
    pub(super) courier: Worker,
    pub(super) housekeeping: Worker,
    /// Hears what other nodes tell.
    pub(super) listener: Worker,
    /// Renews the lease.
    pub(super) keeper: Worker,
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
    let (ledger, lock) = store::own(&options.place.home, &config).await?;
    points::reach("start.opened");
    // Bound before anything is claimed: a gateway that cannot be rung does not start runs either.
    let public = listen::bind(&config.server.listen).await?;
    let admin = listen::bind(&config.admin.listen).await?;
    let access = access(&options, &config)?;
    points::reach("start.bound");
    let clock = Clock::system();
    let (boot, inheritance) = life::begin(&*ledger, &options.place.home, &gateway::node_name(&config), &clock)
        .await
        .with_context(|| config.store.at.to_string())?;
    points::reach("start.booted");
    let wall = wall::begin(ledger.as_ref(), clock.now()).await?;
    let connections = files::connections(config.server.max_connections);
    let limits = Limits { connections, header_timeout: config.server.header_timeout };
    let admin_limits = Limits { connections: ADMIN_CONNECTIONS, ..limits };
    let core = Arc::new(Core::new(ledger, boot, options.place.home.clone(), clock, config).with_wall(wall));
    // It starts all the same: what is stored already can run and be read, and room may come back.
    if let Err(error) = core.ledger.probe().await {
        core.signals.ledger_failed("start", &error);
    }
    let workers = workers(&core, inheritance).await?;
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
    Ok(Parts { core, reloader, public, admin, workers, lock })
}

/// What is done now and then, for nobody in particular.
async fn look_after(core: Arc<Core>, stop: CancellationToken) {
    let _watch = core.broken.watch();
    tokio::join!(
        keep_house(Arc::clone(&core), stop.clone()),
        wall::keep(Arc::clone(&core), stop.clone()),
        trouble::watch(core, stop)
    );
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
async fn workers(core: &Arc<Core>, inheritance: Inheritance) -> anyhow::Result<Workers> {
    let (runs, sending) = (TaskTracker::new(), TaskTracker::new());
    core.reconcile_routes().await?;
    points::reach("start.reconciled");
    leftovers::remove(core, &inheritance).await?;
    deliver::take_up(core, &sending, inheritance.deliveries);
    deliver::recover(core, &sending).await?;
    points::reach("start.deliveries_recovered");
    run::take_up(core, &runs, inheritance.runs);
    run::recover(core, &runs).await?;
    points::reach("start.runs_recovered");
    let courier =
        Courier::new(Arc::clone(core), sending.clone()).map_err(anyhow::Error::msg).context("cannot deliver")?;
    let scheduler = Scheduler::new(Arc::clone(core), runs.clone());
    let keeper = Keeper::new(Arc::clone(core), runs.clone(), sending.clone());
    let alone = TaskTracker::new;
    Ok(Workers {
        scheduler: Worker::of(|stop| scheduler.run(stop), runs),
        courier: Worker::of(|stop| courier.run(stop), sending),
        housekeeping: Worker::of(|stop| look_after(Arc::clone(core), stop), alone()),
        listener: Worker::of(|stop| life::listen(Arc::clone(core), stop), alone()),
        keeper: Worker::of(|stop| keeper.run(stop), alone()),
    })
}
