//! What people do to single events and deliveries, and what time does to old ones.

use rules::states::{DeliveryState, EventState};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::views::parse;
use super::{admit, failed, lines};
use crate::{Error, Key, Millis};

struct Found {
    seq: i64,
    route: String,
    line: Option<String>,
    key: Option<String>,
    state: EventState,
}

fn find(connection: &Connection, id: &str) -> Result<Found, Error> {
    let row = connection
        .prepare_cached("SELECT seq, route, line, key, state FROM events WHERE id = ?1")
        .and_then(|mut s| {
            s.query_row([id], |row| {
                let state = row.get::<_, String>(4)?;
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, state))
            })
            .optional()
        })
        .map_err(failed)?;
    let (seq, route, line, key, text) = row.ok_or_else(|| Error::NotFound { kind: "event", id: id.to_owned() })?;
    Ok(Found { seq, route, line, key, state: parse(&text)? })
}

pub(super) fn cancel_event(connection: &Connection, id: &str, reason: &str, now: Millis) -> Result<(), Error> {
    let event = find(connection, id)?;
    if event.state == EventState::Running {
        return Err(Error::Conflict(format!("{id} is running; stop its run instead")));
    }
    if !event.state.may_be_cancelled() {
        return Err(Error::Conflict(format!("{id} has already ended: {}", event.state)));
    }
    connection
        .execute(
            "UPDATE events SET state = 'cancelled', reason = ?2, ready = 0, due_at = NULL, finished_at = ?3 WHERE seq = ?1",
            params![event.seq, reason, now],
        )
        .map_err(failed)?;
    points::reach("cancel_event.written");
    match &event.line {
        Some(line) => lines::refresh(connection, &event.route, line),
        None => Ok(()),
    }
}

pub(super) fn retry_event(connection: &Connection, id: &str) -> Result<(), Error> {
    let event = find(connection, id)?;
    if !event.state.may_be_retried() {
        return Err(Error::Conflict(format!(
            "{id} is {}; only what failed, is exhausted or was cancelled can be retried",
            event.state
        )));
    }
    if let Some(key) = &event.key {
        take_back(connection, &event, key)?;
    }
    let (state, reason) = lines::waiting(lines::obstacle(connection, &event.route)?);
    connection
        .execute(
            "UPDATE events SET state = ?2, reason = ?3, due_at = NULL, finished_at = NULL, retries_spent = 0,
                               interruptions = 0, later_since = NULL WHERE seq = ?1",
            params![event.seq, state.as_str(), reason],
        )
        .map_err(failed)?;
    points::reach("retry_event.written");
    match state {
        EventState::Queued => lines::enter(connection, event.seq, &event.route, event.line.as_deref()),
        _ => Ok(()),
    }
}

/// Who holds a key.
pub(super) const HOLDER: &str = "SELECT e.id, e.state FROM keys k JOIN events e ON e.seq = k.event_seq WHERE k.route = ?1 AND k.key = ?2 AND e.seq <> ?3";

/// Gives the event its key again, unless another one does its work or has done it.
fn take_back(connection: &Connection, event: &Found, key: &str) -> Result<(), Error> {
    let other: Option<(String, String)> = connection
        .prepare_cached(HOLDER)
        .and_then(|mut s| {
            s.query_row(params![event.route, key, event.seq], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(failed)?;
    if let Some((holder, state)) = other {
        Key::may_return_from(&holder, parse(&state)?)?;
    }
    admit::hold(connection, &event.route, key, event.seq)
}

pub(super) fn retry_delivery(connection: &Connection, id: &str, now: Millis) -> Result<(), Error> {
    let state: String = connection
        .query_row("SELECT state FROM deliveries WHERE id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(failed)?
        .ok_or_else(|| Error::NotFound { kind: "delivery", id: id.to_owned() })?;
    if !parse::<DeliveryState>(&state)?.may_be_retried() {
        return Err(Error::Conflict(format!(
            "{id} is {state}; only what failed, is exhausted or of unknown outcome can be sent again"
        )));
    }
    connection
        .execute(
            "UPDATE deliveries SET state = 'pending', error = NULL, spent = 0, due_at = ?2 WHERE id = ?1",
            params![id, now],
        )
        .map_err(failed)?;
    points::reach("retry_delivery.written");
    Ok(())
}

/// Events that ended in a state, the longest ended first, without those whose deliveries are still to be sent.
pub(super) const OLD: &str = "SELECT seq FROM events e INDEXED BY events_finished
     WHERE state = ?1 AND finished_at IS NOT NULL AND finished_at < ?2 AND NOT EXISTS (
         SELECT 1 FROM deliveries d INDEXED BY deliveries_by_event
         WHERE d.event_seq = e.seq AND d.state IN ('pending', 'sending', 'failed'))
     ORDER BY finished_at, seq LIMIT ?3";

pub(super) fn prune(connection: &Connection, state: EventState, before: Millis, limit: u32) -> Result<u32, Error> {
    let old: Vec<i64> = connection
        .prepare_cached(OLD)
        .and_then(|mut s| s.query_map(params![state.as_str(), before, limit], |row| row.get(0))?.collect())
        .map_err(failed)?;
    for seq in &old {
        remove(connection, *seq)?;
    }
    Ok(u32::try_from(old.len()).unwrap_or(u32::MAX))
}

/// Free pages (4 KiB) that are worth giving back: fewer are soon filled by new events.
const WORTH_IT: i64 = 4096;
/// Pages that one step gives back: each is one page moved, and its parent written.
const BITE: i64 = 64;

/// Gives some free pages back to the disk when a quarter of the file is free; whether there is more to give.
pub(super) fn give_back(connection: &Connection) -> Result<bool, Error> {
    let ask = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).map_err(failed);
    let (free, all) = (ask("PRAGMA freelist_count")?, ask("PRAGMA page_count")?);
    if free < WORTH_IT || free < all / 4 {
        return Ok(false);
    }
    connection.execute_batch(&format!("PRAGMA incremental_vacuum({BITE})")).map_err(failed)?;
    points::reach("give_back.vacuumed");
    Ok(true)
}

/// What hangs on an event, and the event itself last.
pub(super) const REMOVE: [&str; 6] = [
    "DELETE FROM run_texts WHERE run_seq IN (SELECT seq FROM runs WHERE event_seq = ?1)",
    "DELETE FROM runs WHERE event_seq = ?1",
    "DELETE FROM deliveries WHERE event_seq = ?1",
    "DELETE FROM keys WHERE event_seq = ?1",
    "DELETE FROM requests WHERE event_seq = ?1",
    "DELETE FROM events WHERE seq = ?1",
];

/// Removes an event with all that hangs on it.
pub(super) fn remove(connection: &Connection, seq: i64) -> Result<(), Error> {
    for sql in REMOVE {
        connection.prepare_cached(sql).and_then(|mut s| s.execute([seq])).map_err(failed)?;
        points::reach("remove.deleted");
    }
    Ok(())
}
