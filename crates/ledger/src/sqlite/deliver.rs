//! Deliveries: taken when due, ended by whoever took them.

use rusqlite::{Connection, params};

use super::{blob, failed};
use crate::{ClaimDeliveries, ClaimedDelivery, DeliveryEnd, Error};

/// What a target may be sent now, the longest due first.
pub(super) const DUE: &str = "SELECT seq FROM deliveries INDEXED BY deliveries_due
     WHERE target = ?1 AND due_at IS NOT NULL AND due_at <= ?2 ORDER BY due_at, seq LIMIT ?3";

pub(super) fn claim_deliveries(
    connection: &Connection,
    claim: &ClaimDeliveries,
) -> Result<Vec<ClaimedDelivery>, Error> {
    let mut claimed = Vec::new();
    for target in claim.targets.iter().filter(|t| t.room > 0) {
        let due: Vec<i64> = connection
            .prepare_cached(DUE)
            .and_then(|mut s| s.query_map(params![target.target, claim.now, target.room], |row| row.get(0))?.collect())
            .map_err(failed)?;
        for seq in due {
            claimed.push(take(connection, claim, seq)?);
        }
    }
    Ok(claimed)
}

fn take(connection: &Connection, claim: &ClaimDeliveries, seq: i64) -> Result<ClaimedDelivery, Error> {
    connection
        .prepare_cached(
            "UPDATE deliveries SET state = 'sending', due_at = NULL, boot = ?2, attempts = attempts + 1, spent = spent + 1
             WHERE seq = ?1",
        )
        .and_then(|mut s| s.execute(params![seq, claim.boot]))
        .map_err(failed)?;
    points::reach("claim_deliveries.taken");
    let (mut delivery, content, extra) = connection
        .prepare_cached(
            "SELECT d.id, d.attempts, d.spent, d.target, d.created_at, d.extra, e.id, e.route, e.event_type, e.delivery_id,
                    e.hop, r.id, t.answer
             FROM deliveries d JOIN events e ON e.seq = d.event_seq
             LEFT JOIN runs r ON r.seq = d.run_seq LEFT JOIN run_texts t ON t.run_seq = d.run_seq
             WHERE d.seq = ?1",
        )
        .and_then(|mut s| {
            s.query_row([seq], |row| {
                let delivery = ClaimedDelivery {
                    id: row.get(0)?,
                    attempt: row.get(1)?,
                    spent: row.get(2)?,
                    target: row.get(3)?,
                    created_at: row.get(4)?,
                    extra: serde_json::Map::new(),
                    event_id: row.get(6)?,
                    route: row.get(7)?,
                    event_type: row.get(8)?,
                    provider_delivery_id: row.get(9)?,
                    hop: row.get(10)?,
                    run_id: row.get(11)?,
                    content: String::new(),
                };
                Ok((delivery, row.get::<_, Option<Vec<u8>>>(12)?, row.get::<_, String>(5)?))
            })
        })
        .map_err(failed)?;
    delivery.content = blob::unpack_text(content)?.unwrap_or_default();
    delivery.extra = serde_json::from_str(&extra)
        .map_err(|e| Error::Unavailable(format!("stored values of {} cannot be read: {e}", delivery.id)))?;
    Ok(delivery)
}

pub(super) fn finish_delivery(connection: &Connection, end: &DeliveryEnd) -> Result<bool, Error> {
    end.check()?;
    let delivered = end.state == rules::states::DeliveryState::Delivered;
    let rows = connection
        .prepare_cached(
            "UPDATE deliveries SET state = ?4, error = ?5, due_at = ?6, delivered_at = ?7
             WHERE id = ?1 AND state = 'sending' AND boot = ?2 AND attempts = ?3",
        )
        .and_then(|mut s| {
            s.execute(params![
                end.id,
                end.boot,
                end.attempt,
                end.state.as_str(),
                end.error,
                end.due_at.filter(|_| !end.state.is_finished()),
                delivered.then_some(end.now),
            ])
        })
        .map_err(failed)?;
    points::reach("finish_delivery.written");
    Ok(rows > 0)
}
