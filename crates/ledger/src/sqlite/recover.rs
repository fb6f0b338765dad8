//! What an earlier life left behind.

use rules::run_end::Standing;
use rusqlite::{Connection, params};

use super::failed;
use crate::{Boot, Error, OrphanRun, StuckDelivery};

pub(super) fn begin_boot(connection: &Connection) -> Result<Boot, Error> {
    let boot = connection
        .query_row("UPDATE meta SET value = value + 1 WHERE name = 'boot' RETURNING value", [], |row| row.get(0))
        .map_err(failed)?;
    points::reach("begin_boot.counted");
    Ok(boot)
}

pub(super) fn orphan_runs(connection: &Connection, boot: Boot) -> Result<Vec<OrphanRun>, Error> {
    connection
        .prepare(
            "SELECT r.id, r.attempt, e.id, r.route, r.agent, e.retries_spent, e.interruptions, e.later_since
             FROM runs r INDEXED BY runs_in_flight JOIN events e ON e.seq = r.event_seq
             WHERE r.state = 'running' AND r.boot < ?1 ORDER BY r.seq",
        )
        .and_then(|mut s| {
            s.query_map([boot], |row| {
                Ok(OrphanRun {
                    run_id: row.get(0)?,
                    attempt: row.get(1)?,
                    event_id: row.get(2)?,
                    route: row.get(3)?,
                    agent: row.get(4)?,
                    standing: Standing {
                        retries_spent: row.get(5)?,
                        interruptions: row.get(6)?,
                        later_since: row.get(7)?,
                    },
                })
            })?
            .collect()
        })
        .map_err(failed)
}

pub(super) fn stuck_deliveries(connection: &Connection, boot: Boot) -> Result<Vec<StuckDelivery>, Error> {
    connection
        .prepare(
            "SELECT id, attempts, target FROM deliveries INDEXED BY deliveries_under_way
             WHERE state = 'sending' AND boot < ?1 ORDER BY seq",
        )
        .and_then(|mut s| {
            s.query_map([boot], |row| Ok(StuckDelivery { id: row.get(0)?, attempt: row.get(1)?, target: row.get(2)? }))?
                .collect()
        })
        .map_err(failed)
}

pub(super) fn adopt_delivery(connection: &Connection, id: &str, boot: Boot) -> Result<bool, Error> {
    let rows = connection
        .execute("UPDATE deliveries SET boot = ?2 WHERE id = ?1 AND state = 'sending' AND boot < ?2", params![id, boot])
        .map_err(failed)?;
    points::reach("adopt_delivery.adopted");
    Ok(rows > 0)
}
