//! Runs and their texts.

use rules::states::RunState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{pages, parse};
use crate::api::views::listed;
use crate::sqlite::{blob, failed};
use crate::{Error, Page, Run, RunQuery};

pub(in crate::sqlite) fn run(connection: &Connection, id: &str) -> Result<Run, Error> {
    let seq = connection
        .prepare_cached("SELECT seq FROM runs WHERE id = ?1")
        .and_then(|mut s| s.query_row([id], |row| row.get(0)).optional())
        .map_err(failed)?
        .ok_or_else(|| Error::NotFound { kind: "run", id: id.to_owned() })?;
    load(connection, seq)
}

/// Runs of an event.
pub(in crate::sqlite) const BY_EVENT: &str = "SELECT r.seq FROM runs r INDEXED BY runs_by_event
     WHERE r.event_seq = (SELECT seq FROM events WHERE id = ?1) AND r.seq < ?2
       AND (?3 IS NULL OR r.route = ?3) AND (?4 IS NULL OR r.state = ?4) ORDER BY r.seq DESC LIMIT ?5";

/// All runs.
pub(in crate::sqlite) const ALL: &str = "SELECT seq FROM runs WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";

/// Runs of a route, or of all, in some states.
pub(in crate::sqlite) fn by_states(with_route: bool, states: &[&str]) -> String {
    let index = if with_route { "runs_by_route" } else { "runs_by_state" };
    pages::by_states("runs", index, with_route, "", states)
}

pub(in crate::sqlite) fn runs(connection: &Connection, query: &RunQuery) -> Result<Page<Run>, Error> {
    let page = pages::place(query.cursor.as_deref(), query.limit)?;
    let rows = i64::from(page.limit) + 1;
    let state = query.state.map(RunState::as_str);
    let mut seqs: Vec<i64> = if let Some(event_id) = &query.event_id {
        connection.prepare_cached(BY_EVENT).and_then(|mut s| {
            s.query_map(params![event_id, page.before, query.route, state, rows], |row| row.get(0))?.collect()
        })
    } else if query.route.is_some() || state.is_some() {
        let states: Vec<&str> = match state {
            Some(state) => vec![state],
            None => RunState::ALL.iter().map(|s| s.as_str()).collect(),
        };
        connection
            .prepare_cached(&by_states(query.route.is_some(), &states))
            .and_then(|mut s| s.query_map(params![query.route, page.before, 0, rows], |row| row.get(0))?.collect())
    } else {
        connection
            .prepare_cached(ALL)
            .and_then(|mut s| s.query_map(params![page.before, rows], |row| row.get(0))?.collect())
    }
    .map_err(failed)?;
    let next = pages::cut(&mut seqs, page.limit);
    let mut items = Vec::new();
    for seq in seqs {
        let run = load(connection, seq)?;
        items.push(Run { prompt: listed(run.prompt), answer: listed(run.answer), stderr: listed(run.stderr), ..run });
    }
    Ok(Page { items, next })
}

fn load(connection: &Connection, seq: i64) -> Result<Run, Error> {
    type Text = Option<Vec<u8>>;
    let (mut run, state, cost, usage, texts) = connection
        .prepare_cached(
            "SELECT r.id, e.id, r.route, r.agent, r.attempt, r.started_at, r.finished_at, r.exit_code, r.error, r.session_id,
                    r.state, r.cost_usd, r.usage, t.prompt, t.answer, t.stderr
             FROM runs r JOIN events e ON e.seq = r.event_seq LEFT JOIN run_texts t ON t.run_seq = r.seq WHERE r.seq = ?1",
        )
        .and_then(|mut s| {
            s.query_row([seq], |row| {
                let run = Run {
                    id: row.get(0)?,
                    event_id: row.get(1)?,
                    route: row.get(2)?,
                    agent: row.get(3)?,
                    attempt: row.get(4)?,
                    state: RunState::Running,
                    started_at: row.get(5)?,
                    finished_at: row.get(6)?,
                    exit_code: row.get(7)?,
                    error: row.get(8)?,
                    prompt: None,
                    answer: None,
                    stderr: None,
                    session_id: row.get(9)?,
                    cost_usd: None,
                    usage: None,
                };
                let texts: (Text, Text, Text) = (row.get(13)?, row.get(14)?, row.get(15)?);
                Ok((run, row.get::<_, String>(10)?, row.get::<_, Option<String>>(11)?, row.get::<_, Option<String>>(12)?, texts))
            })
        })
        .map_err(failed)?;
    run.state = parse(&state)?;
    run.cost_usd = cost.and_then(|text| serde_json::from_str(&text).ok());
    run.usage = usage.and_then(|text| serde_json::from_str(&text).ok());
    run.prompt = blob::unpack_text(texts.0)?;
    run.answer = blob::unpack_text(texts.1)?;
    run.stderr = blob::unpack_text(texts.2)?;
    Ok(run)
}
