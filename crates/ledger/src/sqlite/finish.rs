//! The end of a run: outcome, answer, what becomes of the event, and the deliveries, in one step.

use rules::states::EventState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{blob, failed, lines};
use crate::{Error, FinishRun, Finished, NewDelivery};

/// A run's texts, packed before they reach the writer.
pub(super) struct Texts {
    answer: Option<Vec<u8>>,
    stderr: Vec<u8>,
}

impl Texts {
    pub(super) fn new(finish: &FinishRun) -> Texts {
        Texts {
            answer: finish.record.answer.as_deref().map(blob::pack_text),
            stderr: blob::pack_text(&finish.record.stderr),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.answer.as_ref().map_or(0, Vec::len) + self.stderr.len()
    }
}

/// The event that a run belongs to.
struct Owner {
    run: i64,
    event: i64,
    route: String,
    line: Option<String>,
}

pub(super) fn finish_run(connection: &Connection, finish: &FinishRun, texts: &Texts) -> Result<Finished, Error> {
    finish.check()?;
    let Some(owner) = owner(connection, finish)? else { return Ok(Finished::Fenced) };
    end_run(connection, finish, texts, owner.run)?;
    points::reach("finish_run.texts");
    move_event(connection, finish, &owner)?;
    for delivery in &finish.deliveries {
        insert_delivery(connection, delivery, owner.event, owner.run)?;
        points::reach("finish_run.delivery");
    }
    Ok(Finished::Written)
}

/// The run's rows, when this life may still write them: the run is in flight, and no later life has begun.
fn owner(connection: &Connection, finish: &FinishRun) -> Result<Option<Owner>, Error> {
    connection
        .prepare_cached(
            "SELECT r.seq, e.seq, e.route, e.line FROM runs r JOIN events e ON e.seq = r.event_seq
             WHERE r.id = ?1 AND r.state = 'running' AND r.attempt = ?2 AND r.boot <= ?3 AND e.state = 'running'
               AND ?3 = (SELECT value FROM meta WHERE name = 'boot')",
        )
        .and_then(|mut s| {
            s.query_row(params![finish.run_id, finish.attempt, finish.boot], |row| {
                Ok(Owner { run: row.get(0)?, event: row.get(1)?, route: row.get(2)?, line: row.get(3)? })
            })
            .optional()
        })
        .map_err(failed)
}

fn end_run(connection: &Connection, finish: &FinishRun, texts: &Texts, run: i64) -> Result<(), Error> {
    let record = &finish.record;
    connection
        .prepare_cached(
            "UPDATE runs SET state = ?2, finished_at = ?3, exit_code = ?4, error = ?5, session_id = ?6, cost_usd = ?7,
                             usage = ?8 WHERE seq = ?1",
        )
        .and_then(|mut s| {
            s.execute(params![
                run,
                finish.state.as_str(),
                finish.ended_at,
                record.exit_code,
                record.error,
                record.session_id,
                record.cost_usd.as_ref().map(ToString::to_string),
                record.usage.as_ref().map(ToString::to_string),
            ])
        })
        .map_err(failed)?;
    points::reach("finish_run.run");
    connection
        .prepare_cached(
            "INSERT INTO run_texts (run_seq, answer, stderr) VALUES (?1, ?2, ?3)
             ON CONFLICT (run_seq) DO UPDATE SET answer = excluded.answer, stderr = excluded.stderr",
        )
        .and_then(|mut s| s.execute(params![run, texts.answer, texts.stderr]))
        .map(drop)
        .map_err(failed)
}

fn move_event(connection: &Connection, finish: &FinishRun, owner: &Owner) -> Result<(), Error> {
    let next = &finish.next;
    let due_at = next.due_at.filter(|_| !next.state.is_finished());
    let (state, reason) = match (next.state, lines::obstacle(connection, &owner.route)?) {
        (EventState::Queued, obstacle @ Some(_)) => lines::waiting(obstacle),
        (EventState::Failed, missing @ Some(lines::Obstacle::Missing)) if due_at.is_some() => lines::waiting(missing),
        (state, _) => (state, next.reason.as_deref()),
    };
    connection
        .prepare_cached(
            "UPDATE events SET state = ?2, reason = ?3, due_at = ?4, retries_spent = ?5, interruptions = ?6,
                               later_since = ?7, finished_at = ?8 WHERE seq = ?1",
        )
        .and_then(|mut s| {
            s.execute(params![
                owner.event,
                state.as_str(),
                reason,
                due_at,
                next.standing.retries_spent,
                next.standing.interruptions,
                next.standing.later_since,
                state.is_finished().then_some(finish.ended_at),
            ])
        })
        .map_err(failed)?;
    points::reach("finish_run.event");
    match &owner.line {
        Some(line) => lines::refresh(connection, &owner.route, line),
        None if state == EventState::Queued && due_at.is_none() => {
            lines::enter(connection, owner.event, &owner.route, None)
        }
        None => Ok(()),
    }
}

fn insert_delivery(connection: &Connection, delivery: &NewDelivery, event: i64, run: i64) -> Result<(), Error> {
    let waits = delivery.state == rules::states::DeliveryState::Pending;
    let extra = serde_json::to_string(&delivery.extra)
        .map_err(|e| Error::Unavailable(format!("values of a delivery cannot be stored: {e}")))?;
    connection
        .prepare_cached(
            "INSERT INTO deliveries (id, event_seq, run_seq, target, state, error, extra, due_at, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut s| {
            s.execute(params![
                delivery.id,
                event,
                run,
                delivery.target,
                delivery.state.as_str(),
                delivery.error,
                extra,
                waits.then_some(delivery.created_at),
                delivery.created_at,
            ])
        })
        .map(drop)
        .map_err(failed)
}
