//! Each thing worth knowing is one function here that counts it and says it, so that metrics and log cannot drift apart.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::trouble::{Trouble, meaning};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    route: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Run {
    route: String,
    agent: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Delivery {
    target: String,
    outcome: &'static str,
}

/// Counters of this process. Gauges of the ledger are read from it when somebody asks.
#[derive(Debug)]
pub struct Signals {
    registry: Registry,
    requests: Family<Request, Counter>,
    ack: Histogram,
    runs: Family<Run, Counter>,
    run_seconds: Histogram,
    deliveries: Family<Delivery, Counter>,
    deprecations: Mutex<HashSet<String>>,
    trouble: Trouble,
}

impl Default for Signals {
    fn default() -> Self {
        Signals::new()
    }
}

impl Signals {
    /// Counters at zero.
    pub fn new() -> Signals {
        let mut registry = Registry::with_prefix("doorbell");
        let requests = Family::default();
        // 0.5 ms to 8 s: from one flush of a quick disk to the patience of a sender.
        let ack = Histogram::new(exponential_buckets(0.0005, 2.0, 15));
        let runs = Family::default();
        // 0.1 s to 27 min.
        let run_seconds = Histogram::new(exponential_buckets(0.1, 2.0, 15));
        let deliveries = Family::default();
        registry.register("requests", "Requests on the public port by route and outcome", requests.clone());
        registry.register("ack_seconds", "From the last byte of a request to its answer", ack.clone());
        registry.register("runs", "Runs that ended, by route, agent and outcome", runs.clone());
        registry.register("run_seconds", "How long runs took", run_seconds.clone());
        registry.register("deliveries", "Attempts of deliveries that ended, by target and outcome", deliveries.clone());
        Signals {
            registry,
            requests,
            ack,
            runs,
            run_seconds,
            deliveries,
            deprecations: Mutex::default(),
            trouble: Trouble::default(),
        }
    }

    /// How the ledger fares.
    pub(crate) fn trouble(&self) -> &Trouble {
        &self.trouble
    }

    /// All counters in the text format of Prometheus, without the closing `# EOF`.
    pub fn encoded(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text.trim_end_matches("# EOF\n").to_owned()
    }

    /// A request was answered. `route` is empty when there is no such route: names from strangers make no new series.
    pub fn request(&self, route: &str, outcome: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&Request { route: route.to_owned(), outcome }).inc();
        self.ack.observe(took.as_secs_f64());
        tracing::info!(route, outcome, status, took_ms = took.as_secs_f64() * 1000.0, "request");
    }

    /// A request was refused because nobody known had signed it.
    pub fn refused(&self, route: &str, reason: &str) {
        tracing::warn!(route, reason, "invalid signature");
    }

    /// A request was signed in a way that its source has given up. Said once a route.
    pub fn deprecated(&self, route: &str, source: &str) {
        let mut said = self.deprecations.lock().unwrap_or_else(PoisonError::into_inner);
        if said.insert(route.to_owned()) {
            tracing::warn!(
                route,
                source,
                "the sender signs without a timestamp, so that a copy can be replayed; move it to generic-v2"
            );
        }
    }

    /// A run began.
    pub fn run_started(&self, route: &str, agent: &str, event_id: &str, run_id: &str, attempt: u32) {
        tracing::info!(route, agent, event_id, run_id, attempt, "run started");
    }

    /// A run ended.
    pub fn run_ended(&self, end: &RunEnded<'_>) {
        let RunEnded { route, agent, run_id, outcome, took, event_state, error } = *end;
        self.runs.get_or_create(&Run { route: route.to_owned(), agent: agent.to_owned(), outcome }).inc();
        self.run_seconds.observe(took.as_secs_f64());
        let took_s = took.as_secs_f64();
        match error {
            None => tracing::info!(route, agent, run_id, outcome, took_s, event_state, "run ended"),
            Some(error) => tracing::warn!(route, agent, run_id, outcome, took_s, event_state, error, "run ended"),
        }
    }

    /// An attempt of a delivery ended.
    pub fn delivery(&self, target: &str, outcome: &'static str, delivery_id: &str, error: Option<&str>) {
        self.deliveries.get_or_create(&Delivery { target: target.to_owned(), outcome }).inc();
        match error {
            None => tracing::info!(target_name = target, outcome, delivery_id, "delivery"),
            Some(error) => tracing::warn!(target_name = target, outcome, delivery_id, error, "delivery"),
        }
    }

    /// The ledger refused a step that will be tried again, by us or by the sender. Said once while the trouble lasts.
    pub fn ledger_failed(&self, doing: &str, error: &ledger::Error) {
        // A closed one is none in trouble: the gateway stops.
        if *error != ledger::Error::Closed && self.trouble.met(error) {
            tracing::error!(doing, %error, "the ledger did not take it; {}", meaning(error));
        } else {
            tracing::debug!(doing, %error, "the ledger did not take it");
        }
    }
}

/// The end of a run, for the log and the metrics.
#[derive(Debug, Clone, Copy)]
pub struct RunEnded<'a> {
    /// Its route.
    pub route: &'a str,
    /// Its agent.
    pub agent: &'a str,
    /// Its id.
    pub run_id: &'a str,
    /// Its state.
    pub outcome: &'static str,
    /// How long it took.
    pub took: Duration,
    /// What its event is now.
    pub event_state: &'static str,
    /// Why it did not succeed.
    pub error: Option<&'a str>,
}
