//! What people do to single events and deliveries, and what time does to old ones.

use rules::states::{DeliveryState, EventState};

use super::views::parse;
use super::{Failure, Tx, Value, lines, nodes};
use crate::{Error, Key, Millis};

struct Found {
    seq: i64,
    route: String,
    line: Option<String>,
    key: Option<String>,
    state: EventState,
}

/// The event with its line locked, then its row.
async fn find(tx: &Tx, id: &str) -> Result<Found, Failure> {
    let missing = || Failure::Told(Error::NotFound { kind: "event", id: id.to_owned() });
    let row = tx.optional("SELECT route, line FROM events WHERE id = $1", &[id.into()]).await?.ok_or_else(missing)?;
    lines::lock(tx, row.get(0), row.get(1)).await?;
    let row = tx
        .optional("SELECT seq, route, line, key, state FROM events WHERE id = $1 FOR UPDATE", &[id.into()])
        .await?
        .ok_or_else(missing)?;
    let state = parse(row.get(4))?;
    Ok(Found { seq: row.get(0), route: row.get(1), line: row.get(2), key: row.get(3), state })
}

fn conflict(text: String) -> Failure {
    Failure::Told(Error::Conflict(text))
}

pub(super) async fn cancel_event(tx: &Tx, id: &str, reason: &str, now: Millis) -> Result<(), Failure> {
    let event = find(tx, id).await?;
    if event.state == EventState::Running {
        return Err(conflict(format!("{id} is running; stop its run instead")));
    }
    if !event.state.may_be_cancelled() {
        return Err(conflict(format!("{id} has already ended: {}", event.state)));
    }
    tx.execute(
        "UPDATE events SET state = 'cancelled', reason = $2, ready = false, due_at = NULL, finished_at = $3 WHERE seq = $1",
        &[event.seq.into(), reason.into(), now.into()],
    )
    .await?;
    match &event.line {
        Some(line) => lines::refresh(tx, &[(&event.route, line)]).await,
        None => Ok(()),
    }
}

pub(super) async fn retry_event(tx: &Tx, id: &str) -> Result<(), Failure> {
    let event = find(tx, id).await?;
    if !event.state.may_be_retried() {
        return Err(conflict(format!(
            "{id} is {}; only what failed, is exhausted or was cancelled can be retried",
            event.state
        )));
    }
    if let Some(key) = &event.key {
        take_back(tx, &event, key).await?;
    }
    let (state, reason) = lines::waiting(lines::obstacle(tx, &event.route).await?);
    tx.execute(
        "UPDATE events SET state = $2, reason = $3, due_at = NULL, finished_at = NULL, retries_spent = 0,
                           interruptions = 0, later_since = NULL WHERE seq = $1",
        &[event.seq.into(), state.as_str().into(), reason.into()],
    )
    .await?;
    match state {
        EventState::Queued => lines::enter(tx, event.seq, &event.route, event.line.as_deref()).await,
        _ => Ok(()),
    }
}

/// Who holds a key.
pub(super) const HOLDER: &str = "SELECT e.id, e.state FROM keys k JOIN events e ON e.seq = k.event_seq WHERE k.route = $1 AND k.key = $2 AND e.seq <> $3";

/// Gives the event its key again, unless another one does its work or has done it.
async fn take_back(tx: &Tx, event: &Found, key: &str) -> Result<(), Failure> {
    let route: &str = &event.route;
    tx.query("SELECT pg_advisory_xact_lock(lock_of('key', $1, $2))", &[route.into(), key.into()]).await?;
    if let Some(row) = tx.optional(HOLDER, &[route.into(), key.into(), event.seq.into()]).await? {
        Key::may_return_from(row.get(0), parse(row.get(1))?)?;
    }
    tx.execute(
        "INSERT INTO keys VALUES ($1, $2, $3) ON CONFLICT (route, key) DO UPDATE SET event_seq = excluded.event_seq",
        &[route.into(), key.into(), event.seq.into()],
    )
    .await?;
    Ok(())
}

pub(super) async fn retry_delivery(tx: &Tx, id: &str, now: Millis) -> Result<(), Failure> {
    let row = tx
        .optional("SELECT state FROM deliveries WHERE id = $1 FOR UPDATE", &[id.into()])
        .await?
        .ok_or_else(|| Failure::Told(Error::NotFound { kind: "delivery", id: id.to_owned() }))?;
    let state: DeliveryState = parse(row.get(0))?;
    if !state.may_be_retried() {
        return Err(conflict(format!(
            "{id} is {state}; only what failed, is exhausted or of unknown outcome can be sent again"
        )));
    }
    tx.execute(
        "UPDATE deliveries SET state = 'pending', error = NULL, spent = 0, due_at = $2 WHERE id = $1",
        &[id.into(), now.into()],
    )
    .await?;
    Ok(())
}

/// Events that ended in a state, the longest ended first, without those whose deliveries are still to be sent and without
/// those that somebody is at.
pub(super) const OLD: &str = "SELECT e.seq FROM events e
     WHERE e.state = $1 AND e.finished_at IS NOT NULL AND e.finished_at < $2 AND NOT EXISTS (
         SELECT 1 FROM deliveries d WHERE d.event_seq = e.seq AND d.state IN ('pending', 'sending', 'failed'))
     ORDER BY e.finished_at, e.seq LIMIT $3 FOR UPDATE OF e SKIP LOCKED";

pub(super) async fn prune(tx: &Tx, state: EventState, before: Millis, limit: u32) -> Result<u32, Failure> {
    let old = tx.query(OLD, &[state.as_str().into(), before.into(), limit.into()]).await?;
    let old: Vec<i64> = old.iter().map(|row| row.get(0)).collect();
    remove(tx, &old).await?;
    nodes::fold_counters(tx).await?;
    Ok(u32::try_from(old.len()).unwrap_or(u32::MAX))
}

/// What hangs on events, and the events themselves last.
pub(super) const REMOVE: [&str; 6] = [
    "DELETE FROM run_texts WHERE run_seq IN (SELECT seq FROM runs WHERE event_seq = ANY ($1))",
    "DELETE FROM runs WHERE event_seq = ANY ($1)",
    "DELETE FROM deliveries WHERE event_seq = ANY ($1)",
    "DELETE FROM keys WHERE event_seq = ANY ($1)",
    "DELETE FROM requests WHERE event_seq = ANY ($1)",
    "DELETE FROM events WHERE seq = ANY ($1)",
];

/// Removes events with all that hangs on them.
pub(super) async fn remove(tx: &Tx, seqs: &[i64]) -> Result<(), Failure> {
    if seqs.is_empty() {
        return Ok(());
    }
    for sql in REMOVE {
        tx.execute(sql, &[Value::numbers(seqs.iter().copied())]).await?;
    }
    Ok(())
}
