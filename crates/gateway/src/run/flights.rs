//! Runs in flight, and the wish to stop them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// Why a run is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopWish {
    /// A person wants its event ended.
    Person,
    /// The gateway is stopping: the event is to run again.
    Shutdown,
    /// The gateway has lost its lease, or may soon have: another one is to run the event.
    Lease,
}

/// One run in flight.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) route: String,
    pub(super) agent: String,
    pub(super) stop: CancellationToken,
    wish: Mutex<Option<StopWish>>,
}

impl Flight {
    /// The first wish, when there was one.
    pub(super) fn wish(&self) -> Option<StopWish> {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, wish: StopWish) {
        self.wish.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(wish);
        self.stop.cancel();
    }
}

/// The runs in flight in this gateway.
#[derive(Debug, Clone, Default)]
pub struct Flights(Arc<Mutex<HashMap<String, Arc<Flight>>>>);

impl Flights {
    /// Asks a run to stop. `false`: no such run is in flight here.
    pub fn stop(&self, run_id: &str, wish: StopWish) -> bool {
        let flight = self.all().get(run_id).cloned();
        flight.map(|flight| flight.ask(wish)).is_some()
    }

    /// Asks all runs to stop.
    pub fn stop_all(&self, wish: StopWish) {
        let flights: Vec<_> = self.all().values().cloned().collect();
        for flight in flights {
            flight.ask(wish);
        }
    }

    /// How many runs are in flight.
    pub fn count(&self) -> usize {
        self.all().len()
    }

    pub(super) fn begin(&self, run_id: &str, route: &str, agent: &str) -> Arc<Flight> {
        let flight = Arc::new(Flight {
            route: route.to_owned(),
            agent: agent.to_owned(),
            stop: CancellationToken::new(),
            wish: Mutex::new(None),
        });
        self.all().insert(run_id.to_owned(), Arc::clone(&flight));
        flight
    }

    /// The same, unless the run is in flight here already.
    pub(super) fn begin_new(&self, run_id: &str, route: &str, agent: &str) -> Option<Arc<Flight>> {
        if self.all().contains_key(run_id) { None } else { Some(self.begin(run_id, route, agent)) }
    }

    pub(super) fn end(&self, run_id: &str) {
        self.all().remove(run_id);
    }

    /// Their ids.
    pub(crate) fn ids(&self) -> HashSet<String> {
        self.all().keys().cloned().collect()
    }

    /// Runs in flight by a name that each has.
    pub(super) fn by(&self, name: impl Fn(&Flight) -> &str) -> HashMap<String, u32> {
        let mut counts = HashMap::new();
        for flight in self.all().values() {
            *counts.entry(name(flight).to_owned()).or_default() += 1;
        }
        counts
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Flight>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
