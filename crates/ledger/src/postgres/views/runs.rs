//! Runs and their texts.

use rules::states::RunState;

use super::{pages, parse};
use crate::api::views::listed;
use crate::postgres::{Failure, Tx, Value, count};
use crate::sqlite::blob;
use crate::{Error, Page, Run, RunQuery};

pub(in crate::postgres) async fn run(tx: &Tx, id: &str) -> Result<Run, Failure> {
    let missing = || Failure::Told(Error::NotFound { kind: "run", id: id.to_owned() });
    let row = tx.optional("SELECT seq FROM runs WHERE id = $1", &[id.into()]).await?;
    let seq = row.ok_or_else(missing)?.get(0);
    load(tx, &[seq]).await?.pop().ok_or_else(missing)
}

/// Runs of an event.
pub(in crate::postgres) const BY_EVENT: &str = "SELECT r.seq FROM runs r
     WHERE r.event_seq = (SELECT seq FROM events WHERE id = $1) AND r.seq < $2
       AND ($3 IS NULL OR r.route = $3) AND ($4 IS NULL OR r.state = $4) ORDER BY r.seq DESC LIMIT $5";

/// All runs.
pub(in crate::postgres) const ALL: &str = "SELECT seq FROM runs WHERE seq < $1 ORDER BY seq DESC LIMIT $2";

/// Runs of a route, or of all, in some states.
pub(in crate::postgres) fn by_states(with_route: bool, states: &[&str]) -> String {
    pages::by_states("runs", with_route, "", states)
}

pub(in crate::postgres) async fn runs(tx: &Tx, query: &RunQuery) -> Result<Page<Run>, Failure> {
    let page = pages::place(query.cursor.as_deref(), query.limit)?;
    let (before, rows) = (page.before, page.rows());
    let state = query.state.map(RunState::as_str);
    let rows = if let Some(event_id) = &query.event_id {
        let values = [event_id.into(), before.into(), (&query.route).into(), state.into(), rows.into()];
        tx.query(BY_EVENT, &values).await?
    } else if query.route.is_some() || state.is_some() {
        let states: Vec<&str> = match state {
            Some(state) => vec![state],
            None => RunState::ALL.iter().map(|s| s.as_str()).collect(),
        };
        let values = [(&query.route).into(), before.into(), 0_i64.into(), rows.into()];
        tx.query(&by_states(query.route.is_some(), &states), &values).await?
    } else {
        tx.query(ALL, &[before.into(), rows.into()]).await?
    };
    let (seqs, next) = pages::cut(&rows, page.limit);
    let shortened =
        |run: Run| Run { prompt: listed(run.prompt), answer: listed(run.answer), stderr: listed(run.stderr), ..run };
    Ok(Page { items: load(tx, &seqs).await?.into_iter().map(shortened).collect(), next })
}

/// Runs by their numbers, in the order given.
pub(in crate::postgres) const LOAD: &str =
    "SELECT r.id, e.id, r.route, r.agent, r.attempt, r.started_at, r.finished_at, r.exit_code, r.error, r.session_id,
            r.state, r.cost_usd, r.usage, t.prompt, t.answer, t.stderr
     FROM unnest($1) WITH ORDINALITY AS n (seq, place) JOIN runs r ON r.seq = n.seq
     JOIN events e ON e.seq = r.event_seq LEFT JOIN run_texts t ON t.run_seq = r.seq ORDER BY n.place";

async fn load(tx: &Tx, seqs: &[i64]) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for row in tx.query(LOAD, &[Value::numbers(seqs.iter().copied())]).await? {
        runs.push(Run {
            id: row.get(0),
            event_id: row.get(1),
            route: row.get(2),
            agent: row.get(3),
            attempt: count(row.get(4)),
            state: parse(row.get(10))?,
            started_at: row.get(5),
            finished_at: row.get(6),
            exit_code: row.get(7),
            error: row.get(8),
            prompt: blob::unpack_text(row.get(13))?,
            answer: blob::unpack_text(row.get(14))?,
            stderr: blob::unpack_text(row.get(15))?,
            session_id: row.get(9),
            cost_usd: row.get::<_, Option<&str>>(11).and_then(|text| serde_json::from_str(text).ok()),
            usage: row.get::<_, Option<&str>>(12).and_then(|text| serde_json::from_str(text).ok()),
        });
    }
    Ok(runs)
}
