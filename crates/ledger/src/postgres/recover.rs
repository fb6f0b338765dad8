//! What lives that are over left behind.

use super::claim::standing;
use super::{Failure, Tx, count, nodes};
use crate::{Boot, Inheritance, OrphanRun, StuckDelivery};

/// Runs in flight of boots of a kind.
macro_rules! runs {
    ($whose:literal) => {
        concat!(
            "SELECT r.id, r.attempt, e.id, r.route, r.agent, e.retries_spent, e.interruptions, e.later_since
             FROM runs r JOIN events e ON e.seq = r.event_seq WHERE r.state = 'running' AND ",
            $whose,
            " ORDER BY r.seq"
        )
    };
}

/// Deliveries under way of boots of a kind.
macro_rules! deliveries {
    ($whose:literal) => {
        concat!(
            "SELECT d.id, d.attempts, d.target FROM deliveries d WHERE d.state = 'sending' AND ",
            $whose,
            " ORDER BY d.seq"
        )
    };
}

/// Of others that do not live.
pub(super) const ORPHANS: &str = runs!(
    "r.boot <> $1 AND NOT EXISTS (
         SELECT 1 FROM nodes n WHERE n.boot = r.boot AND NOT n.ended AND n.lease_until > clock_timestamp())"
);
pub(super) const STUCK: &str = deliveries!(
    "d.boot <> $1 AND NOT EXISTS (
         SELECT 1 FROM nodes n WHERE n.boot = d.boot AND NOT n.ended AND n.lease_until > clock_timestamp())"
);

pub(super) async fn inherit(tx: &Tx, dead: Boot, heir: Boot) -> Result<Inheritance, Failure> {
    if dead == heir || !nodes::stays(tx, heir).await? {
        return Ok(Inheritance::default());
    }
    nodes::end_boot(tx, dead).await?;
    let inheritance = under_way(tx, dead).await?;
    for sql in [
        "UPDATE runs SET boot = $2 WHERE state = 'running' AND boot = $1",
        "UPDATE deliveries SET boot = $2 WHERE state = 'sending' AND boot = $1",
    ] {
        tx.execute(sql, &[dead.into(), heir.into()]).await?;
    }
    Ok(inheritance)
}

/// Of one.
pub(super) const RUNS_OF: &str = runs!("r.boot = $1");
pub(super) const DELIVERIES_OF: &str = deliveries!("d.boot = $1");

pub(super) async fn under_way(tx: &Tx, boot: Boot) -> Result<Inheritance, Failure> {
    Ok(Inheritance { runs: orphans(tx, RUNS_OF, boot).await?, deliveries: stuck(tx, DELIVERIES_OF, boot).await? })
}

pub(super) async fn orphan_runs(tx: &Tx, boot: Boot) -> Result<Vec<OrphanRun>, Failure> {
    orphans(tx, ORPHANS, boot).await
}

pub(super) async fn stuck_deliveries(tx: &Tx, boot: Boot) -> Result<Vec<StuckDelivery>, Failure> {
    stuck(tx, STUCK, boot).await
}

async fn orphans(tx: &Tx, sql: &str, boot: Boot) -> Result<Vec<OrphanRun>, Failure> {
    let rows = tx.query(sql, &[boot.into()]).await?;
    let orphan = |row: &tokio_postgres::Row| OrphanRun {
        run_id: row.get(0),
        attempt: count(row.get(1)),
        event_id: row.get(2),
        route: row.get(3),
        agent: row.get(4),
        standing: standing(row, 5),
    };
    Ok(rows.iter().map(orphan).collect())
}

async fn stuck(tx: &Tx, sql: &str, boot: Boot) -> Result<Vec<StuckDelivery>, Failure> {
    let rows = tx.query(sql, &[boot.into()]).await?;
    let stuck = rows.iter().map(|row| StuckDelivery { id: row.get(0), attempt: count(row.get(1)), target: row.get(2) });
    Ok(stuck.collect())
}

pub(super) async fn adopt_delivery(tx: &Tx, id: &str, boot: Boot) -> Result<bool, Failure> {
    let found = tx
        .optional(
            "SELECT seq, boot FROM deliveries WHERE id = $1 AND state = 'sending' AND boot <> $2 AND lives($2) FOR UPDATE",
            &[id.into(), boot.into()],
        )
        .await?;
    let Some(row) = found else { return Ok(false) };
    if !nodes::bury(tx, row.get(1)).await? {
        return Ok(false);
    }
    let seq: i64 = row.get(0);
    tx.execute("UPDATE deliveries SET boot = $2 WHERE seq = $1", &[seq.into(), boot.into()]).await?;
    Ok(true)
}
