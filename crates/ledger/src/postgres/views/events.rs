//! Events and their requests.

use rules::states::EventState;

use super::{pages, parse};
use crate::postgres::{Failure, Tx, Value, count};
use crate::sqlite::blob;
use crate::{Error, Event, EventQuery, Millis, Page, StoredRequest};

fn missing(id: &str) -> Failure {
    Failure::Told(Error::NotFound { kind: "event", id: id.to_owned() })
}

pub(in crate::postgres) async fn event(tx: &Tx, id: &str) -> Result<Event, Failure> {
    let row = tx.optional("SELECT seq FROM events WHERE id = $1", &[id.into()]).await?;
    let seq = row.ok_or_else(|| missing(id))?.get(0);
    load(tx, &[seq]).await?.pop().ok_or_else(|| missing(id))
}

pub(in crate::postgres) async fn request(tx: &Tx, event_id: &str) -> Result<StoredRequest, Failure> {
    let row = tx
        .optional(
            "SELECT r.headers, r.codec::bigint, r.body FROM requests r JOIN events e ON e.seq = r.event_seq WHERE e.id = $1",
            &[event_id.into()],
        )
        .await?
        .ok_or_else(|| missing(event_id))?;
    let headers = serde_json::from_str(row.get(0))
        .map_err(|e| Failure::Told(Error::Unavailable(format!("stored headers of {event_id} cannot be read: {e}"))))?;
    let codec = u8::try_from(row.get::<_, i64>(1)).unwrap_or(u8::MAX);
    Ok(StoredRequest { headers, body: blob::unpack(codec, row.get(2))? })
}

/// Events with one delivery id.
pub(in crate::postgres) const BY_DELIVERY_ID: &str = "SELECT seq FROM events
     WHERE hashtextextended(delivery_id, 0) = hashtextextended($1, 0) AND delivery_id = $1 AND seq < $2 AND seq >= $3
       AND received_at >= $4 AND ($5 IS NULL OR route = $5) AND ($6 IS NULL OR state = $6)
     ORDER BY seq DESC LIMIT $7";

/// All events.
pub(in crate::postgres) const ALL: &str =
    "SELECT seq FROM events WHERE seq < $1 AND seq >= $2 AND received_at >= $3 ORDER BY seq DESC LIMIT $4";

/// Events of a route, or of all, in some states.
pub(in crate::postgres) fn by_states(with_route: bool, states: &[&str]) -> String {
    pages::by_states("events", with_route, "received_at >= $5 AND", states)
}

pub(in crate::postgres) async fn events(tx: &Tx, query: &EventQuery) -> Result<Page<Event>, Failure> {
    let page = pages::place(query.cursor.as_deref(), query.limit)?;
    let since = query.since.unwrap_or(Millis::MIN);
    let from: i64 = match query.since {
        Some(since) => {
            let since = since.saturating_sub(pages::DISORDER);
            tx.one("SELECT first_since($1)", &[since.into()]).await?.get(0)
        }
        None => 0,
    };
    let state = query.state.map(EventState::as_str);
    let (before, rows) = (page.before, page.rows());
    let rows = if let Some(delivery_id) = &query.delivery_id {
        let values = [
            delivery_id.into(),
            before.into(),
            from.into(),
            since.into(),
            (&query.route).into(),
            state.into(),
            rows.into(),
        ];
        tx.query(BY_DELIVERY_ID, &values).await?
    } else if query.route.is_some() || state.is_some() {
        let states: Vec<&str> = match state {
            Some(state) => vec![state],
            None => EventState::ALL.iter().map(|s| s.as_str()).collect(),
        };
        let values = [(&query.route).into(), before.into(), from.into(), rows.into(), since.into()];
        tx.query(&by_states(query.route.is_some(), &states), &values).await?
    } else {
        tx.query(ALL, &[before.into(), from.into(), since.into(), rows.into()]).await?
    };
    let (seqs, next) = pages::cut(&rows, page.limit);
    Ok(Page { items: load(tx, &seqs).await?, next })
}

/// Events by their numbers, in the order given.
pub(in crate::postgres) const LOAD: &str =
    "SELECT e.id, e.route, e.source, e.event_type, e.delivery_id, e.reason, greatest(e.attempt, 1), e.hop, e.line,
            e.received_at, e.finished_at, e.due_at, e.superseded_by, e.state,
            ARRAY (SELECT r.id FROM runs r WHERE r.event_seq = e.seq ORDER BY r.seq),
            ARRAY (SELECT d.id FROM deliveries d WHERE d.event_seq = e.seq ORDER BY d.seq)
     FROM unnest($1) WITH ORDINALITY AS t (seq, place) JOIN events e ON e.seq = t.seq ORDER BY t.place";

async fn load(tx: &Tx, seqs: &[i64]) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    for row in tx.query(LOAD, &[Value::numbers(seqs.iter().copied())]).await? {
        events.push(Event {
            id: row.get(0),
            route: row.get(1),
            source: row.get(2),
            event: row.get(3),
            delivery_id: row.get(4),
            state: parse(row.get(13))?,
            reason: row.get(5),
            attempt: count(row.get(6)),
            hop: count(row.get(7)),
            session: row.get(8),
            received_at: row.get(9),
            finished_at: row.get(10),
            due_at: row.get(11),
            superseded_by: row.get(12),
            runs: row.get(14),
            deliveries: row.get(15),
        });
    }
    Ok(events)
}
