//! Claiming: the best ready event of all routes with room.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rules::run_end::Standing;
use rules::states::EventState;
use tokio_postgres::Row;

use super::{Failure, Tx, Value, count, lines, nodes};
use crate::{Boot, ClaimRuns, ClaimedRun, Millis};

/// Events that one claim makes ready; what is due beyond these is taken by the next claim.
const DUE_AT_ONCE: u32 = 256;

/// What has become due by now, without what others are changing.
pub(super) const DUE: &str = "SELECT seq, route, line FROM events
     WHERE due_at IS NOT NULL AND due_at <= $1
       AND (line IS NULL OR pg_try_advisory_xact_lock(lock_of('line', route, line)))
     ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED";

/// The ready event that runs first, of several routes, without those that others are taking.
pub(super) const HEAD: &str = "SELECT t.route, h.seq FROM unnest($1) AS t (route) CROSS JOIN LATERAL (
         SELECT seq, priority FROM events WHERE route = t.route AND ready AND seq <> ALL ($2)
         ORDER BY priority DESC, seq LIMIT 1) AS h
     ORDER BY h.priority DESC, h.seq LIMIT 1";

/// Takes an event, unless somebody else does or is changing its line.
pub(super) const TAKE: &str = "WITH mine AS (
         SELECT seq FROM events
         WHERE seq = $1 AND ready AND (line IS NULL OR pg_try_advisory_xact_lock(lock_of('line', route, line)))
         FOR UPDATE SKIP LOCKED
     ), taken AS (
         UPDATE events e SET state = 'running', reason = NULL, ready = false, attempt = attempt + 1
         FROM mine WHERE e.seq = mine.seq RETURNING e.*
     ), run AS (
         INSERT INTO runs (id, event_seq, route, agent, attempt, boot, state, started_at)
         SELECT $2, seq, route, $3, attempt, $4, 'running', $5 FROM taken
     )
     SELECT id, route, event_type, delivery_id, attempt, hop, retries_spent, interruptions, later_since FROM taken";

/// Runs of agents in flight on all nodes.
pub(super) const IN_FLIGHT: &str =
    "SELECT t.agent, (SELECT count(*) FROM runs r WHERE r.agent = t.agent AND r.state = 'running')
     FROM unnest($1) AS t (agent)";

pub(super) async fn claim_runs(tx: &Tx, claim: &ClaimRuns) -> Result<Vec<ClaimedRun>, Failure> {
    if !nodes::stays(tx, claim.boot).await? {
        return Ok(Vec::new());
    }
    let mut agents = rooms(tx, claim).await?;
    promote_due(tx, claim.now).await?;
    // Of a route that is named twice the first counts.
    let mut routes: BTreeMap<&str, (&str, u32)> =
        claim.routes.iter().rev().map(|r| (r.route.as_str(), (r.agent.as_str(), r.room))).collect();
    let mut skipped: Vec<i64> = Vec::new();
    let mut claimed = Vec::new();
    let mut run_ids = claim.run_ids.iter();
    let mut next_id = run_ids.next();
    while let Some(run_id) = next_id {
        routes.retain(|_, (agent, room)| *room > 0 && agents.get(agent).is_some_and(|room| *room > 0));
        if routes.is_empty() {
            break;
        }
        let values = [Value::texts(routes.keys().copied()), Value::numbers(skipped.iter().copied())];
        let Some(head) = tx.optional(HEAD, &values).await? else { break };
        let (route, seq): (&str, i64) = (head.get(0), head.get(1));
        let Some((agent, room)) = routes.get_mut(route) else { break };
        let values = [seq.into(), run_id.into(), (*agent).into(), claim.boot.into(), claim.now.into()];
        let Some(taken) = tx.optional(TAKE, &values).await? else {
            skipped.push(seq);
            continue;
        };
        claimed.push(started(run_id, agent, &taken));
        *room -= 1;
        if let Some(room) = agents.get_mut(agent) {
            *room -= 1;
        }
        next_id = run_ids.next();
    }
    Ok(claimed)
}

