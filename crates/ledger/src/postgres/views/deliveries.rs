//! Deliveries and their texts.

use rules::states::DeliveryState;

use super::{pages, parse};
use crate::api::views::listed;
use crate::postgres::{Failure, Tx, Value, count};
use crate::sqlite::blob;
use crate::{Delivery, DeliveryQuery, Error, Page};

pub(in crate::postgres) async fn delivery(tx: &Tx, id: &str) -> Result<Delivery, Failure> {
    let missing = || Failure::Told(Error::NotFound { kind: "delivery", id: id.to_owned() });
    let row = tx.optional("SELECT seq FROM deliveries WHERE id = $1", &[id.into()]).await?;
    let seq = row.ok_or_else(missing)?.get(0);
    load(tx, &[seq]).await?.pop().ok_or_else(missing)
}

/// Deliveries of an event.
pub(in crate::postgres) const BY_EVENT: &str = "SELECT seq FROM deliveries
     WHERE event_seq = (SELECT seq FROM events WHERE id = $1) AND seq < $2 AND ($3 IS NULL OR state = $3)
     ORDER BY seq DESC LIMIT $4";

/// All deliveries.
pub(in crate::postgres) const ALL: &str = "SELECT seq FROM deliveries WHERE seq < $1 ORDER BY seq DESC LIMIT $2";

/// Deliveries in a state, as in [`pages::by_states`].
pub(in crate::postgres) const BY_STATE: &str =
    "SELECT seq FROM deliveries WHERE (state, seq) < ($1, $2) AND (state, seq) >= ($1, 0)
     ORDER BY state DESC, seq DESC LIMIT $3";

pub(in crate::postgres) async fn deliveries(tx: &Tx, query: &DeliveryQuery) -> Result<Page<Delivery>, Failure> {
    let page = pages::place(query.cursor.as_deref(), query.limit)?;
    let (before, rows) = (page.before, page.rows());
    let state = query.state.map(DeliveryState::as_str);
    let rows = if let Some(event_id) = &query.event_id {
        tx.query(BY_EVENT, &[event_id.into(), before.into(), state.into(), rows.into()]).await?
    } else if let Some(state) = state {
        tx.query(BY_STATE, &[state.into(), before.into(), rows.into()]).await?
    } else {
        tx.query(ALL, &[before.into(), rows.into()]).await?
    };
    let (seqs, next) = pages::cut(&rows, page.limit);
    let shortened = |delivery: Delivery| Delivery { content: listed(delivery.content), ..delivery };
    Ok(Page { items: load(tx, &seqs).await?.into_iter().map(shortened).collect(), next })
}

/// Deliveries by their numbers, in the order given.
pub(in crate::postgres) const LOAD: &str =
    "SELECT d.id, e.id, r.id, e.route, d.target, d.attempts, d.error, d.created_at, d.delivered_at, d.due_at, d.state,
            t.answer
     FROM unnest($1) WITH ORDINALITY AS n (seq, place) JOIN deliveries d ON d.seq = n.seq
     JOIN events e ON e.seq = d.event_seq
     LEFT JOIN runs r ON r.seq = d.run_seq LEFT JOIN run_texts t ON t.run_seq = d.run_seq ORDER BY n.place";

async fn load(tx: &Tx, seqs: &[i64]) -> Result<Vec<Delivery>, Failure> {
    let mut deliveries = Vec::new();
    for row in tx.query(LOAD, &[Value::numbers(seqs.iter().copied())]).await? {
        deliveries.push(Delivery {
            id: row.get(0),
            event_id: row.get(1),
            run_id: row.get(2),
            route: row.get(3),
            target: row.get(4),
            state: parse(row.get(10))?,
            attempts: count(row.get(5)),
            error: row.get(6),
            content: blob::unpack_text(row.get(11))?,
            created_at: row.get(7),
            delivered_at: row.get(8),
            due_at: row.get(9),
        });
    }
    Ok(deliveries)
}
