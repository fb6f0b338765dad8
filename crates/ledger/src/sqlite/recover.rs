//! What lives that are over left behind.

use rules::run_end::Standing;
use rusqlite::{Connection, params};

use super::{failed, nodes};
use crate::{Boot, Error, Inheritance, OrphanRun, StuckDelivery};

/// Of those that do not live, without ?1 itself.
const OTHERS: &str = "boot <> ?1 AND boot NOT IN (SELECT boot FROM nodes WHERE ended = 0)";
const ONE: &str = "boot = ?1";

pub(super) fn orphan_runs(connection: &Connection, boot: Boot) -> Result<Vec<OrphanRun>, Error> {
    runs_of(connection, OTHERS, boot)
}

pub(super) fn stuck_deliveries(connection: &Connection, boot: Boot) -> Result<Vec<StuckDelivery>, Error> {
    deliveries_of(connection, OTHERS, boot)
}

pub(super) fn inherit(connection: &Connection, dead: Boot, heir: Boot) -> Result<Inheritance, Error> {
    if dead == heir || !nodes::lives(connection, heir)? {
        return Ok(Inheritance::default());
    }
    nodes::end_boot(connection, dead)?;
    let inheritance = under_way(connection, dead)?;
    for sql in [
        "UPDATE runs INDEXED BY runs_in_flight SET boot = ?2 WHERE state = 'running' AND boot = ?1",
        "UPDATE deliveries INDEXED BY deliveries_under_way SET boot = ?2 WHERE state = 'sending' AND boot = ?1",
    ] {
        connection.execute(sql, params![dead, heir]).map_err(failed)?;
    }
    Ok(inheritance)
}

pub(super) fn under_way(connection: &Connection, boot: Boot) -> Result<Inheritance, Error> {
    Ok(Inheritance { runs: runs_of(connection, ONE, boot)?, deliveries: deliveries_of(connection, ONE, boot)? })
}

fn runs_of(connection: &Connection, whose: &str, boot: Boot) -> Result<Vec<OrphanRun>, Error> {
    connection
        .prepare(&format!(
            "SELECT r.id, r.attempt, e.id, r.route, r.agent, e.retries_spent, e.interruptions, e.later_since
             FROM (SELECT * FROM runs INDEXED BY runs_in_flight WHERE state = 'running' AND {whose}) r
             JOIN events e ON e.seq = r.event_seq ORDER BY r.seq"
        ))
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

fn deliveries_of(connection: &Connection, whose: &str, boot: Boot) -> Result<Vec<StuckDelivery>, Error> {
    connection
        .prepare(&format!(
            "SELECT id, attempts, target FROM deliveries INDEXED BY deliveries_under_way
             WHERE state = 'sending' AND {whose} ORDER BY seq"
        ))
        .and_then(|mut s| {
            s.query_map([boot], |row| Ok(StuckDelivery { id: row.get(0)?, attempt: row.get(1)?, target: row.get(2)? }))?
                .collect()
        })
        .map_err(failed)
}

pub(super) fn adopt_delivery(connection: &Connection, id: &str, boot: Boot) -> Result<bool, Error> {
    let rows = connection
        .execute(
            "UPDATE deliveries SET boot = ?2 WHERE id = ?1 AND state = 'sending' AND boot <> ?2
                 AND boot NOT IN (SELECT boot FROM nodes WHERE ended = 0)
                 AND ?2 IN (SELECT boot FROM nodes WHERE ended = 0)",
            params![id, boot],
        )
        .map_err(failed)?;
    points::reach("adopt_delivery.adopted");
    Ok(rows > 0)
}
