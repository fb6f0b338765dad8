//! Admission: keys, rates and inserts of many requests in one step, each judged as if they had come one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use futures_util::future::{try_join3, try_join4};
use rules::dedupe::{self, KnownEvent};
use rules::states::EventState;

use super::views::parse;
use super::{Failure, Tx, Value, count, lines, repair};
use crate::api::admit::IGNORED_KEPT;
use crate::sqlite::blob;
use crate::{Admission, Admitted, Error, Ignored, Key, Millis, NewEvent};

const MINUTE: Millis = 60_000;

/// A request on its way in, packed before its transaction begins.
pub(super) struct Request {
    event: NewEvent,
    key: Option<Key>,
    rate: u32,
    /// Why a rule refused it; it is recorded then, not admitted.
    refused: Option<String>,
    headers: String,
    codec: i64,
    body: Vec<u8>,
}

impl Request {
    pub(super) fn admission(admission: Admission) -> Result<Request, Error> {
        Request::new(admission.event, admission.key, admission.rate_per_minute, None)
    }

    pub(super) fn ignored(ignored: Ignored) -> Result<Request, Error> {
        Request::new(ignored.event, None, 0, Some(ignored.reason))
    }

    fn new(mut event: NewEvent, key: Option<Key>, rate: u32, refused: Option<String>) -> Result<Request, Error> {
        let headers = serde_json::to_string(&event.request.headers)
            .map_err(|e| Error::Unavailable(format!("headers cannot be stored: {e}")))?;
        let (codec, body) = blob::pack(&std::mem::take(&mut event.request.body));
        Ok(Request { event, key, rate, refused, headers, codec: codec.into(), body })
    }

    pub(super) fn bytes(&self) -> usize {
        self.headers.len() + self.body.len()
    }

    /// Whether its answer says that it survives a power cut.
    pub(super) fn is_durable(&self) -> bool {
        self.refused.is_none()
    }

    fn route(&self) -> &str {
        &self.event.route
    }
}

/// What the requests are judged by.
struct Known<'a> {
    /// (route, key) → the event that holds it.
    keys: HashMap<(String, String), (String, KnownEvent)>,
    /// Route → when its minute began, and how many it has admitted since.
    rates: BTreeMap<String, (Millis, u32)>,
    places: BTreeMap<&'a str, (EventState, Option<&'static str>)>,
}

/// A request that is stored.
struct Stored<'a> {
    request: &'a Request,
    state: EventState,
    reason: Option<&'a str>,
}

pub(super) async fn admit(tx: &Tx, requests: &[Request]) -> Result<Vec<Admitted>, Failure> {
    let mut known = look(tx, requests).await?;
    let mut stored = Vec::new();
    let mut spent = BTreeSet::new();
    let mut answers = Vec::new();
    for request in requests {
        let answer = judge(request, &mut known, &mut spent);
        if let Admitted::Stored { state } = answer {
            let place = known.places.get(request.route()).and_then(|place| place.1);
            stored.push(Stored { request, state, reason: request.refused.as_deref().or(place) });
        }
        answers.push(answer);
    }
    if !stored.is_empty() {
        let rates: Vec<_> = spent.iter().filter_map(|route| Some((*route, *known.rates.get(*route)?))).collect();
        let writes = Box::pin(try_join3(insert(tx, &stored), spend(tx, &rates), refresh(tx, &stored)));
        if stored.iter().any(|s| s.state == EventState::Ignored) {
            writes.await?;
            cap_ignored(tx, &stored).await?;
        } else {
            tx.commit_with(writes).await?;
        }
    }
    Ok(answers)
}

