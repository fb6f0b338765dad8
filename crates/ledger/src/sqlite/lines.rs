//! Who may run: the rules behind `ready`.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::failed;
use crate::Error;

/// Makes the head of a line ready, or nobody when one of the line is running. The head is the oldest event that has not
/// ended: one that waits for its retry holds the others back.
pub(super) fn refresh(connection: &Connection, route: &str, line: &str) -> Result<(), Error> {
    let mut open = connection
        .prepare_cached(
            "SELECT seq, state, due_at IS NULL, ready FROM events INDEXED BY events_line
             WHERE route = ?1 AND line = ?2 AND line IS NOT NULL AND state IN ('held', 'queued', 'running', 'failed')
             ORDER BY seq LIMIT 1",
        )
        .map_err(failed)?;
    let head = open
        .query_row(params![route, line], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?, row.get::<_, bool>(3)?))
        })
        .optional()
        .map_err(failed)?;
    let Some((seq, state, due, ready)) = head else { return Ok(()) };
    let may_run = state == "queued" && due && !running(connection, route, line)?;
    if may_run == ready {
        return Ok(());
    }
    // An older event that came back to life goes first: whoever was ready before it is so no more.
    connection
        .prepare_cached("UPDATE events SET ready = 0
             WHERE route = ?1 AND line = ?2 AND line IS NOT NULL AND state IN ('held', 'queued', 'running', 'failed')
               AND ready = 1",
        )
        .and_then(|mut s| s.execute(params![route, line]))
        .map_err(failed)?;
    if may_run { set_ready(connection, seq) } else { Ok(()) }
}

fn running(connection: &Connection, route: &str, line: &str) -> Result<bool, Error> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM events INDEXED BY events_by_route WHERE route = ?1 AND state = 'running' AND line = ?2)",
        )
        .and_then(|mut s| s.query_row(params![route, line], |row| row.get(0)))
        .map_err(failed)
}

/// Makes an event without a line ready.
pub(super) fn set_ready(connection: &Connection, seq: i64) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE events SET ready = 1 WHERE seq = ?1")
        .and_then(|mut s| s.execute([seq]))
        .map(drop)
        .map_err(failed)
}

/// Lets a queued event take its place: at once when it has no line, else by its line's rule.
pub(super) fn enter(connection: &Connection, seq: i64, route: &str, line: Option<&str>) -> Result<(), Error> {
    match line {
        Some(line) => refresh(connection, route, line),
        None => set_ready(connection, seq),
    }
}

/// Whether a route is paused.
pub(super) fn paused(connection: &Connection, route: &str) -> Result<bool, Error> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM pauses WHERE route = ?1)")
        .and_then(|mut s| s.query_row([route], |row| row.get(0)))
        .map_err(failed)
}
