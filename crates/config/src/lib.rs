//! What did they ask? `config.yaml` and `.env` read, checked as a whole, and turned into what the gateway works with.
//!
//! The way of a file: text → a tree that knows where each part stands → variables put into its texts → one type for
//! what may be written (`raw`, also the JSON Schema) → what it means ([`Config`]): secrets wrapped, templates compiled,
//! names looked up. Every step notes what is wrong and goes on with the rest, so that [`Problems`] holds everything at
//! once. There is no half-good configuration: with a single problem there is no [`Config`].

mod agent;
mod credential;
mod environment;
mod file;
mod listen;
mod path;
mod place;
mod problem;
mod raw;
mod read;
mod report;
mod route;
mod schema;
mod server;
mod store;
mod target;
mod tree;
mod variables;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use environment::Environment;
pub use file::{load, parse};
pub use listen::{Listen, Tls};
pub use place::{Place, home};
pub use problem::{Problem, Problems};
pub use raw::Durability;
pub use route::{Route, RouteDelivery};
pub use schema::schema;
pub use server::{Admin, Server};
pub use store::{DatabaseUrl, Retention, Shelf, Store};
pub use tree::Mark;

/// A configuration without problems.
pub struct Config {
    /// The listener for providers.
    pub server: Server,
    /// The listener for people.
    pub admin: Admin,
    /// Where the ledger is.
    pub store: Store,
    /// The agents, by name.
    pub agents: BTreeMap<String, Arc<agents::Agent>>,
    /// The routes, by name.
    pub routes: BTreeMap<String, Arc<Route>>,
    /// The targets, by name; `log` is always among them.
    pub targets: BTreeMap<String, Arc<targets::Target>>,
    /// The largest hop that is still let in and sent out.
    pub max_hops: u32,
    /// What may not be meant, in the order of the file.
    pub warnings: Vec<Problem>,
    /// The environment of the process, which runs inherit from by their allow list. What stands in `.env` is not in it.
    pub environment: BTreeMap<String, String>,
}

/// The environment is full of secrets and is left out.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server)
            .field("admin", &self.admin)
            .field("store", &self.store)
            .field("agents", &self.agents)
            .field("routes", &self.routes)
            .field("targets", &self.targets)
            .field("max_hops", &self.max_hops)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
