//! Events and their requests.

use rules::states::EventState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{pages, parse};
use crate::sqlite::{blob, failed};
use crate::{Error, Event, EventQuery, Millis, Page, StoredRequest};

fn missing(id: &str) -> Error {
    Error::NotFound { kind: "event", id: id.to_owned() }
}

pub(in crate::sqlite) fn event(connection: &Connection, id: &str) -> Result<Event, Error> {
    let seq = connection
        .prepare_cached("SELECT seq FROM events WHERE id = ?1")
        .and_then(|mut s| s.query_row([id], |row| row.get(0)).optional())
        .map_err(failed)?
        .ok_or_else(|| missing(id))?;
    load(connection, seq)
}

pub(in crate::sqlite) fn request(connection: &Connection, event_id: &str) -> Result<StoredRequest, Error> {
    let (headers, codec, body) = connection
        .prepare_cached(
            "SELECT r.headers, r.codec, r.body FROM requests r JOIN events e ON e.seq = r.event_seq WHERE e.id = ?1",
        )
        .and_then(|mut s| {
            s.query_row([event_id], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?))).optional()
        })
        .map_err(failed)?
        .ok_or_else(|| missing(event_id))?;
    let headers = serde_json::from_str(&headers)
        .map_err(|e| Error::Unavailable(format!("stored headers of {event_id} cannot be read: {e}")))?;
    Ok(StoredRequest { headers, body: blob::unpack(codec, body)? })
}

/// Events with one delivery id.
pub(in crate::sqlite) const BY_DELIVERY_ID: &str = "SELECT seq FROM events INDEXED BY events_by_delivery_id
     WHERE delivery_id = ?1 AND seq < ?2 AND seq >= ?3 AND received_at >= ?4 AND (?5 IS NULL OR route = ?5)
       AND (?6 IS NULL OR state = ?6) ORDER BY seq DESC LIMIT ?7";

/// All events.
pub(in crate::sqlite) const ALL: &str =
    "SELECT seq FROM events WHERE seq < ?1 AND seq >= ?2 AND received_at >= ?3 ORDER BY seq DESC LIMIT ?4";

/// Events of a route, or of all, in some states.
pub(in crate::sqlite) fn by_states(with_route: bool, states: &[&str]) -> String {
    let index = if with_route { "events_by_route" } else { "events_by_state" };
    pages::by_states("events", index, with_route, "received_at >= ?5 AND", states)
}

pub(in crate::sqlite) fn events(connection: &Connection, query: &EventQuery) -> Result<Page<Event>, Error> {
    let page = pages::place(query.cursor.as_deref(), query.limit)?;
    let since = query.since.unwrap_or(Millis::MIN);
    let from = match query.since {
        Some(since) => pages::first_since(connection, since)?,
        None => 0,
    };
    let rows = i64::from(page.limit) + 1;
    let state = query.state.map(EventState::as_str);
    let mut seqs: Vec<i64> = if let Some(delivery_id) = &query.delivery_id {
        connection.prepare_cached(BY_DELIVERY_ID).and_then(|mut s| {
            s.query_map(params![delivery_id, page.before, from, since, query.route, state, rows], |row| row.get(0))?
                .collect()
        })
    } else if query.route.is_some() || state.is_some() {
        let states: Vec<&str> = match state {
            Some(state) => vec![state],
            None => EventState::ALL.iter().map(|s| s.as_str()).collect(),
        };
        connection.prepare_cached(&by_states(query.route.is_some(), &states)).and_then(|mut s| {
            s.query_map(params![query.route, page.before, from, rows, since], |row| row.get(0))?.collect()
        })
    } else {
        connection
            .prepare_cached(ALL)
            .and_then(|mut s| s.query_map(params![page.before, from, since, rows], |row| row.get(0))?.collect())
    }
    .map_err(failed)?;
    let next = pages::cut(&mut seqs, page.limit);
    let items = seqs.into_iter().map(|seq| load(connection, seq)).collect::<Result<_, _>>()?;
    Ok(Page { items, next })
}

fn load(connection: &Connection, seq: i64) -> Result<Event, Error> {
    let (mut event, state) = connection
        .prepare_cached(
            "SELECT id, route, source, event_type, delivery_id, reason, max(attempt, 1), hop, line, received_at, finished_at,
                    due_at, superseded_by, state FROM events WHERE seq = ?1",
        )
        .and_then(|mut s| {
            s.query_row([seq], |row| {
                let event = Event {
                    id: row.get(0)?,
                    route: row.get(1)?,
                    source: row.get(2)?,
                    event: row.get(3)?,
                    delivery_id: row.get(4)?,
                    state: EventState::Queued,
                    reason: row.get(5)?,
                    attempt: row.get(6)?,
                    hop: row.get(7)?,
                    session: row.get(8)?,
                    received_at: row.get(9)?,
                    finished_at: row.get(10)?,
                    due_at: row.get(11)?,
                    superseded_by: row.get(12)?,
                    runs: Vec::new(),
                    deliveries: Vec::new(),
                };
                Ok((event, row.get::<_, String>(13)?))
            })
        })
        .map_err(failed)?;
    event.state = parse(&state)?;
    event.runs =
        ids(connection, "SELECT id FROM runs INDEXED BY runs_by_event WHERE event_seq = ?1 ORDER BY seq", seq)?;
    event.deliveries = ids(
        connection,
        "SELECT id FROM deliveries INDEXED BY deliveries_by_event WHERE event_seq = ?1 ORDER BY seq",
        seq,
    )?;
    Ok(event)
}

fn ids(connection: &Connection, sql: &str, seq: i64) -> Result<Vec<String>, Error> {
    connection.prepare_cached(sql).and_then(|mut s| s.query_map([seq], |row| row.get(0))?.collect()).map_err(failed)
}
