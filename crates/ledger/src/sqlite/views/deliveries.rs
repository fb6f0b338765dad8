//! Deliveries and their texts.

use rules::states::DeliveryState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{pages, parse};
use crate::api::views::listed;
use crate::sqlite::{blob, failed};
use crate::{Delivery, DeliveryQuery, Error, Page};

pub(in crate::sqlite) fn delivery(connection: &Connection, id: &str) -> Result<Delivery, Error> {
    let seq = connection
        .prepare_cached("SELECT seq FROM deliveries WHERE id = ?1")
        .and_then(|mut s| s.query_row([id], |row| row.get(0)).optional())
        .map_err(failed)?
        .ok_or_else(|| Error::NotFound { kind: "delivery", id: id.to_owned() })?;
    load(connection, seq)
}

/// Deliveries of an event.
pub(in crate::sqlite) const BY_EVENT: &str = "SELECT seq FROM deliveries INDEXED BY deliveries_by_event
     WHERE event_seq = (SELECT seq FROM events WHERE id = ?1) AND seq < ?2 AND (?3 IS NULL OR state = ?3)
     ORDER BY seq DESC LIMIT ?4";

/// All deliveries.
pub(in crate::sqlite) const ALL: &str = "SELECT seq FROM deliveries WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";

/// Deliveries in a state.
pub(in crate::sqlite) fn by_state(state: DeliveryState) -> String {
    pages::by_states("deliveries", "deliveries_by_state", false, "", &[state.as_str()])
}

pub(in crate::sqlite) fn deliveries(connection: &Connection, query: &DeliveryQuery) -> Result<Page<Delivery>, Error> {
    let page = pages::place(query.cursor.as_deref(), query.limit)?;
    let rows = i64::from(page.limit) + 1;
    let mut seqs: Vec<i64> = if let Some(event_id) = &query.event_id {
        let state = query.state.map(DeliveryState::as_str);
        connection
            .prepare_cached(BY_EVENT)
            .and_then(|mut s| s.query_map(params![event_id, page.before, state, rows], |row| row.get(0))?.collect())
    } else if let Some(state) = query.state {
        connection
            .prepare_cached(&by_state(state))
            .and_then(|mut s| s.query_map(params![None::<String>, page.before, 0, rows], |row| row.get(0))?.collect())
    } else {
        connection
            .prepare_cached(ALL)
            .and_then(|mut s| s.query_map(params![page.before, rows], |row| row.get(0))?.collect())
    }
    .map_err(failed)?;
    let next = pages::cut(&mut seqs, page.limit);
    let mut items = Vec::new();
    for seq in seqs {
        let delivery = load(connection, seq)?;
        items.push(Delivery { content: listed(delivery.content), ..delivery });
    }
    Ok(Page { items, next })
}

fn load(connection: &Connection, seq: i64) -> Result<Delivery, Error> {
    let (mut delivery, state, content) = connection
        .prepare_cached(
            "SELECT d.id, e.id, r.id, e.route, d.target, d.attempts, d.error, d.created_at, d.delivered_at, d.due_at, d.state,
                    t.answer
             FROM deliveries d JOIN events e ON e.seq = d.event_seq
             LEFT JOIN runs r ON r.seq = d.run_seq LEFT JOIN run_texts t ON t.run_seq = d.run_seq
             WHERE d.seq = ?1",
        )
        .and_then(|mut s| {
            s.query_row([seq], |row| {
                let delivery = Delivery {
                    id: row.get(0)?,
                    event_id: row.get(1)?,
                    run_id: row.get(2)?,
                    route: row.get(3)?,
                    target: row.get(4)?,
                    state: DeliveryState::Pending,
                    attempts: row.get(5)?,
                    error: row.get(6)?,
                    content: None,
                    created_at: row.get(7)?,
                    delivered_at: row.get(8)?,
                    due_at: row.get(9)?,
                };
                Ok((delivery, row.get::<_, String>(10)?, row.get::<_, Option<Vec<u8>>>(11)?))
            })
        })
        .map_err(failed)?;
    delivery.state = parse(&state)?;
    delivery.content = blob::unpack_text(content)?;
    Ok(delivery)
}
