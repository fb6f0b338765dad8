//! Pages by cursor: the cursor is the `seq` of the last row shown, so that inserts never shift a page.

use tokio_postgres::Row;

use crate::Error;
use crate::api::views::LARGEST_PAGE;

const PREFIX: &str = "b"; // "before"; a number alone would look like an offset

/// The place of a page: rows below `before`, at most `limit`.
pub(super) struct Place {
    pub(super) before: i64,
    pub(super) limit: u32,
}

impl Place {
    /// Rows to read: one beyond the page tells whether there is a next one.
    pub(super) fn rows(&self) -> i64 {
        i64::from(self.limit) + 1
    }
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

/// The numbers of a page's rows, without the one that was read beyond it, and the cursor of the next page: the last row
/// that stays.
pub(super) fn cut(rows: &[Row], limit: u32) -> (Vec<i64>, Option<String>) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let seqs: Vec<i64> = rows.iter().take(limit).map(|row| row.get(0)).collect();
    let next = if rows.len() > limit { seqs.last().map(|seq| format!("{PREFIX}{seq}")) } else { None };
    (seqs, next)
}

/// Events reach the ledger within so long of the order they were received in: a body may come slowly, a node be behind.
pub(super) const DISORDER: i64 = 60_000;

/// `SELECT seq` over one index for each of several states, newest first: the index is read from its end for each, and only
/// the few rows of the page are merged. `$1` = route or nothing, `$2` = before, `$3` = from, `$4` = rows; `also` is a further
/// condition that ends with AND.
///
/// Rows are compared as a whole and ordered by all that the index is ordered by. With `state = …` the planner could take the order
/// from the primary key instead and look for the state as it goes, through the whole table when the last rows have other states.
pub(super) fn by_states(table: &str, with_route: bool, also: &str, states: &[&str]) -> String {
    let (columns, value, order) =
        if with_route { ("route, state", "$1, ", "route DESC, state DESC") } else { ("state", "", "state DESC") };
    let parts: Vec<String> = states
        .iter()
        .map(|state| {
            format!(
                "(SELECT seq FROM {table} WHERE {also} ({columns}, seq) < ({value}'{state}', $2)
                      AND ({columns}, seq) >= ({value}'{state}', $3) ORDER BY {order}, seq DESC LIMIT $4)"
            )
        })
        .collect();
    format!("SELECT seq FROM ({}) AS found ORDER BY seq DESC LIMIT $4", parts.join(" UNION ALL "))
}
