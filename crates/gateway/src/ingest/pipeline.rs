//! The steps of a request, in their order.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use config::Route;
use ledger::{Admission, Admitted, Ignored, Key, NewEvent, StoredRequest};
use rules::hop::{self, Hop};
use rules::template::Scope;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout};
use verify::Source;

use super::answer::Answer;
use super::body::{self, BodyError};
use super::{BODIES_IN_FLIGHT, Ingest, conditions, headers, scope};
use crate::chance;

/// How long a sender waits for room for its body.
const ROOM: Duration = Duration::from_secs(2);
/// A body above this is judged off the threads that serve sockets.
const LARGE: usize = 128 << 10;
/// Seconds after which a sender may find the ledger able to write again.
pub(super) const COME_BACK: u64 = 5;

/// Takes a request through all steps; also says whether its route exists.
pub(super) async fn run(ingest: &Ingest, profile: &str, name: &str, request: Request) -> (bool, Answer) {
    let config = ingest.core.config();
    let Some(route) = config.routes.get(name).filter(|route| route.profile == profile) else {
        body::linger(request.into_body());
        return (false, Answer::UnknownRoute(name.to_owned()));
    };
    if !route.enabled {
        body::linger(request.into_body());
        return (true, Answer::Disabled(name.to_owned()));
    }
    if request.method() != Method::POST {
        body::linger(request.into_body());
        return (true, Answer::MethodNotAllowed("POST"));
    }
    let deadline = Instant::now() + config.server.body_timeout;
    let answer = match receive(ingest, route, request, deadline).await {
        Ok(received) => admit(ingest, route, received).await,
        Err(answer) => answer,
    };
    (true, answer)
}

/// A request that has been read.
struct Received<'a> {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    room: SemaphorePermit<'a>,
}

async fn receive<'a>(
    ingest: &'a Ingest,
    route: &Route,
    request: Request,
    deadline: Instant,
) -> Result<Received<'a>, Answer> {
    let (parts, body) = request.into_parts();
    let limit = route.max_body_bytes;
    let declared = headers::declared_length(&parts.headers).map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if declared.is_some_and(|length| length > limit) {
        body::linger(body);
        return Err(Answer::TooLarge);
    }
    let room = room(ingest, declared.unwrap_or(limit)).await?;
    let body = read(body, limit, deadline).await?;
    points::reach("request.read");
    Ok(Received { headers: headers::listed(&parts.headers), body, room })
}

/// Room for a body among those in flight.
async fn room(ingest: &Ingest, bytes: usize) -> Result<SemaphorePermit<'_>, Answer> {
    let permits = bytes.min(BODIES_IN_FLIGHT).div_ceil(1024).max(1);
    let wanted = ingest.bodies.acquire_many(u32::try_from(permits).unwrap_or(u32::MAX));
    match timeout(ROOM, wanted).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(Answer::CannotStore { retry_after: COME_BACK }),
    }
}

async fn read(body: Body, limit: usize, deadline: Instant) -> Result<Vec<u8>, Answer> {
    body::read(body, limit, deadline).await.map_err(|error| match error {
        BodyError::TooLarge => Answer::TooLarge,
        BodyError::Broken => Answer::BadRequest,
        BodyError::TooSlow => Answer::TooSlow,
    })
}