/// Waits for the locks of all keys, rates and lines, in one order for everybody, and then looks.
async fn look<'a>(tx: &Tx, requests: &'a [Request]) -> Result<Known<'a>, Failure> {
    let mut locks: Vec<(&str, &str, &str)> = Vec::new();
    for request in requests.iter().filter(|r| r.refused.is_none()) {
        let route = request.route();
        locks.extend(request.key.as_ref().map(|key| ("key", route, key.text.as_str())));
        locks.extend(request.event.line.as_ref().map(|line| ("line", route, line.as_str())));
        locks.extend((request.rate > 0).then_some(("rate", route, "")));
    }
    let keyed: Vec<(&str, &str)> = locks.iter().filter(|l| l.0 == "key").map(|l| (l.1, l.2)).collect();
    let limited: Vec<&str> = locks.iter().filter(|l| l.0 == "rate").map(|l| l.1).collect();
    let routes: Vec<&str> = requests.iter().map(Request::route).collect::<BTreeSet<_>>().into_iter().collect();
    // Sent all at once; each statement sees what was committed before it began, the looks what was before the locks.
    let ((), keys, rates, obstacles) =
        try_join4(lock(tx, &locks), holders(tx, &keyed), minutes(tx, &limited), lines::obstacles(tx, &routes)).await?;
    let places = routes.into_iter().zip(obstacles.into_iter().map(lines::waiting)).collect();
    Ok(Known { keys, rates, places })
}

async fn lock(tx: &Tx, locks: &[(&str, &str, &str)]) -> Result<(), Failure> {
    if locks.is_empty() {
        return Ok(());
    }
    let values = [
        Value::texts(locks.iter().map(|l| l.0)),
        Value::texts(locks.iter().map(|l| l.1)),
        Value::texts(locks.iter().map(|l| l.2)),
    ];
    tx.query("SELECT lock_each($1, $2, $3)", &values).await.map(drop)
}

/// Who holds keys.
pub(super) const HOLDERS: &str = "SELECT k.route, k.key, e.id, e.state, e.finished_at
     FROM unnest($1, $2) AS t (route, key) JOIN keys k ON k.route = t.route AND k.key = t.key
     JOIN events e ON e.seq = k.event_seq";

type Holders = HashMap<(String, String), (String, KnownEvent)>;

async fn holders(tx: &Tx, keys: &[(&str, &str)]) -> Result<Holders, Failure> {
    let mut found = HashMap::new();
    if keys.is_empty() {
        return Ok(found);
    }
    let values = [Value::texts(keys.iter().map(|k| k.0)), Value::texts(keys.iter().map(|k| k.1))];
    for row in tx.query(HOLDERS, &values).await? {
        let known = KnownEvent { state: parse(row.get(3))?, finished_at: row.get(4) };
        found.insert((row.get(0), row.get(1)), (row.get(2), known));
    }
    Ok(found)
}

async fn minutes(tx: &Tx, routes: &[&str]) -> Result<BTreeMap<String, (Millis, u32)>, Failure> {
    if routes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let sql = "SELECT route, began, admitted FROM rates WHERE route = ANY ($1)";
    let rows = tx.query(sql, &[Value::texts(routes.iter().copied())]).await?;
    Ok(rows.iter().map(|row| (row.get(0), (row.get(1), count(row.get(2))))).collect())
}

/// What becomes of a request, in face of what is known; what it changes is known to the next one.
fn judge<'a>(request: &'a Request, known: &mut Known<'_>, spent: &mut BTreeSet<&'a str>) -> Admitted {
    if request.refused.is_some() {
        return Admitted::Stored { state: EventState::Ignored };
    }
    let (route, now) = (request.route(), request.event.received_at);
    let place = |key: &Key| (route.to_owned(), super::values::stored(&key.text).into_owned());
    if let Some(key) = &request.key
        && let Some((event_id, holder)) = known.keys.get(&place(key))
        // In flight is what only a sender that waits for its delivery may be told; no event has one.
        && dedupe::verdict(*holder, key.window, now) != dedupe::Verdict::NewWork
    {
        return Admitted::Duplicate { event_id: event_id.clone() };
    }
    if request.rate > 0 {
        let (began, admitted) = match known.rates.get(route) {
            Some((began, admitted)) if (*began..began.saturating_add(MINUTE)).contains(&now) => (*began, *admitted),
            // A new minute; also when the clock has gone back.
            _ => (now, 0),
        };
        if admitted >= request.rate {
            let left = u64::try_from(began + MINUTE - now).unwrap_or(0);
            return Admitted::Limited { retry_after: Duration::from_millis(left.max(1000)) };
        }
        known.rates.insert(route.to_owned(), (began, admitted + 1));
        spent.insert(route);
    }
    let state = known.places.get(route).map_or(EventState::Queued, |place| place.0);
    if let Some(key) = &request.key {
        let holder = KnownEvent { state, finished_at: None };
        known.keys.insert(place(key), (request.event.id.clone(), holder));
    }
    Admitted::Stored { state }
}

