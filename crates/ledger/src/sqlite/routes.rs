//! Pausing routes, and routes that come and go.

use rusqlite::{Connection, params};

use super::{failed, lines};
use crate::{Error, Millis};

pub(super) fn pause(connection: &Connection, route: &str, now: Millis) -> Result<bool, Error> {
    let new = connection
        .execute("INSERT INTO pauses VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![route, now])
        .map_err(failed)?;
    hold(connection, route, "paused")?;
    Ok(new > 0)
}

pub(super) fn resume(connection: &Connection, route: &str) -> Result<bool, Error> {
    let was = connection.execute("DELETE FROM pauses WHERE route = ?1", [route]).map_err(failed)?;
    free(connection, route, "paused")?;
    Ok(was > 0)
}

pub(super) fn reconcile(connection: &Connection, known: &[String]) -> Result<(), Error> {
    for route in routes_with_open_events(connection)? {
        if known.contains(&route) {
            free(connection, &route, "route_missing")?;
        } else {
            hold(connection, &route, "route_missing")?;
        }
    }
    Ok(())
}

/// Names, found by skipping from one to the next in the index: their number, not the number of events, is what it costs.
fn routes_with_open_events(connection: &Connection) -> Result<Vec<String>, Error> {
    connection
        .prepare(
            "WITH RECURSIVE names (route) AS (
                 SELECT min(route) FROM events
                 UNION ALL
                 SELECT (SELECT min(route) FROM events WHERE route > names.route) FROM names WHERE names.route IS NOT NULL
             )
             SELECT route FROM names WHERE route IS NOT NULL AND EXISTS (
                 SELECT 1 FROM events e WHERE e.route = names.route AND e.state IN ('held', 'queued', 'failed'))",
        )
        .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect())
        .map_err(failed)
}

/// Everything of the route that waits to run is held; when the route has gone, also what waits for a time.
fn hold(connection: &Connection, route: &str, reason: &str) -> Result<(), Error> {
    connection
        .execute(
            "UPDATE events SET state = 'held', reason = ?2, ready = 0, due_at = iif(?2 = 'route_missing', NULL, due_at)
             WHERE route = ?1 AND (state = 'queued' OR (state = 'failed' AND ?2 = 'route_missing'))",
            params![route, reason],
        )
        .map(drop)
        .map_err(failed)
}

/// What was held for this reason waits to run again; what had a time to wait for goes on waiting for it.
fn free(connection: &Connection, route: &str, reason: &str) -> Result<(), Error> {
    let paused = lines::paused(connection, route)?;
    let (state, reason_after) = if paused { ("held", Some("paused")) } else { ("queued", None) };
    let freed: Vec<(i64, Option<String>, bool)> = connection
        .prepare(
            "UPDATE events SET state = ?3, reason = ?4 WHERE route = ?1 AND state = 'held' AND reason = ?2
             RETURNING seq, line, due_at IS NULL",
        )
        .and_then(|mut s| {
            s.query_map(params![route, reason, state, reason_after], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect()
        })
        .map_err(failed)?;
    if paused {
        return Ok(());
    }
    for (seq, line, due) in freed {
        if due {
            lines::enter(connection, seq, route, line.as_deref())?;
        }
    }
    Ok(())
}
