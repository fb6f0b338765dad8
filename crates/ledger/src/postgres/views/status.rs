//! Gauges, read from counters and from the ends of small indexes.

use rules::states::{DeliveryState, EventState};

use super::parse;
use crate::postgres::{Failure, Tx};
use crate::{Due, Status};

/// When the oldest event in a state came, of those that wait for no time. The index has both, so that events which wait
/// for one are passed over without a look at their rows. Compared as in `pages.rs`.
pub(in crate::postgres) const OLDEST: &str =
    "SELECT received_at FROM events WHERE (state, seq) >= ('queued', 0) AND (state, seq) < ('queued', 9223372036854775807)
         AND due_at IS NULL ORDER BY state, seq LIMIT 1";

/// The next time that an event waits for.
pub(in crate::postgres) const NEXT_EVENT: &str =
    "SELECT due_at FROM events WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";

/// The next time that a delivery waits for.
pub(in crate::postgres) const NEXT_DELIVERY: &str =
    "SELECT due_at FROM deliveries WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";

pub(in crate::postgres) async fn status(tx: &Tx) -> Result<Status, Failure> {
    let mut status = Status::default();
    let counted =
        tx.query("SELECT name, sum(value)::bigint FROM counters GROUP BY name HAVING sum(value) > 0", &[]).await?;
    for row in counted {
        let name: &str = row.get(0);
        let value = u64::try_from(row.get::<_, i64>(1)).unwrap_or(0);
        if let Some(state) = name.strip_prefix("event.") {
            status.events.insert(parse::<EventState>(state)?, value);
        } else if let Some(state) = name.strip_prefix("delivery.") {
            status.deliveries.insert(parse::<DeliveryState>(state)?, value);
        }
    }
    status.running = status.events.get(&EventState::Running).copied().unwrap_or(0);
    let paused = tx.query("SELECT route FROM pauses ORDER BY route", &[]).await?;
    status.paused = paused.iter().map(|row| row.get(0)).collect();
    status.oldest_waiting = tx.optional(OLDEST, &[]).await?.map(|row| row.get(0));
    Ok(status)
}

pub(in crate::postgres) async fn due(tx: &Tx) -> Result<Due, Failure> {
    let row = tx.one(&format!("SELECT ({NEXT_EVENT}), ({NEXT_DELIVERY})"), &[]).await?;
    Ok(Due { event: row.get(0), delivery: row.get(1) })
}
