//! Admission: key, rate and insert in one step.

use std::time::Duration;

use rules::dedupe::{self, KnownEvent};
use rules::states::EventState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{blob, failed, lines};
use crate::api::admit::IGNORED_KEPT;
use crate::{Admission, Admitted, Error, Ignored, Millis, NewEvent, StoredRequest};

/// The ignored event of a route that goes when one more comes.
pub(super) const OLDEST_IGNORED: &str =
    "SELECT seq FROM events INDEXED BY events_by_route WHERE route = ?1 AND state = 'ignored' ORDER BY seq LIMIT 1";

/// A request as it is written: packed before it reaches the writer.
pub(super) struct Packed {
    headers: String,
    codec: u8,
    body: Vec<u8>,
}

impl Packed {
    pub(super) fn new(request: &StoredRequest) -> Result<Packed, Error> {
        let headers = serde_json::to_string(&request.headers)
            .map_err(|e| Error::Unavailable(format!("headers cannot be stored: {e}")))?;
        let (codec, body) = blob::pack(&request.body);
        Ok(Packed { headers, codec, body })
    }

    pub(super) fn bytes(&self) -> usize {
        self.headers.len() + self.body.len()
    }
}

pub(super) fn admit(connection: &Connection, admission: &Admission, packed: &Packed) -> Result<Admitted, Error> {
    let event = &admission.event;
    if let Some(key) = &admission.key
        && let Some(event_id) = duplicate_of(connection, &event.route, &key.text, key.window, event.received_at)?
    {
        return Ok(Admitted::Duplicate { event_id });
    }
    if let Some(retry_after) = over_rate(connection, &event.route, admission.rate_per_minute, event.received_at)? {
        return Ok(Admitted::Limited { retry_after });
    }
    let (state, reason) = lines::waiting(lines::obstacle(connection, &event.route)?);
    let key = admission.key.as_ref().map(|key| key.text.as_str());
    let seq = insert(connection, event, key, state, reason, packed)?;
    if let Some(key) = key {
        hold(connection, &event.route, key, seq)?;
        points::reach("admit.key");
    }
    if state == EventState::Queued && event.due_at.is_none() {
        lines::enter(connection, seq, &event.route, event.line.as_deref())?;
        points::reach("admit.queued");
    }
    Ok(Admitted::Stored { state })
}

/// Gives the key to the event, whoever held it.
pub(super) fn hold(connection: &Connection, route: &str, key: &str, seq: i64) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO keys VALUES (?1, ?2, ?3) ON CONFLICT (route, key) DO UPDATE SET event_seq = excluded.event_seq",
        )
        .and_then(|mut s| s.execute(params![route, key, seq]))
        .map(drop)
        .map_err(failed)
}

fn duplicate_of(
    connection: &Connection,
    route: &str,
    key: &str,
    window: Duration,
    now: Millis,
) -> Result<Option<String>, Error> {
    let known = connection
        .prepare_cached(
            "SELECT e.id, e.state, e.finished_at FROM keys k JOIN events e ON e.seq = k.event_seq
             WHERE k.route = ?1 AND k.key = ?2",
        )
        .and_then(|mut s| {
            s.query_row(params![route, key], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<Millis>>(2)?))
            })
            .optional()
        })
        .map_err(failed)?;
    let Some((id, state, finished_at)) = known else { return Ok(None) };
    let known = KnownEvent { state: super::views::parse(&state)?, finished_at };
    // In flight is what only a sender that waits for its delivery may be told; no event has one.
    Ok((dedupe::verdict(known, window, now) != dedupe::Verdict::NewWork).then_some(id))
}

/// Spends a token of the route's minute, or answers how long until the next one.
fn over_rate(connection: &Connection, route: &str, limit: u32, now: Millis) -> Result<Option<Duration>, Error> {
    const MINUTE: Millis = 60_000;
    if limit == 0 {
        return Ok(None);
    }
    let current = connection
        .prepare_cached("SELECT began, admitted FROM rates WHERE route = ?1")
        .and_then(|mut s| s.query_row([route], |row| Ok((row.get::<_, Millis>(0)?, row.get::<_, u32>(1)?))).optional())
        .map_err(failed)?;
    let (began, admitted) = match current {
        Some((began, admitted)) if (began..began.saturating_add(MINUTE)).contains(&now) => (began, admitted),
        // A new minute; also when the clock has gone back.
        _ => (now, 0),
    };
    if admitted >= limit {
        let left = u64::try_from(began + MINUTE - now).unwrap_or(0);
        return Ok(Some(Duration::from_millis(left.max(1000))));
    }
    connection
        .prepare_cached(
            "INSERT INTO rates VALUES (?1, ?2, ?3)
             ON CONFLICT (route) DO UPDATE SET began = excluded.began, admitted = excluded.admitted",
        )
        .and_then(|mut s| s.execute(params![route, began, admitted + 1]))
        .map_err(failed)?;
    points::reach("admit.rate");
    Ok(None)
}

fn insert(
    connection: &Connection,
    event: &NewEvent,
    key: Option<&str>,
    state: EventState,
    reason: Option<&str>,
    packed: &Packed,
) -> Result<i64, Error> {
    connection
        .prepare_cached(
            "INSERT INTO events (id, route, source, event_type, delivery_id, state, reason, line, priority, due_at, hop,
                                 received_at, finished_at, key)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )
        .and_then(|mut s| {
            s.execute(params![
                event.id,
                event.route,
                event.source,
                event.event_type,
                event.delivery_id,
                state.as_str(),
                reason,
                event.line,
                event.priority,
                event.due_at.filter(|_| !state.is_finished()),
                event.hop,
                event.received_at,
                state.is_finished().then_some(event.received_at),
                key,
            ])
        })
        .map_err(failed)?;
    let seq = connection.last_insert_rowid();
    points::reach("admit.event");
    connection
        .prepare_cached("INSERT INTO requests VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut s| s.execute(params![seq, packed.headers, packed.codec, packed.body]))
        .map_err(failed)?;
    points::reach("admit.request");
    Ok(seq)
}

pub(super) fn record_ignored(connection: &Connection, ignored: &Ignored, packed: &Packed) -> Result<(), Error> {
    insert(connection, &ignored.event, None, EventState::Ignored, Some(&ignored.reason), packed)?;
    points::reach("ignored.inserted");
    let route = &ignored.event.route;
    let kept: Option<u64> = connection
        .prepare_cached("SELECT value FROM counters WHERE name = 'ignored.' || ?1")
        .and_then(|mut s| s.query_row([route], |row| row.get(0)).optional())
        .map_err(failed)?;
    if kept.unwrap_or(0) > IGNORED_KEPT {
        let oldest: i64 = connection
            .prepare_cached(OLDEST_IGNORED)
            .and_then(|mut s| s.query_row([route], |row| row.get(0)))
            .map_err(failed)?;
        super::repair::remove(connection, oldest)?;
    }
    Ok(())
}
