//! The wall clock, which people and programs set: what waits is to wait no longer for it.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::failed;
use crate::{Error, Millis};

/// What waits for a time.
pub(super) const SHIFT: [&str; 3] = [
    "UPDATE events INDEXED BY events_due SET due_at = due_at - ?1 WHERE due_at IS NOT NULL",
    "UPDATE events INDEXED BY events_by_state SET later_since = later_since - ?1
     WHERE state IN ('failed', 'held', 'queued') AND later_since IS NOT NULL",
    "UPDATE deliveries INDEXED BY deliveries_next SET due_at = due_at - ?1 WHERE due_at IS NOT NULL",
];

pub(super) fn keep_time(connection: &Connection, now: Millis, back: Option<Millis>) -> Result<Option<Millis>, Error> {
    let before: Option<Millis> = connection
        .prepare_cached("SELECT value FROM meta WHERE name = 'time'")
        .and_then(|mut s| s.query_row([], |row| row.get(0)).optional())
        .map_err(failed)?;
    connection
        .prepare_cached("INSERT INTO meta VALUES ('time', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        .and_then(|mut s| s.execute([now]))
        .map_err(failed)?;
    let back = back.unwrap_or_else(|| before.map_or(0, |noted| noted - now));
    if back > 0 {
        for sql in SHIFT {
            connection.execute(sql, params![back]).map_err(failed)?;
        }
    }
    Ok(before)
}
