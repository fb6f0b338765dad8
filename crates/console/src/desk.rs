//! What every handler of the admin address shares.

use std::sync::Arc;
use std::time::Instant;

use gateway::Core;
use gateway::reload::Reloader;

use crate::auth::{Access, Keeper};
use crate::origin::Own;
use crate::problem::Problem;

/// The parts behind the handlers.
pub(crate) struct Desk {
    pub(crate) core: Arc<Core>,
    pub(crate) reloader: Arc<Reloader>,
    pub(crate) keeper: Keeper,
    pub(crate) own: Own,
    pub(crate) node: String,
    pub(crate) started: Instant,
}

impl Desk {
    pub(crate) fn new(core: Arc<Core>, reloader: Arc<Reloader>, access: Access, admin_url: String) -> Desk {
        let own = Own::new(admin_url);
        let keeper = Keeper::new(access, &own);
        Desk { core, reloader, keeper, own, node: node(), started: Instant::now() }
    }

    /// Does something that must not be left half done: a caller may hang up at any moment, and its handler is dropped then.
    /// A task of its own goes on, and the shutdown waits for it.
    pub(crate) async fn to_the_end<T, F>(self: Arc<Self>, work: impl FnOnce(Arc<Self>) -> F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        let tasks = self.core.tasks.clone();
        tasks.spawn(work(self)).await.unwrap_or_else(|_| Err(Problem::internal()))
    }
}

/// The machine's name.
fn node() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() || name == "(none)" { "local".to_owned() } else { name }
}