/// The room of each agent, within what it may have in flight on all nodes. Whoever has such a limit is judged by one at a
/// time.
async fn rooms<'a>(tx: &Tx, claim: &'a ClaimRuns) -> Result<HashMap<&'a str, u32>, Failure> {
    let limits: BTreeMap<&str, u32> =
        claim.agents.iter().filter_map(|a| Some((a.agent.as_str(), a.cluster_limit?))).collect();
    let mut within: HashMap<String, u32> = HashMap::new();
    if !limits.is_empty() {
        let names = || [Value::texts(limits.keys().copied())];
        let lock = "SELECT pg_advisory_xact_lock(number) FROM (
             SELECT lock_of('agent', agent, '') AS number FROM unnest($1) AS t (agent) ORDER BY 1 OFFSET 0) AS locks";
        tx.query(lock, &names()).await?;
        for row in tx.query(IN_FLIGHT, &names()).await? {
            let (agent, busy): (&str, i64) = (row.get(0), row.get(1));
            within.insert(agent.to_owned(), limits.get(agent).map_or(0, |limit| limit.saturating_sub(count(busy))));
        }
    }
    let room = |a: &crate::AgentRoom| a.room.min(within.get(&a.agent).copied().unwrap_or(u32::MAX));
    Ok(claim.agents.iter().map(|a| (a.agent.as_str(), room(a))).collect())
}

/// What has become due leaves its wait: to the queue, or to `held` when its route has an obstacle by now.
async fn promote_due(tx: &Tx, now: Millis) -> Result<(), Failure> {
    let due = tx.query(DUE, &[now.into(), DUE_AT_ONCE.into()]).await?;
    if due.is_empty() {
        return Ok(());
    }
    let routes: BTreeSet<&str> = due.iter().map(|row| row.get(1)).collect();
    let routes: Vec<&str> = routes.into_iter().collect();
    let places = lines::obstacles(tx, &routes).await?.into_iter().map(lines::waiting);
    let places: HashMap<&str, _> = routes.iter().copied().zip(places).collect();
    let of = |row: &Row| places.get(row.get::<_, &str>(1)).copied().unwrap_or((EventState::Queued, None));
    let values = [
        Value::numbers(due.iter().map(|row| row.get(0))),
        Value::texts(due.iter().map(|row| of(row).0.as_str())),
        Value::some_texts(due.iter().map(|row| of(row).1)),
    ];
    tx.execute(
        "UPDATE events e SET state = t.state, reason = t.reason, due_at = NULL,
                             ready = t.state = 'queued' AND e.line IS NULL
         FROM unnest($1, $2, $3) AS t (seq, state, reason) WHERE e.seq = t.seq",
        &values,
    )
    .await?;
    let queued = due.iter().filter(|row| of(row).0 == EventState::Queued);
    let heads: Vec<(&str, &str)> =
        queued.filter_map(|row| Some((row.get(1), row.get::<_, Option<&str>>(2)?))).collect();
    lines::refresh(tx, &heads).await
}

fn started(run_id: &str, agent: &str, row: &Row) -> ClaimedRun {
    ClaimedRun {
        run_id: run_id.to_owned(),
        agent: agent.to_owned(),
        event_id: row.get(0),
        route: row.get(1),
        event_type: row.get(2),
        delivery_id: row.get(3),
        attempt: count(row.get(4)),
        hop: count(row.get(5)),
        standing: standing(row, 6),
    }
}

/// What earlier runs have used up: three columns from `first` on.
pub(super) fn standing(row: &Row, first: usize) -> Standing {
    Standing {
        retries_spent: count(row.get(first)),
        interruptions: count(row.get(first + 1)),
        later_since: row.get(first + 2),
    }
}

pub(super) async fn record_prompt(tx: &Tx, run_id: &str, boot: Boot, prompt: &[u8]) -> Result<bool, Failure> {
    let rows = tx
        .execute(
            "INSERT INTO run_texts (run_seq, prompt)
             SELECT seq, $3 FROM runs WHERE id = $1 AND boot = $2 AND state = 'running' AND lives($2)
             ON CONFLICT (run_seq) DO UPDATE SET prompt = excluded.prompt",
            &[run_id.into(), boot.into(), prompt.into()],
        )
        .await?;
    Ok(rows > 0)
}
