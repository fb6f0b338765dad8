//! Pausing routes, and routes that come and go, while nobody else changes the queue.
//!
//! Each step changes the fact and then settles the route: what waits is held for the route's obstacle, or freed without one.

use std::collections::BTreeSet;

use super::{Failure, Tx, Value, lines};
use crate::Millis;

pub(super) async fn pause(tx: &Tx, route: &str, now: Millis) -> Result<bool, Failure> {
    let new =
        tx.execute("INSERT INTO pauses VALUES ($1, $2) ON CONFLICT DO NOTHING", &[route.into(), now.into()]).await?;
    settle(tx, route).await?;
    Ok(new > 0)
}

pub(super) async fn resume(tx: &Tx, route: &str) -> Result<bool, Failure> {
    let was = tx.execute("DELETE FROM pauses WHERE route = $1", &[route.into()]).await?;
    settle(tx, route).await?;
    Ok(was > 0)
}

pub(super) async fn reconcile(tx: &Tx, known: &[String]) -> Result<(), Failure> {
    tx.batch("DELETE FROM routes; INSERT INTO meta VALUES ('routes_told', 1) ON CONFLICT DO NOTHING;").await?;
    let known = Value::texts(known.iter().map(String::as_str));
    tx.execute("INSERT INTO routes SELECT DISTINCT route FROM unnest($1) AS t (route)", &[known]).await?;
    for row in tx.query(ROUTES_WAITING, &[]).await? {
        settle(tx, row.get(0)).await?;
    }
    Ok(())
}

/// Names, found by skipping from one to the next in the index: their number, not the number of events, is what it costs.
pub(super) const ROUTES_WAITING: &str = "WITH RECURSIVE names (route) AS (
         (SELECT route FROM events ORDER BY route LIMIT 1)
         UNION ALL
         SELECT (SELECT e.route FROM events e WHERE e.route > names.route ORDER BY e.route LIMIT 1)
         FROM names WHERE names.route IS NOT NULL
     )
     SELECT route FROM names WHERE route IS NOT NULL AND EXISTS (
         SELECT 1 FROM events e WHERE e.route = names.route AND e.state IN ('held', 'queued', 'failed'))";

async fn settle(tx: &Tx, route: &str) -> Result<(), Failure> {
    match lines::obstacle(tx, route).await? {
        Some(obstacle) => {
            tx.execute(HOLD, &[route.into(), obstacle.reason().into()]).await?;
            Ok(())
        }
        None => free(tx, route).await,
    }
}

/// Everything of the route that waits to run is held; when the route has gone, also what waits for its retry. A time to
/// wait for goes on meanwhile.
pub(super) const HOLD: &str = "UPDATE events SET state = 'held', reason = $2, ready = false
     WHERE route = $1 AND state IN ('held', 'queued', 'failed') AND CASE state
         WHEN 'queued' THEN true
         WHEN 'held' THEN reason IN ('paused', 'route_missing') AND reason <> $2
         ELSE due_at IS NOT NULL AND $2 = 'route_missing' END";

/// What was held for its route waits to run again; what has a time to wait for goes on waiting for it.
pub(super) const FREE: &str =
    "UPDATE events SET state = 'queued', reason = NULL, ready = due_at IS NULL AND line IS NULL
     WHERE route = $1 AND state = 'held' AND reason IN ('paused', 'route_missing')
     RETURNING CASE WHEN due_at IS NULL THEN line END";

async fn free(tx: &Tx, route: &str) -> Result<(), Failure> {
    let freed = tx.query(FREE, &[route.into()]).await?;
    let heads: BTreeSet<&str> = freed.iter().filter_map(|row| row.get::<_, Option<&str>>(0)).collect();
    let heads: Vec<(&str, &str)> = heads.into_iter().map(|line| (route, line)).collect();
    lines::refresh(tx, &heads).await
}
