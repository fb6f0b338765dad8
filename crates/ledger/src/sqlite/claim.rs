//! Claiming: the best ready event of all routes with room.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use rules::run_end::Standing;
use rules::states::EventState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{failed, lines};
use crate::{ClaimRuns, ClaimedRun, Error, Millis};

/// Events that one claim makes ready; what is due beyond these is taken by the next claim.
const DUE_AT_ONCE: u32 = 256;

/// What has become due by now.
pub(super) const DUE: &str = "SELECT seq, route, line FROM events INDEXED BY events_due
     WHERE due_at IS NOT NULL AND due_at <= ?1 ORDER BY due_at LIMIT ?2";

/// The ready event of a route that runs first.
pub(super) const HEAD: &str = "SELECT seq, priority FROM events INDEXED BY events_ready
     WHERE route = ?1 AND ready = 1 ORDER BY priority DESC, seq LIMIT 1";

/// The best event of a route.
struct Head {
    seq: i64,
    priority: i64,
}

pub(super) fn claim_runs(connection: &Connection, claim: &ClaimRuns) -> Result<Vec<ClaimedRun>, Error> {
    promote_due(connection, claim.now)?;
    let mut agents: HashMap<&str, u32> = claim.agents.iter().map(|a| (a.agent.as_str(), a.room)).collect();
    let mut routes = Vec::new();
    // A route that is named twice must not offer its head twice.
    let mut named = HashSet::new();
    for route in claim.routes.iter().filter(|r| named.insert(r.route.as_str()) && r.room > 0) {
        routes.push((route, route.room, head(connection, &route.route)?));
    }
    let mut claimed = Vec::new();
    for run_id in &claim.run_ids {
        let best = routes
            .iter_mut()
            .filter(|(route, room, _)| *room > 0 && agents.get(route.agent.as_str()).is_some_and(|room| *room > 0))
            .filter_map(|entry| entry.2.as_ref().map(|h| (Reverse(h.priority), h.seq)).map(|order| (order, entry)))
            .min_by_key(|(order, _)| *order)
            .map(|(_, entry)| entry);
        let Some((route, room, next)) = best else { break };
        let Some(taken) = next.take() else { break };
        claimed.push(start(connection, claim, run_id, &route.agent, taken.seq)?);
        *room -= 1;
        if let Some(room) = agents.get_mut(route.agent.as_str()) {
            *room -= 1;
        }
        *next = head(connection, &route.route)?;
    }
    Ok(claimed)
}

/// What has become due leaves its wait: to the queue, or to `held` when its route has an obstacle by now.
fn promote_due(connection: &Connection, now: Millis) -> Result<(), Error> {
    let due: Vec<(i64, String, Option<String>)> = connection
        .prepare_cached(DUE)
        .and_then(|mut s| {
            s.query_map(params![now, DUE_AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
        })
        .map_err(failed)?;
    for (seq, route, line) in due {
        let (state, reason) = lines::waiting(lines::obstacle(connection, &route)?);
        connection
            .prepare_cached("UPDATE events SET state = ?2, reason = ?3, due_at = NULL WHERE seq = ?1")
            .and_then(|mut s| s.execute(params![seq, state.as_str(), reason]))
            .map_err(failed)?;
        points::reach("claim_runs.promoted");
        if state == EventState::Queued {
            lines::enter(connection, seq, &route, line.as_deref())?;
        }
    }
    Ok(())
}

fn head(connection: &Connection, route: &str) -> Result<Option<Head>, Error> {
    connection
        .prepare_cached(HEAD)
        .and_then(|mut s| s.query_row([route], |row| Ok(Head { seq: row.get(0)?, priority: row.get(1)? })).optional())
        .map_err(failed)
}

fn start(connection: &Connection, claim: &ClaimRuns, run_id: &str, agent: &str, seq: i64) -> Result<ClaimedRun, Error> {
    connection
        .prepare_cached(
            "UPDATE events SET state = 'running', reason = NULL, ready = 0, attempt = attempt + 1 WHERE seq = ?1",
        )
        .and_then(|mut s| s.execute([seq]))
        .map_err(failed)?;
    points::reach("claim_runs.event");
    let run = connection
        .prepare_cached(
            "SELECT id, route, event_type, delivery_id, attempt, hop, retries_spent, interruptions, later_since
             FROM events WHERE seq = ?1",
        )
        .and_then(|mut s| {
            s.query_row([seq], |row| {
                Ok(ClaimedRun {
                    run_id: run_id.to_owned(),
                    agent: agent.to_owned(),
                    event_id: row.get(0)?,
                    route: row.get(1)?,
                    event_type: row.get(2)?,
                    delivery_id: row.get(3)?,
                    attempt: row.get(4)?,
                    hop: row.get(5)?,
                    standing: Standing {
                        retries_spent: row.get(6)?,
                        interruptions: row.get(7)?,
                        later_since: row.get(8)?,
                    },
                })
            })
        })
        .map_err(failed)?;
    connection
        .prepare_cached(
            "INSERT INTO runs (id, event_seq, route, agent, attempt, boot, state, started_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running', ?7)",
        )
        .and_then(|mut s| s.execute(params![run_id, seq, run.route, agent, run.attempt, claim.boot, claim.now]))
        .map_err(failed)?;
    points::reach("claim_runs.run");
    Ok(run)
}

pub(super) fn record_prompt(connection: &Connection, run_id: &str, boot: i64, prompt: &[u8]) -> Result<bool, Error> {
    let rows = connection
        .prepare_cached(
            "INSERT INTO run_texts (run_seq, prompt)
             SELECT seq, ?3 FROM runs WHERE id = ?1 AND boot = ?2 AND state = 'running'
             ON CONFLICT (run_seq) DO UPDATE SET prompt = excluded.prompt",
        )
        .and_then(|mut s| s.execute(params![run_id, boot, prompt]))
        .map_err(failed)?;
    points::reach("record_prompt.written");
    Ok(rows > 0)
}
