//! Pages by cursor: the cursor is the `seq` of the last row shown, so that inserts never shift a page.

use rusqlite::{Connection, OptionalExtension as _};

use crate::api::views::LARGEST_PAGE;
use crate::sqlite::failed;
use crate::{Error, Millis};

const PREFIX: &str = "b"; // "before"; a number alone would look like an offset

/// The place of a page: rows below `before`, at most `limit`.
pub(super) struct Place {
    pub(super) before: i64,
    pub(super) limit: u32,
}

pub(super) fn place(cursor: Option<&str>, limit: u32) -> Result<Place, Error> {
    let before = match cursor {
        None => i64::MAX,
        Some(text) => {
            text.strip_prefix(PREFIX).and_then(|n| n.parse().ok()).filter(|n| *n > 0).ok_or(Error::BadCursor)?
        }
    };
    Ok(Place { before, limit: limit.clamp(1, LARGEST_PAGE) })
}

/// Cuts the row that was read beyond the page off, and names the next page by the last row that stays.
pub(super) fn cut(seqs: &mut Vec<i64>, limit: u32) -> Option<String> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if seqs.len() <= limit {
        return None;
    }
    seqs.truncate(limit);
    seqs.last().map(|seq| format!("{PREFIX}{seq}"))
}

/// Events reach the ledger within so long of the order they were received in: a body may come slowly, a writer be behind.
const DISORDER: Millis = 60_000;

/// A `seq` below which no event was received at `since` or later. Arrival order is time order but for some disorder, so
/// that a search by halves finds the place without an index on the time; the rows above it are still to be looked at one by
/// one. Only events from before a clock was set back by more than that may be missed.
pub(super) fn first_since(connection: &Connection, since: Millis) -> Result<i64, Error> {
    let since = since.saturating_sub(DISORDER);
    let (mut low, mut high): (i64, i64) = connection
        .query_row("SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) + 1 FROM events", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(failed)?;
    let mut look = connection
        .prepare_cached("SELECT seq, received_at FROM events WHERE seq >= ?1 ORDER BY seq LIMIT 1")
        .map_err(failed)?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, Millis)> =
            look.query_row([middle], |row| Ok((row.get(0)?, row.get(1)?))).optional().map_err(failed)?;
        match found {
            Some((seq, at)) if at < since => low = seq + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// `SELECT seq` over one index for each of several states, newest first: the index is read from its end for each, and only
/// the few rows of the page are merged. `?1` = route or nothing, `?2` = before, `?3` = from, `?4` = rows; `also` is a further
/// condition that ends with AND.
pub(super) fn by_states(table: &str, index: &str, with_route: bool, also: &str, states: &[&str]) -> String {
    let route = if with_route { "route = ?1 AND " } else { "?1 IS NULL AND " };
    let parts: Vec<String> = states
        .iter()
        .map(|state| {
            format!(
                "SELECT * FROM (SELECT seq FROM {table} INDEXED BY {index}
                 WHERE {also} {route}state = '{state}' AND seq < ?2 AND seq >= ?3 ORDER BY seq DESC LIMIT ?4)"
            )
        })
        .collect();
    format!("SELECT seq FROM ({}) ORDER BY seq DESC LIMIT ?4", parts.join(" UNION ALL "))
}
