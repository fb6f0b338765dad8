//! Lives of nodes and their leases, all by the clock of the database.

use std::time::Duration;

use super::{Failure, Tx, count, schema};
use crate::{Boot, Lease, Millis, Node, Renewal};

pub(super) const LEASE: Lease = Lease {
    length: Duration::from_secs(30),
    renew_every: Duration::from_secs(10),
    give_up_after: Duration::from_secs(20),
};

pub(super) async fn begin_boot(tx: &Tx, process: &str, name: &str, now: Millis) -> Result<Boot, Failure> {
    // Numbers grow in the order in which lives begin, as people read them.
    tx.batch("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE").await?;
    schema::refuse_unfinished(tx).await?;
    // Who has lost its lease for so long left nothing, or it would have been taken over; else it stays on the list.
    tx.batch(
        "DELETE FROM nodes WHERE (ended OR lease_until < now() - interval '1 hour')
           AND boot NOT IN (SELECT boot FROM runs WHERE state = 'running'
                            UNION SELECT boot FROM deliveries WHERE state = 'sending')",
    )
    .await?;
    fold_counters(tx).await?;
    let row = tx
        .one(
            "INSERT INTO nodes (process, name, started_at, lease_until)
             VALUES ($1, $2, $3, clock_timestamp() + interval '30 seconds') RETURNING boot",
            &[process.into(), name.into(), now.into()],
        )
        .await?;
    Ok(row.get(0))
}

/// Adds the shards of backends that are gone, or idle at this moment, to the common one.
pub(super) async fn fold_counters(tx: &Tx) -> Result<(), Failure> {
    tx.batch(
        "WITH idle AS (SELECT name, shard FROM counters WHERE shard <> 0 FOR UPDATE SKIP LOCKED),
              gone AS (DELETE FROM counters c USING idle WHERE c.name = idle.name AND c.shard = idle.shard
                       RETURNING c.name, c.value)
         INSERT INTO counters SELECT name, 0, sum(value)::bigint FROM gone GROUP BY name ORDER BY name
         ON CONFLICT (name, shard) DO UPDATE SET value = counters.value + excluded.value",
    )
    .await
}

/// Whether a boot lives; it cannot be ended before the transaction is.
pub(super) async fn stays(tx: &Tx, boot: Boot) -> Result<bool, Failure> {
    let row = tx
        .optional(
            "SELECT FROM nodes WHERE boot = $1 AND NOT ended AND lease_until > clock_timestamp() FOR SHARE",
            &[boot.into()],
        )
        .await?;
    Ok(row.is_some())
}

/// A lease that has ended is taken up again when nobody has ended the boot: nothing of its was taken over then.
pub(super) async fn renew(tx: &Tx, boot: Boot) -> Result<Renewal, Failure> {
    let kept = tx
        .optional(
            "UPDATE nodes SET lease_until = clock_timestamp() + interval '30 seconds' WHERE boot = $1 AND NOT ended
             RETURNING (SELECT extract(epoch FROM min(o.lease_until) - clock_timestamp())::float8 FROM nodes o
                        WHERE o.boot <> $1 AND NOT o.ended AND o.lease_until > clock_timestamp())",
            &[boot.into()],
        )
        .await?;
    Ok(match kept {
        Some(row) => {
            let seconds: Option<f64> = row.get(0);
            Renewal::Kept { look_again: seconds.map(|s| Duration::try_from_secs_f64(s).unwrap_or_default()) }
        }
        None => Renewal::Lost,
    })
}

pub(super) async fn end_boot(tx: &Tx, boot: Boot) -> Result<(), Failure> {
    tx.execute("UPDATE nodes SET ended = true WHERE boot = $1", &[boot.into()]).await?;
    Ok(())
}

/// Ends a boot of which something is taken over, unless it lives. `false`: it lives.
pub(super) async fn bury(tx: &Tx, boot: Boot) -> Result<bool, Failure> {
    let rows = tx
        .execute(
            "UPDATE nodes SET ended = true WHERE boot = $1 AND NOT ended AND lease_until <= clock_timestamp()",
            &[boot.into()],
        )
        .await?;
    if rows > 0 {
        return Ok(true);
    }
    Ok(!tx.one("SELECT lives($1)", &[boot.into()]).await?.get::<_, bool>(0))
}

pub(super) async fn list(tx: &Tx) -> Result<Vec<Node>, Failure> {
    let rows = tx
        .query(
            "SELECT n.boot, n.name, n.started_at, NOT n.ended AND n.lease_until > clock_timestamp(),
                    (SELECT count(*) FROM runs r WHERE r.state = 'running' AND r.boot = n.boot),
                    (SELECT count(*) FROM deliveries d WHERE d.state = 'sending' AND d.boot = n.boot)
             FROM nodes n ORDER BY n.boot",
            &[],
        )
        .await?;
    let nodes = rows.iter().map(|row| Node {
        boot: row.get(0),
        name: row.get(1),
        started_at: row.get(2),
        lives: row.get(3),
        running: count(row.get(4)).into(),
        sending: count(row.get(5)).into(),
    });
    Ok(nodes.filter(|node| node.lives || node.running > 0 || node.sending > 0).collect())
}
