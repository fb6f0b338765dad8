//! Gauges, read from counters and from the ends of small indexes.

use rules::states::{DeliveryState, EventState};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::parse;
use crate::sqlite::failed;
use crate::{Due, Error, Millis, Status};

/// When the oldest event in a state came, of those that wait for no time. The index has both, so that events which wait
/// for one are passed over without a look at their rows.
pub(in crate::sqlite) const OLDEST: &str =
    "SELECT received_at FROM events INDEXED BY events_by_state WHERE state = ?1 AND due_at IS NULL
     ORDER BY seq LIMIT 1";

/// The next time that an event waits for.
pub(in crate::sqlite) const NEXT_EVENT: &str =
    "SELECT due_at FROM events INDEXED BY events_due WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";

/// The next time that a delivery waits for.
pub(in crate::sqlite) const NEXT_DELIVERY: &str =
    "SELECT due_at FROM deliveries INDEXED BY deliveries_next WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";

pub(in crate::sqlite) fn status(connection: &Connection) -> Result<Status, Error> {
    let mut status = Status::default();
    let counted: Vec<(String, u64)> = connection
        .prepare_cached("SELECT name, value FROM counters WHERE value > 0")
        .and_then(|mut s| s.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .map_err(failed)?;
    for (name, value) in counted {
        if let Some(state) = name.strip_prefix("event.") {
            status.events.insert(parse::<EventState>(state)?, value);
        } else if let Some(state) = name.strip_prefix("delivery.") {
            status.deliveries.insert(parse::<DeliveryState>(state)?, value);
        }
    }
    status.running = status.events.get(&EventState::Running).copied().unwrap_or(0);
    status.paused = connection
        .prepare_cached("SELECT route FROM pauses ORDER BY route")
        .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect())
        .map_err(failed)?;
    status.oldest_waiting = connection
        .prepare_cached(OLDEST)
        .and_then(|mut s| {
            let mut rows = s.query(params![EventState::Queued.as_str()])?;
            rows.next()?.map(|row| row.get::<_, Millis>(0)).transpose()
        })
        .map_err(failed)?;
    Ok(status)
}

pub(in crate::sqlite) fn due(connection: &Connection) -> Result<Due, Error> {
    let first = |sql| -> Result<Option<Millis>, Error> {
        connection.prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)).optional()).map_err(failed)
    };
    Ok(Due { event: first(NEXT_EVENT)?, delivery: first(NEXT_DELIVERY)? })
}
