//! Pausing routes, and routes that come and go.
//!
//! Each step changes the fact and then settles the route: what waits is held for the route's obstacle, or freed without one.

use rusqlite::{Connection, params};

use super::{failed, lines};
use crate::{Error, Millis};

pub(super) fn pause(connection: &Connection, route: &str, now: Millis) -> Result<bool, Error> {
    let new = connection
        .execute("INSERT INTO pauses VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![route, now])
        .map_err(failed)?;
    points::reach("pause.written");
    settle(connection, route)?;
    Ok(new > 0)
}

pub(super) fn resume(connection: &Connection, route: &str) -> Result<bool, Error> {
    let was = connection.execute("DELETE FROM pauses WHERE route = ?1", [route]).map_err(failed)?;
    points::reach("resume.written");
    settle(connection, route)?;
    Ok(was > 0)
}

pub(super) fn reconcile(connection: &Connection, known: &[String]) -> Result<(), Error> {
    connection
        .execute_batch("DELETE FROM routes; INSERT OR IGNORE INTO meta VALUES ('routes_told', 1);")
        .map_err(failed)?;
    points::reach("reconcile.forgotten");
    for route in known {
        connection
            .prepare_cached("INSERT OR IGNORE INTO routes VALUES (?1)")
            .and_then(|mut s| s.execute([route]))
            .map_err(failed)?;
    }
    points::reach("reconcile.told");
    for route in routes_with_waiting_events(connection)? {
        settle(connection, &route)?;
    }
    Ok(())
}

/// Names, found by skipping from one to the next in the index: their number, not the number of events, is what it costs.
pub(super) const ROUTES_WAITING: &str = "WITH RECURSIVE names (route) AS (
         SELECT min(route) FROM events
         UNION ALL
         SELECT (SELECT min(route) FROM events WHERE route > names.route) FROM names WHERE names.route IS NOT NULL
     )
     SELECT route FROM names WHERE route IS NOT NULL AND EXISTS (
         SELECT 1 FROM events e WHERE e.route = names.route AND e.state IN ('held', 'queued', 'failed'))";

fn routes_with_waiting_events(connection: &Connection) -> Result<Vec<String>, Error> {
    connection.prepare(ROUTES_WAITING).and_then(|mut s| s.query_map([], |row| row.get(0))?.collect()).map_err(failed)
}

fn settle(connection: &Connection, route: &str) -> Result<(), Error> {
    match lines::obstacle(connection, route)? {
        Some(obstacle) => hold(connection, route, obstacle),
        None => free(connection, route),
    }
}

/// Everything of the route that waits to run is held; when the route has gone, also what waits for its retry. A time to
/// wait for goes on meanwhile.
pub(super) const HOLD: &str = "UPDATE events INDEXED BY events_by_route SET state = 'held', reason = ?2, ready = 0
     WHERE route = ?1 AND state IN ('held', 'queued', 'failed') AND CASE state
         WHEN 'queued' THEN 1
         WHEN 'held' THEN reason IN ('paused', 'route_missing') AND reason <> ?2
         ELSE due_at IS NOT NULL AND ?2 = 'route_missing' END";

/// What was held for its route waits to run again; what has a time to wait for goes on waiting for it.
pub(super) const FREE: &str = "UPDATE events INDEXED BY events_by_route SET state = 'queued', reason = NULL
     WHERE route = ?1 AND state = 'held' AND reason IN ('paused', 'route_missing')
     RETURNING seq, line, due_at IS NULL";

fn hold(connection: &Connection, route: &str, obstacle: lines::Obstacle) -> Result<(), Error> {
    connection.execute(HOLD, params![route, obstacle.reason()]).map_err(failed)?;
    points::reach("routes.held");
    Ok(())
}

fn free(connection: &Connection, route: &str) -> Result<(), Error> {
    let freed: Vec<(i64, Option<String>, bool)> = connection
        .prepare(FREE)
        .and_then(|mut s| s.query_map([route], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect())
        .map_err(failed)?;
    points::reach("routes.freed");
    for (seq, line, due) in freed {
        if due {
            lines::enter(connection, seq, route, line.as_deref())?;
        }
    }
    Ok(())
}
