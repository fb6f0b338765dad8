//! The clock of the database, and what waits for a time.

use super::{Failure, Tx};
use crate::Millis;

/// Milliseconds since 1970 by the database's clock.
pub(super) async fn time(tx: &Tx) -> Result<Millis, Failure> {
    let row = tx.one("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint", &[]).await?;
    Ok(row.get(0))
}

/// What waits for a time.
pub(super) const SHIFT: [&str; 3] = [
    "UPDATE events SET due_at = due_at - $1 WHERE due_at IS NOT NULL",
    "UPDATE events SET later_since = later_since - $1
     WHERE state IN ('failed', 'held', 'queued') AND later_since IS NOT NULL",
    "UPDATE deliveries SET due_at = due_at - $1 WHERE due_at IS NOT NULL",
];

pub(super) async fn keep_time(tx: &Tx, now: Millis, back: Option<Millis>) -> Result<Option<Millis>, Failure> {
    let before: Option<Millis> =
        tx.optional("SELECT value FROM meta WHERE name = 'time' FOR UPDATE", &[]).await?.map(|row| row.get(0));
    tx.execute(
        "INSERT INTO meta VALUES ('time', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &[now.into()],
    )
    .await?;
    let back = back.unwrap_or_else(|| before.map_or(0, |noted| noted - now));
    if back > 0 {
        for sql in SHIFT {
            tx.execute(sql, &[back.into()]).await?;
        }
    }
    Ok(before)
}