/// What the rules make of a request.
enum Judged {
    Answer(Answer),
    Ignore { reason: &'static str, event: NewEvent },
    Admit { event: NewEvent, key: Option<Key> },
}

async fn admit(ingest: &Ingest, route: &Arc<Route>, received: Received<'_>) -> Answer {
    let core = &ingest.core;
    let max_hops = core.config().max_hops;
    let now = core.clock.now();
    // Held until the event is stored.
    let Received { headers, body, room } = received;
    let takes_time = body.len() > LARGE || !route.filters.files().is_empty();
    let judge = || judge(ingest, route, headers, body, max_hops, now);
    let judged = if takes_time { tokio::task::block_in_place(judge) } else { judge() };
    let answer = match judged {
        Judged::Answer(answer) => answer,
        Judged::Ignore { reason, event } => {
            let answer = Answer::Ignored { reason, event: event.event_type.clone(), route: event.route.clone() };
            // The record is for people who look; a sender is answered the same when it cannot be kept.
            if let Err(error) = core.ledger.record_ignored(Ignored { event, reason: reason.to_owned() }).await {
                core.signals.ledger_failed("record an ignored event", &error);
            }
            answer
        }
        Judged::Admit { event, key } => store(ingest, route, event, key).await,
    };
    drop(room);
    answer
}

fn judge(
    ingest: &Ingest,
    route: &Route,
    mut headers: Vec<(String, String)>,
    body: Vec<u8>,
    max_hops: u32,
    now: i64,
) -> Judged {
    let verified = match route.verifier.verify(&verify::Request { headers: &headers, body: &body }, now) {
        Ok(verified) => verified,
        Err(refused) => {
            ingest.core.signals.refused(&route.name, &refused.reason);
            return Judged::Answer(Answer::InvalidSignature);
        }
    };
    points::reach("request.verified");
    if verified.deprecated {
        ingest.core.signals.deprecated(&route.name, verified.source.name);
    }
    if verify::is_ping(verified.source, &headers) && !route.events.lists("ping") {
        return Judged::Answer(Answer::Pong);
    }
    let payload = match parse(&headers, &body, route) {
        Ok(payload) => payload,
        Err(answer) => return Judged::Answer(answer),
    };
    let source = verified.source;
    let event_type = verify::event_type(source, &headers, &payload);
    let delivery_id = verify::delivery_id(source, &headers, &payload);
    let hop = hop::inbound(&headers, &payload, counts_body_hop(route));
    verify::mask(source, &route.secrets, &mut headers);
    let event = Arrival { source, event_type, delivery_id, hop, now }.event(route);
    if hop.is_above(max_hops) {
        return Judged::Ignore { reason: "hop_limit", event: event.with(headers, body) };
    }
    if !route.events.matches(&event.new.event_type, &payload) {
        return Judged::Ignore { reason: "event", event: event.with(headers, body) };
    }
    if !conditions::pass(&ingest.core, route, &event.new.event_type, &payload, &headers) {
        return Judged::Ignore { reason: "filter", event: event.with(headers, body) };
    }
    let (key, line) = event.place(route, &payload, &headers, &body);
    let mut event = event.with(headers, body);
    event.line = line;
    Judged::Admit { event, key }
}

/// The body's own `hop` counts where one of ours may have sent it.
fn counts_body_hop(route: &Route) -> bool {
    matches!(route.verifier.source_name(), "hermes" | "auto")
}

fn parse(headers: &[(String, String)], body: &[u8], route: &Route) -> Result<serde_json::Value, Answer> {
    let inflated = payload::inflate(body, headers::first(headers, "content-encoding"), route.max_body_bytes);
    let plain = inflated.map_err(|error| match error {
        payload::InflateError::TooLarge => Answer::TooLarge,
        payload::InflateError::Unsupported(name) => Answer::UnsupportedEncoding(name),
        payload::InflateError::Broken => Answer::CannotParse,
    })?;
    payload::parse(&plain, headers::first(headers, "content-type")).map_err(|error| {
        tracing::warn!(route = route.name, %error, "cannot parse body");
        Answer::CannotParse
    })
}

/// What is known of a request once it is parsed.
struct Arrival<'a> {
    source: &'a Source,
    event_type: String,
    delivery_id: Option<String>,
    hop: Hop,
    now: i64,
}

/// An event without its request.
struct Draft {
    new: NewEvent,
    named_itself: bool,
}

impl Arrival<'_> {
    fn event(self, route: &Route) -> Draft {
        let named_itself = self.delivery_id.is_some();
        let new = NewEvent {
            id: chance::event_id(),
            route: route.name.clone(),
            source: self.source.name.to_owned(),
            event_type: self.event_type,
            delivery_id: self.delivery_id.unwrap_or_else(chance::fresh_delivery_id),
            line: None,
            priority: route.priority,
            hop: self.hop.number(),
            due_at: None,
            received_at: self.now,
            request: StoredRequest { headers: Vec::new(), body: Vec::new() },
        };
        Draft { new, named_itself }
    }
}

impl Draft {
    fn with(self, headers: Vec<(String, String)>, body: Vec<u8>) -> NewEvent {
        NewEvent { request: StoredRequest { headers, body }, ..self.new }
    }

    /// The event's key and line. Without an id of the sender's and without a key of the route's, nothing can come twice.
    fn place(
        &self,
        route: &Route,
        payload: &serde_json::Value,
        headers: &[(String, String)],
        body: &[u8],
    ) -> (Option<Key>, Option<String>) {
        let templates = route.dedupe_key.is_some() || route.serial_by.is_some();
        let body_sha256 = if templates { scope::body_sha256(body) } else { String::new() };
        let place = scope::place(
            route,
            &Scope {
                payload,
                event_type: &self.new.event_type,
                route: &route.name,
                delivery_id: &self.new.delivery_id,
                event_id: &self.new.id,
                headers,
                body_sha256: &body_sha256,
            },
        );
        ((self.named_itself || route.dedupe_key.is_some()).then_some(place.key), place.line)
    }
}

async fn store(ingest: &Ingest, route: &Route, event: NewEvent, key: Option<Key>) -> Answer {
    let core = &ingest.core;
    let (event_type, delivery_id, event_id) = (event.event_type.clone(), event.delivery_id.clone(), event.id.clone());
    let admission = Admission { event, key, rate_per_minute: route.rate_limit };
    match core.ledger.admit(admission).await {
        Ok(Admitted::Stored { .. }) => {
            points::reach("request.stored");
            core.runs_bell.notify_one();
            Answer::Accepted { route: route.name.clone(), event: event_type, delivery_id, event_id }
        }
        Ok(Admitted::Duplicate { event_id }) => Answer::Duplicate { delivery_id, event_id },
        Ok(Admitted::Limited { retry_after }) => {
            Answer::Limited { retry_after: retry_after.as_millis().div_ceil(1000).try_into().unwrap_or(60) }
        }
        Err(error) => {
            core.signals.ledger_failed("store an event", &error);
            Answer::CannotStore { retry_after: COME_BACK }
        }
    }
}
