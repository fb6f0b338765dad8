//! Who may run: the rules behind `ready`.

use rules::states::EventState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::failed;
use crate::Error;

/// The oldest event of a line that has not ended, and whether nothing but its line keeps it from running.
pub(super) const LINE_HEAD: &str = "SELECT seq, state = 'queued' AND due_at IS NULL FROM events INDEXED BY events_line
     WHERE route = ?1 AND line = ?2 AND line IS NOT NULL AND state IN ('held', 'queued', 'running', 'failed')
     ORDER BY seq LIMIT 1";

/// Whether one of a line is running. A route has few runs in flight.
pub(super) const LINE_RUNS: &str = "SELECT EXISTS (SELECT 1 FROM events INDEXED BY events_by_route
     WHERE route = ?1 AND state = 'running' AND line = ?2)";

/// Takes `ready` from everybody of a line but one.
pub(super) const LINE_STANDS_BACK: &str = "UPDATE events INDEXED BY events_line_ready SET ready = 0
     WHERE route = ?1 AND line = ?2 AND line IS NOT NULL AND ready = 1 AND seq <> ?3";

/// Makes the head of a line ready, or nobody when one of the line is running. The head is the oldest event that has not
/// ended: one that waits for its retry holds the others back, and one that came back to life goes before those that were
/// ready in the meantime.
pub(super) fn refresh(connection: &Connection, route: &str, line: &str) -> Result<(), Error> {
    let head = connection
        .prepare_cached(LINE_HEAD)
        .and_then(|mut s| {
            s.query_row(params![route, line], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?))).optional()
        })
        .map_err(failed)?;
    let Some((seq, willing)) = head else { return Ok(()) };
    let may_run = willing && !running(connection, route, line)?;
    connection
        .prepare_cached(LINE_STANDS_BACK)
        .and_then(|mut s| s.execute(params![route, line, if may_run { seq } else { 0 }]))
        .map_err(failed)?;
    points::reach("lines.stood_back");
    if may_run { set_ready(connection, seq) } else { Ok(()) }
}

fn running(connection: &Connection, route: &str, line: &str) -> Result<bool, Error> {
    connection
        .prepare_cached(LINE_RUNS)
        .and_then(|mut s| s.query_row(params![route, line], |row| row.get(0)))
        .map_err(failed)
}

fn set_ready(connection: &Connection, seq: i64) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE events SET ready = 1 WHERE seq = ?1 AND ready = 0")
        .and_then(|mut s| s.execute([seq]))
        .map_err(failed)?;
    points::reach("lines.ready");
    Ok(())
}

/// Lets an event that is queued and waits for no time take its place: at once when it has no line, else by its line's rule.
pub(super) fn enter(connection: &Connection, seq: i64, route: &str, line: Option<&str>) -> Result<(), Error> {
    match line {
        Some(line) => refresh(connection, route, line),
        None => set_ready(connection, seq),
    }
}

/// What stands between a route and its runs: the reason that its waiting events are `held` with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    Missing,
    Paused,
}

impl Obstacle {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Obstacle::Missing => "route_missing",
            Obstacle::Paused => "paused",
        }
    }
}

/// The obstacle of a route. A route that has gone is missing, paused or not.
pub(super) fn obstacle(connection: &Connection, route: &str) -> Result<Option<Obstacle>, Error> {
    let (missing, paused) = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'routes_told')
                        AND NOT EXISTS (SELECT 1 FROM routes WHERE route = ?1),
                    EXISTS (SELECT 1 FROM pauses WHERE route = ?1)",
        )
        .and_then(|mut s| s.query_row([route], |row| Ok((row.get(0)?, row.get(1)?))))
        .map_err(failed)?;
    Ok(match (missing, paused) {
        (true, _) => Some(Obstacle::Missing),
        (false, true) => Some(Obstacle::Paused),
        (false, false) => None,
    })
}

/// The state and the reason of an event that would be queued.
pub(super) fn waiting(obstacle: Option<Obstacle>) -> (EventState, Option<&'static str>) {
    match obstacle {
        Some(obstacle) => (EventState::Held, Some(obstacle.reason())),
        None => (EventState::Queued, None),
    }
}