/// Events, their requests and their keys.
const STORE: &str = "SELECT store_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

async fn insert(tx: &Tx, stored: &[Stored<'_>]) -> Result<(), Failure> {
    let events = || stored.iter().map(|s| &s.request.event);
    let ended = |s: &Stored<'_>| s.state.is_finished();
    let values = [
        Value::texts(events().map(|e| e.id.as_str())),
        Value::texts(events().map(|e| e.route.as_str())),
        Value::texts(events().map(|e| e.source.as_str())),
        Value::texts(events().map(|e| e.event_type.as_str())),
        Value::texts(events().map(|e| e.delivery_id.as_str())),
        Value::texts(stored.iter().map(|s| s.state.as_str())),
        Value::some_texts(stored.iter().map(|s| s.reason)),
        Value::some_texts(events().map(|e| e.line.as_deref())),
        Value::numbers(events().map(|e| e.priority)),
        Value::Numbers(stored.iter().map(|s| s.request.event.due_at.filter(|_| !ended(s))).collect()),
        Value::numbers(events().map(|e| e.hop.into())),
        Value::numbers(events().map(|e| e.received_at)),
        Value::Numbers(stored.iter().map(|s| ended(s).then_some(s.request.event.received_at)).collect()),
        Value::some_texts(stored.iter().map(|s| s.request.key.as_ref().map(|key| key.text.as_str()))),
        Value::texts(stored.iter().map(|s| s.request.headers.as_str())),
        Value::numbers(stored.iter().map(|s| s.request.codec)),
        Value::Blobs(stored.iter().map(|s| s.request.body.as_slice()).collect()),
    ];
    tx.query(STORE, &values).await.map(drop)
}

async fn spend(tx: &Tx, rates: &[(&str, (Millis, u32))]) -> Result<(), Failure> {
    if rates.is_empty() {
        return Ok(());
    }
    let values = [
        Value::texts(rates.iter().map(|r| r.0)),
        Value::numbers(rates.iter().map(|r| r.1.0)),
        Value::numbers(rates.iter().map(|r| r.1.1.into())),
    ];
    let sql = "INSERT INTO rates SELECT * FROM unnest($1, $2, $3)
         ON CONFLICT (route) DO UPDATE SET began = excluded.began, admitted = excluded.admitted";
    tx.execute(sql, &values).await.map(drop)
}

/// Lines whose last one may be the first.
async fn refresh(tx: &Tx, stored: &[Stored<'_>]) -> Result<(), Failure> {
    let waits_for_its_turn = |s: &&Stored<'_>| s.state == EventState::Queued && s.request.event.due_at.is_none();
    let lines: Vec<(&str, &str)> = stored
        .iter()
        .filter(waits_for_its_turn)
        .filter_map(|s| Some((s.request.route(), s.request.event.line.as_deref()?)))
        .collect();
    lines::refresh(tx, &lines).await
}

/// The ignored events of a route that go when there are too many, found as in `views/pages.rs`.
pub(super) const OLDEST_IGNORED: &str = "SELECT seq FROM events WHERE (route, state, seq) >= ($1, 'ignored', 0)
         AND (route, state, seq) < ($1, 'ignored', 9223372036854775807)
     ORDER BY route, state, seq LIMIT $2 FOR UPDATE SKIP LOCKED";

async fn cap_ignored(tx: &Tx, stored: &[Stored<'_>]) -> Result<(), Failure> {
    let routes: BTreeSet<&str> =
        stored.iter().filter(|s| s.state == EventState::Ignored).map(|s| s.request.route()).collect();
    for route in routes {
        let sql = "SELECT coalesce(sum(value), 0)::bigint FROM counters WHERE name = 'ignored.' || $1";
        let kept: i64 = tx.one(sql, &[route.into()]).await?.get(0);
        let excess = kept.saturating_sub(i64::try_from(IGNORED_KEPT).unwrap_or(i64::MAX));
        if excess > 0 {
            let rows = tx.query(OLDEST_IGNORED, &[route.into(), excess.into()]).await?;
            let oldest: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
            repair::remove(tx, &oldest).await?;
        }
    }
    Ok(())
}
