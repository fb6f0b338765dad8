//! The end of a run: outcome, answer, what becomes of the event, and the deliveries, in one step.

use rules::states::{DeliveryState, EventState};

use super::{Failure, Tx, Value, lines, nodes};
use crate::sqlite::blob;
use crate::{Error, FinishRun, Finished, NewDelivery};

/// A run's texts, packed before their transaction begins.
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
}

/// The event that a run belongs to.
struct Owner {
    run: i64,
    event: i64,
    route: String,
    line: Option<String>,
}

pub(super) async fn finish_run(tx: &Tx, finish: &FinishRun, texts: &Texts) -> Result<Finished, Failure> {
    finish.check()?;
    let Some(owner) = owner(tx, finish).await? else { return Ok(Finished::Fenced) };
    end_run(tx, finish, texts, owner.run).await?;
    insert_deliveries(tx, &finish.deliveries, &owner).await?;
    move_event(tx, finish, &owner).await?;
    Ok(Finished::Written)
}

/// The run's rows, when this boot may write them. The line is locked first, as everywhere, then the run: of two that end
/// it the second one finds it ended.
async fn owner(tx: &Tx, finish: &FinishRun) -> Result<Option<Owner>, Failure> {
    let found = tx
        .optional(
            "SELECT r.seq, e.seq, e.route, e.line FROM runs r JOIN events e ON e.seq = r.event_seq WHERE r.id = $1",
            &[(&finish.run_id).into()],
        )
        .await?;
    let Some(row) = found else { return Ok(None) };
    let owner = Owner { run: row.get(0), event: row.get(1), route: row.get(2), line: row.get(3) };
    lines::lock(tx, &owner.route, owner.line.as_deref()).await?;
    let row = tx
        .optional(
            "SELECT r.boot FROM runs r JOIN events e ON e.seq = r.event_seq
             WHERE r.seq = $1 AND r.state = 'running' AND r.attempt = $2 AND e.state = 'running' FOR UPDATE",
            &[owner.run.into(), finish.attempt.into()],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let boot: i64 = row.get(0);
    let lives: bool = tx.one("SELECT lives($1)", &[finish.boot.into()]).await?.get(0);
    let may_write = lives && (boot == finish.boot || nodes::bury(tx, boot).await?);
    Ok(may_write.then_some(owner))
}

async fn end_run(tx: &Tx, finish: &FinishRun, texts: &Texts, run: i64) -> Result<(), Failure> {
    let record = &finish.record;
    let cost = record.cost_usd.as_ref().map(ToString::to_string);
    let usage = record.usage.as_ref().map(ToString::to_string);
    tx.execute(
        "WITH texts AS (
             INSERT INTO run_texts (run_seq, answer, stderr) VALUES ($1, $9, $10)
             ON CONFLICT (run_seq) DO UPDATE SET answer = excluded.answer, stderr = excluded.stderr
         )
         UPDATE runs SET state = $2, finished_at = $3, exit_code = $4, error = $5, session_id = $6, cost_usd = $7,
                         usage = $8 WHERE seq = $1",
        &[
            run.into(),
            finish.state.as_str().into(),
            finish.ended_at.into(),
            record.exit_code.into(),
            (&record.error).into(),
            (&record.session_id).into(),
            (&cost).into(),
            (&usage).into(),
            texts.answer.as_deref().into(),
            texts.stderr.as_slice().into(),
        ],
    )
    .await?;
    Ok(())
}

async fn move_event(tx: &Tx, finish: &FinishRun, owner: &Owner) -> Result<(), Failure> {
    let next = &finish.next;
    let due_at = next.due_at.filter(|_| !next.state.is_finished());
    let (state, reason) = match (next.state, lines::obstacle(tx, &owner.route).await?) {
        (EventState::Queued, obstacle @ Some(_)) => lines::waiting(obstacle),
        (EventState::Failed, missing @ Some(lines::Obstacle::Missing)) if due_at.is_some() => lines::waiting(missing),
        (state, _) => (state, next.reason.as_deref()),
    };
    let ready = state == EventState::Queued && due_at.is_none() && owner.line.is_none();
    tx.execute(
        "UPDATE events SET state = $2, reason = $3, due_at = $4, retries_spent = $5, interruptions = $6,
                           later_since = $7, finished_at = $8, ready = $9 WHERE seq = $1",
        &[
            owner.event.into(),
            state.as_str().into(),
            reason.into(),
            due_at.into(),
            next.standing.retries_spent.into(),
            next.standing.interruptions.into(),
            next.standing.later_since.into(),
            state.is_finished().then_some(finish.ended_at).into(),
            ready.into(),
        ],
    )
    .await?;
    match &owner.line {
        Some(line) => lines::refresh(tx, &[(&owner.route, line)]).await,
        None => Ok(()),
    }
}

async fn insert_deliveries(tx: &Tx, deliveries: &[NewDelivery], owner: &Owner) -> Result<(), Failure> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let mut extras = Vec::new();
    for delivery in deliveries {
        extras.push(
            serde_json::to_string(&delivery.extra).map_err(|e| {
                Failure::Told(Error::Unavailable(format!("values of a delivery cannot be stored: {e}")))
            })?,
        );
    }
    tx.execute(
        "INSERT INTO deliveries (event_seq, run_seq, id, target, state, error, extra, created_at, due_at)
         SELECT $1, $2, id, target, state, error, extra, created_at, CASE WHEN state = 'pending' THEN created_at END
         FROM unnest($3, $4, $5, $6, $7, $8) WITH ORDINALITY
              AS t (id, target, state, error, extra, created_at, place) ORDER BY place",
        &[
            owner.event.into(),
            owner.run.into(),
            Value::texts(deliveries.iter().map(|d| d.id.as_str())),
            Value::texts(deliveries.iter().map(|d| d.target.as_str())),
            Value::texts(deliveries.iter().map(|d: &NewDelivery| DeliveryState::as_str(d.state))),
            Value::some_texts(deliveries.iter().map(|d| d.error.as_deref())),
            Value::texts(extras.iter().map(String::as_str)),
            Value::numbers(deliveries.iter().map(|d| d.created_at)),
        ],
    )
    .await?;
    Ok(())
}
