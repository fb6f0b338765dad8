//! Lives of gateways. The lock on the file is the lease: the last life lives until it ends itself or another one begins.

use rusqlite::{Connection, params};

use super::failed;
use crate::{Boot, Error, Millis, Node, Renewal};

/// Whether a life is over. Only the last one may not be.
const LIVES: &str = "SELECT EXISTS (SELECT 1 FROM nodes WHERE boot = ?1 AND ended = 0)";

pub(super) fn begin_boot(connection: &Connection, name: &str, now: Millis) -> Result<Boot, Error> {
    connection.execute("UPDATE nodes SET ended = 1 WHERE ended = 0", []).map_err(failed)?;
    connection
        .execute(
            "DELETE FROM nodes WHERE boot NOT IN (SELECT boot FROM runs WHERE state = 'running'
                 UNION SELECT boot FROM deliveries WHERE state = 'sending')",
            [],
        )
        .map_err(failed)?;
    let boot = connection
        .query_row("UPDATE meta SET value = value + 1 WHERE name = 'boot' RETURNING value", [], |row| row.get(0))
        .map_err(failed)?;
    connection
        .execute("INSERT INTO nodes (boot, name, started_at) VALUES (?1, ?2, ?3)", params![boot, name, now])
        .map_err(failed)?;
    points::reach("begin_boot.counted");
    Ok(boot)
}

pub(super) fn lives(connection: &Connection, boot: Boot) -> Result<bool, Error> {
    connection.prepare_cached(LIVES).and_then(|mut s| s.query_row([boot], |row| row.get(0))).map_err(failed)
}

pub(super) fn renew(connection: &Connection, boot: Boot) -> Result<Renewal, Error> {
    Ok(if lives(connection, boot)? { Renewal::Kept { look_again: None } } else { Renewal::Lost })
}

pub(super) fn end_boot(connection: &Connection, boot: Boot) -> Result<(), Error> {
    connection.execute("UPDATE nodes SET ended = 1 WHERE boot = ?1", [boot]).map(drop).map_err(failed)
}

pub(super) fn list(connection: &Connection) -> Result<Vec<Node>, Error> {
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Node {
            boot: row.get(0)?,
            name: row.get(1)?,
            started_at: row.get(2)?,
            lives: row.get(3)?,
            running: row.get(4)?,
            sending: row.get(5)?,
        })
    };
    let mut nodes: Vec<Node> = connection
        .prepare(
            "SELECT n.boot, n.name, n.started_at, n.ended = 0,
                    (SELECT count(*) FROM runs r INDEXED BY runs_in_flight WHERE r.state = 'running' AND r.boot = n.boot),
                    (SELECT count(*) FROM deliveries d INDEXED BY deliveries_under_way
                     WHERE d.state = 'sending' AND d.boot = n.boot)
             FROM nodes n ORDER BY n.boot",
        )
        .and_then(|mut s| s.query_map([], read)?.collect())
        .map_err(failed)?;
    nodes.retain(|node| node.lives || node.running > 0 || node.sending > 0);
    Ok(nodes)
}
