//! Events that nobody rings for from outside: work sent for oneself, and stored requests played again.

use std::time::Duration;

use config::Route;
use ledger::{Admission, Admitted, Ignored, NewEvent, StoredRequest};
use rules::retry::after;
use serde::Serialize;

use super::conditions;
use super::scope::{Stored, place};
use crate::{Core, chance};

/// The source of work that was sent from inside.
const SOURCE: &str = "doorbell";

/// Work for a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// The route's name.
    pub route: String,
    /// The payload, as JSON text; empty is `{}`.
    pub payload: Vec<u8>,
    /// Its delivery id: a second one with the same is a duplicate.
    pub id: Option<String>,
    /// How long it is to wait before it runs.
    pub delay: Option<Duration>,
    /// How many agents it has passed.
    pub hop: u32,
    /// Whether it comes out of a run: the route must allow that.
    pub from_run: bool,
}

/// What became of it; as JSON in the words of the public port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Sent {
    /// It is stored, and runs when its turn comes.
    Accepted {
        /// The event.
        event_id: String,
        /// Its delivery id.
        delivery_id: String,
    },
    /// There is an event with its key already.
    Duplicate {
        /// That event.
        event_id: String,
        /// The delivery id that was given.
        delivery_id: String,
    },
    /// A rule of the route does not want it.
    Ignored {
        /// `hop_limit`, `event` or `filter`.
        reason: &'static str,
        /// The record of it.
        event_id: String,
    },
    /// The route has admitted as many as it may in this minute.
    Limited {
        /// Until the minute is over.
        #[serde(skip)]
        retry_after: Duration,
    },
}

/// Why nothing became of it.
#[derive(Debug, thiserror::Error)]
pub enum InsideError {
    /// There is no such route, or it is disabled.
    #[error("there is no enabled route {0}")]
    UnknownRoute(String),
    /// The route does not take work from runs.
    #[error("route {0} does not take work from runs; set accept_from_agents: true on it to allow that")]
    NotFromAgents(String),
    /// The payload is larger than the route takes.
    #[error("the payload has {bytes} bytes; route {route} takes {limit}")]
    TooLarge {
        /// The payload's size.
        bytes: usize,
        /// The route.
        route: String,
        /// Its `max_body_bytes`.
        limit: usize,
    },
    /// The payload is not JSON, or a stored one cannot be read again.
    #[error("{0}")]
    Unparsable(String),
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
}

/// Gives a route work: no signature, all other rules.
pub async fn send(core: &Core, send: Send) -> Result<Sent, InsideError> {
    let config = core.config();
    let route = enabled(&config, &send.route)?;
    if send.from_run && !route.accept_from_agents {
        return Err(InsideError::NotFromAgents(send.route));
    }
    if send.payload.len() > route.max_body_bytes {
        let bytes = send.payload.len();
        return Err(InsideError::TooLarge { bytes, route: send.route, limit: route.max_body_bytes });
    }
    let now = core.clock.now();
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let request = StoredRequest { headers, body: send.payload };
    let stored = Stored::parse(request.clone()).map_err(|error| InsideError::Unparsable(error.to_string()))?;
    let named_itself = send.id.is_some();
    let event = NewEvent {
        id: chance::event_id(),
        route: route.name.clone(),
        source: SOURCE.to_owned(),
        event_type: stored.event_type(),
        delivery_id: send.id.unwrap_or_else(chance::fresh_delivery_id),
        line: None,
        priority: route.priority,
        hop: send.hop,
        due_at: send.delay.map(|delay| after(now, delay)),
        received_at: now,
        request,
    };
    let keyed = named_itself || route.dedupe_key.is_some();
    admit(core, route, event, &stored, Limits { keyed, rate_per_minute: route.rate_limit }).await
}

/// Makes a new event of a stored request, by the rules of today. It takes no key and spends no rate: somebody means it to
/// run again.
pub async fn replay(core: &Core, event_id: &str) -> Result<Sent, InsideError> {
    let old = core.ledger.event(event_id).await?;
    let config = core.config();
    let route = enabled(&config, &old.route)?;
    let request = core.ledger.request(event_id).await?;
    let stored = Stored::parse(request.clone()).map_err(|error| InsideError::Unparsable(error.to_string()))?;
    let event = NewEvent {
        id: chance::event_id(),
        route: old.route,
        source: old.source,
        event_type: old.event,
        delivery_id: old.delivery_id,
        line: None,
        priority: route.priority,
        hop: old.hop,
        due_at: None,
        received_at: core.clock.now(),
        request,
    };
    admit(core, route, event, &stored, Limits { keyed: false, rate_per_minute: 0 }).await
}

fn enabled<'a>(config: &'a config::Config, name: &str) -> Result<&'a Route, InsideError> {
    let route = config.routes.get(name).filter(|route| route.enabled);
    route.map(AsRef::as_ref).ok_or_else(|| InsideError::UnknownRoute(name.to_owned()))
}

/// What may keep an event out although the rules want it.
struct Limits {
    keyed: bool,
    rate_per_minute: u32,
}

async fn admit(
    core: &Core,
    route: &Route,
    mut event: NewEvent,
    stored: &Stored,
    limits: Limits,
) -> Result<Sent, InsideError> {
    let refused = if event.hop > core.config().max_hops {
        Some("hop_limit")
    } else if !route.events.matches(&event.event_type, stored.payload()) {
        Some("event")
    } else if !conditions::pass(core, route, &event.event_type, stored.payload(), stored.headers()) {
        Some("filter")
    } else {
        None
    };
    let event_id = event.id.clone();
    if let Some(reason) = refused {
        core.ledger.record_ignored(Ignored { event, reason: reason.to_owned() }).await?;
        return Ok(Sent::Ignored { reason, event_id });
    }
    let delivery_id = event.delivery_id.clone();
    let place = place(route, &stored.scope(&event.event_type, &event.route, &delivery_id, &event.id));
    event.line = place.line;
    let admission =
        Admission { event, key: limits.keyed.then_some(place.key), rate_per_minute: limits.rate_per_minute };
    Ok(match core.ledger.admit(admission).await? {
        Admitted::Stored { .. } => {
            core.runs_bell.notify_one();
            Sent::Accepted { event_id, delivery_id }
        }
        Admitted::Duplicate { event_id } => Sent::Duplicate { event_id, delivery_id },
        Admitted::Limited { retry_after } => Sent::Limited { retry_after },
    })
}
