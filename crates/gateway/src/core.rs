//! What every stage of the gateway shares.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use config::Config;
use ledger::{Boot, Ledger};
use tokio::sync::{Notify, RwLock as AsyncRwLock, watch};
use tokio_util::task::TaskTracker;

use crate::broken::Broken;
use crate::clock::Clock;
use crate::deliver::Sending;
use crate::process::Permits;
use crate::run::{Brake, Flights};
use crate::signals::Signals;
use crate::wall::Wall;

/// What people call the gateway of a configuration: `server.name`, else its host's name.
pub fn node_name(config: &Config) -> String {
    config.server.name.clone().unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

/// The gateway's shared parts. Stages never call each other: they write to the ledger and ring the next stage's bell.
pub struct Core {
    /// What happened.
    pub ledger: Arc<dyn Ledger>,
    /// The home folder.
    pub home: PathBuf,
    /// The time.
    pub clock: Clock,
    /// Whether the time was set.
    pub wall: Wall,
    /// Metrics and log lines.
    pub signals: Signals,
    /// Rung when a run may have become possible.
    pub runs_bell: Notify,
    /// Rung when a delivery may have become due.
    pub deliveries_bell: Notify,
    /// Rung when the lease of this life is to be renewed at once.
    pub lease_bell: Notify,
    /// Held for reading by whoever claims, until what was claimed is known to be under way here.
    pub(crate) claims: AsyncRwLock<()>,
    /// Deliveries that are being sent, which nobody else in this process may take over.
    pub sending: Sending,
    /// Runs in flight, for those who want to stop one.
    pub flights: Flights,
    /// Whether runs can be started at all.
    pub brake: Brake,
    /// Whether a part has broken off.
    pub broken: Broken,
    /// Until when programs may run.
    pub permits: Permits,
    /// Requests and actions that must be finished before the ledger closes.
    pub tasks: TaskTracker,
    /// What runs and programs may inherit from, by their allow lists.
    pub environment: Vec<(String, String)>,
    boot: watch::Sender<Boot>,
    config: RwLock<Arc<Config>>,
}

impl Core {
    /// Puts the parts together.
    pub fn new(ledger: Arc<dyn Ledger>, boot: Boot, home: PathBuf, clock: Clock, config: Config) -> Core {
        let environment = config.environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Core {
            wall: Wall::new(clock.now(), None, false),
            ledger,
            boot: watch::Sender::new(boot),
            home,
            clock,
            signals: Signals::new(),
            runs_bell: Notify::new(),
            deliveries_bell: Notify::new(),
            lease_bell: Notify::new(),
            claims: AsyncRwLock::default(),
            sending: Sending::default(),
            flights: Flights::default(),
            brake: Brake::default(),
            broken: Broken::default(),
            permits: Permits::default(),
            tasks: TaskTracker::new(),
            environment,
            config: RwLock::new(Arc::new(config)),
        }
    }

    /// The number of the life that this gateway is in. Another one begins when its lease was lost, so it is asked for each time.
    pub fn boot(&self) -> Boot {
        *self.boot.borrow()
    }

    /// The same, for those who wait for another life.
    pub(crate) fn boots(&self) -> watch::Receiver<Boot> {
        self.boot.subscribe()
    }

    /// Enters another life.
    pub(crate) fn begin_life(&self, boot: Boot) {
        self.boot.send_replace(boot);
    }

    /// Rings for all who take work from the ledger.
    pub(crate) fn ring_all(&self) {
        self.runs_bell.notify_one();
        self.deliveries_bell.notify_one();
    }

    /// What people call this gateway.
    pub fn node_name(&self) -> String {
        node_name(&self.config())
    }

    /// With what is known of the wall clock from before.
    #[must_use]
    pub fn with_wall(self, wall: Wall) -> Core {
        Core { wall, ..self }
    }

    /// The configuration in force. What was begun with it keeps it.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another configuration in force, as a whole, and settles what waits for routes that came or went.
    pub async fn reconfigure(&self, config: Config) -> Result<(), ledger::Error> {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        self.reconcile_routes().await?;
        self.deliveries_bell.notify_one();
        Ok(())
    }

    /// Tells the ledger which routes there are, so that events of others are held and those of returned ones go on.
    pub async fn reconcile_routes(&self) -> Result<(), ledger::Error> {
        let known: Vec<String> = self.config().routes.keys().cloned().collect();
        self.ledger.reconcile_routes(&known).await?;
        self.runs_bell.notify_one();
        Ok(())
    }

    /// The folder of locks and prompt files of runs.
    pub fn runs_folder(&self) -> PathBuf {
        self.home.join("runs")
    }
}
