//! Deliveries: taken when due, ended by whoever took them.

use super::{Failure, Tx, count, nodes};
use crate::sqlite::blob;
use crate::{ClaimDeliveries, ClaimedDelivery, DeliveryEnd, Error};

/// Takes what a target may be sent now, the longest due first, without what others are taking.
pub(super) const TAKE: &str = "WITH due AS (
         SELECT seq, due_at FROM deliveries WHERE target = $1 AND due_at IS NOT NULL AND due_at <= $2
         ORDER BY due_at, seq LIMIT $3 FOR UPDATE SKIP LOCKED
     ), taken AS (
         UPDATE deliveries d SET state = 'sending', due_at = NULL, boot = $4, attempts = attempts + 1, spent = spent + 1
         FROM due WHERE d.seq = due.seq RETURNING d.*, due.due_at AS was_due
     )
     SELECT d.id, d.attempts, d.spent, d.target, d.created_at, d.extra, e.id, e.route, e.event_type, e.delivery_id,
            e.hop, r.id, t.answer
     FROM taken d JOIN events e ON e.seq = d.event_seq
     LEFT JOIN runs r ON r.seq = d.run_seq LEFT JOIN run_texts t ON t.run_seq = d.run_seq
     ORDER BY d.was_due, d.seq";

pub(super) async fn claim_deliveries(tx: &Tx, claim: &ClaimDeliveries) -> Result<Vec<ClaimedDelivery>, Failure> {
    let mut claimed = Vec::new();
    if !nodes::stays(tx, claim.boot).await? {
        return Ok(claimed);
    }
    for target in claim.targets.iter().filter(|t| t.room > 0) {
        let values = [(&target.target).into(), claim.now.into(), target.room.into(), claim.boot.into()];
        for row in tx.query(TAKE, &values).await? {
            let id: String = row.get(0);
            let extra = serde_json::from_str(row.get(5))
                .map_err(|e| Failure::Told(Error::Unavailable(format!("stored values of {id} cannot be read: {e}"))))?;
            claimed.push(ClaimedDelivery {
                attempt: count(row.get(1)),
                spent: count(row.get(2)),
                target: row.get(3),
                created_at: row.get(4),
                extra,
                event_id: row.get(6),
                route: row.get(7),
                event_type: row.get(8),
                provider_delivery_id: row.get(9),
                hop: count(row.get(10)),
                run_id: row.get(11),
                content: blob::unpack_text(row.get(12))?.unwrap_or_default(),
                id,
            });
        }
    }
    Ok(claimed)
}

pub(super) async fn finish_delivery(tx: &Tx, end: &DeliveryEnd) -> Result<bool, Failure> {
    end.check()?;
    let delivered = end.state == rules::states::DeliveryState::Delivered;
    let rows = tx
        .execute(
            "UPDATE deliveries SET state = $4, error = $5, due_at = $6, delivered_at = $7
             WHERE id = $1 AND state = 'sending' AND boot = $2 AND attempts = $3 AND lives($2)",
            &[
                (&end.id).into(),
                end.boot.into(),
                end.attempt.into(),
                end.state.as_str().into(),
                (&end.error).into(),
                end.due_at.filter(|_| !end.state.is_finished()).into(),
                delivered.then_some(end.now).into(),
            ],
        )
        .await?;
    Ok(rows > 0)
}
