//! How it stands: the one answer to that question, for the admin API and for commands that work on the ledger itself.

use std::collections::BTreeMap;

use config::{Config, Route};
use rules::states::{DeliveryState, EventState};
use serde::Serialize;

use crate::Core;

/// The contract's `status` object. Every state is there, those without anything with 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    version: &'static str,
    node: String,
    /// Seconds since the gateway started; none without a gateway.
    uptime_s: Option<u64>,
    events: BTreeMap<EventState, u64>,
    runs: Runs,
    deliveries: BTreeMap<DeliveryState, u64>,
    hooks: BTreeMap<String, u64>,
    routes: Vec<RouteStanding>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Runs {
    running: u64,
}

/// Whether a route works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RouteStanding {
    /// Its name.
    pub name: String,
    /// `active`, `paused` or `disabled`.
    pub state: &'static str,
    /// Why, when it is not active.
    pub reason: Option<&'static str>,
}

impl Standing {
    /// Asks the ledger.
    pub async fn of(core: &Core, uptime_s: Option<u64>) -> Result<Standing, ledger::Error> {
        let status = core.ledger.status().await?;
        Ok(Standing {
            version: env!("CARGO_PKG_VERSION"),
            node: core.node_name(),
            uptime_s,
            events: complete(EventState::ALL, &status.events),
            runs: Runs { running: status.running },
            deliveries: complete(DeliveryState::ALL, &status.deliveries),
            hooks: BTreeMap::new(),
            routes: RouteStanding::all(&core.config(), &status.paused),
        })
    }
}

impl RouteStanding {
    /// A route's, where `paused` are the routes that are.
    pub fn of(route: &Route, paused: &[String]) -> RouteStanding {
        let (state, reason) = if !route.enabled {
            ("disabled", Some("enabled: false"))
        } else if paused.contains(&route.name) {
            ("paused", Some("by_hand"))
        } else {
            ("active", None)
        };
        RouteStanding { name: route.name.clone(), state, reason }
    }

    /// All routes', in the order of their names.
    pub fn all(config: &Config, paused: &[String]) -> Vec<RouteStanding> {
        config.routes.values().map(|route| RouteStanding::of(route, paused)).collect()
    }
}

fn complete<S: Copy + Ord>(all: &[S], counts: &BTreeMap<S, u64>) -> BTreeMap<S, u64> {
    all.iter().map(|state| (*state, counts.get(state).copied().unwrap_or_default())).collect()
}
