//! A fresh ledger with its first life begun, and short ways to act on it.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rules::run_end::{Next, Standing};
use rules::states::{DeliveryState, EventState, RunState};
use scratch_postgres::Database;
use tempfile::TempDir;

use crate::model::Model;
use crate::postgres;
use crate::sqlite::{Durability, Options, Store};
use crate::{
    Admission, Admitted, AgentRoom, Boot, ClaimDeliveries, ClaimRuns, ClaimedDelivery, ClaimedRun, DeliveryEnd,
    EventQuery, FinishRun, Finished, Key, Ledger, Millis, NewDelivery, NewEvent, RouteRoom, RunRecord, StoredRequest,
    TargetRoom,
};

/// When every scene begins.
pub(super) const T0: Millis = 1_790_000_000_000;
pub(super) const SECOND: Millis = 1_000;
pub(super) const MINUTE: Millis = 60 * SECOND;
pub(super) const HOUR: Duration = Duration::from_hours(1);

/// The ledger under test.
pub(super) struct Subject {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) boot: Boot,
    place: Place,
    ids: AtomicU32,
}

/// What a ledger is opened from again.
enum Place {
    Memory,
    Folder(TempDir),
    Server { database: Database, bounced: bool },
}

impl Deref for Subject {
    type Target = dyn Ledger;

    fn deref(&self) -> &Self::Target {
        self.ledger.as_ref()
    }
}

impl Place {
    /// The ledger that is there; the model has none.
    async fn open(&self) -> Option<Arc<dyn Ledger>> {
        match self {
            Place::Memory => None,
            Place::Folder(home) => {
                let options = Options {
                    home: home.path().to_owned(),
                    path: home.path().join("doorbell.db"),
                    // What a test reads back was written by a process that lives.
                    durability: Durability::Normal,
                    min_free: 0,
                    patience: Duration::from_secs(10),
                };
                Some(Arc::new(Store::open(&options).unwrap()))
            }
            Place::Server { database, bounced } => {
                let url = if *bounced { database.bouncer_url() } else { database.url() };
                Some(Arc::new(postgres::Store::connect(&url, &postgres::Options::default()).await.unwrap()))
            }
        }
    }
}

impl Subject {
    pub(super) async fn in_memory() -> Subject {
        Subject::begin(Arc::new(Model::new()), Place::Memory).await
    }

    pub(super) async fn on_disk() -> Subject {
        // Order is tested here, not disks: in memory where that is to be had, since every open waits for the disk.
        let home = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        Subject::at(Place::Folder(home)).await
    }

    pub(super) async fn on_server() -> Subject {
        Subject::at(Place::Server { database: Database::create(), bounced: false }).await
    }

    /// On the server, by way of a pooler in transaction mode.
    pub(super) async fn behind_a_pooler() -> Subject {
        Subject::at(Place::Server { database: Database::create(), bounced: true }).await
    }

    async fn at(place: Place) -> Subject {
        let ledger = place.open().await.unwrap();
        Subject::begin(ledger, place).await
    }

    async fn begin(ledger: Arc<dyn Ledger>, place: Place) -> Subject {
        let boot = ledger.begin_boot("node", T0).await.unwrap();
        Subject { ledger, boot, place, ids: AtomicU32::new(0) }
    }

    /// Closes the store and opens it again. The model has nothing to be opened from: it stays as it is.
    pub(super) async fn reopen(&mut self) {
        if !matches!(self.place, Place::Memory) {
            self.ledger.close().await;
        }
        if let Some(ledger) = self.place.open().await {
            self.ledger = ledger;
        }
    }

    /// Another life of the same node. Where several may live it knows by its home that the one before does not any more.
    pub(super) async fn next_life(&mut self) {
        self.reopen().await;
        if matches!(self.place, Place::Server { .. }) {
            self.end_boot(self.boot).await.unwrap();
        }
        self.boot = self.begin_boot("node", T0).await.unwrap();
    }

    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.ids.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Admits an event without a key.
    pub(super) async fn put(&self, event: NewEvent) -> EventState {
        match self.admit(Admission { event, key: None, rate_per_minute: 0 }).await.unwrap() {
            Admitted::Stored { state } => state,
            other => panic!("{other:?}"),
        }
    }

    /// Claims up to `most` runs for the routes r, s and t.
    pub(super) async fn claim(&self, now: Millis, most: u32) -> Vec<ClaimedRun> {
        self.claim_runs(self.offer(now, most)).await.unwrap()
    }

    pub(super) fn offer(&self, now: Millis, most: u32) -> ClaimRuns {
        ClaimRuns {
            boot: self.boot,
            now,
            routes: ["r", "s", "t"].map(|r| RouteRoom { route: r.into(), agent: "a".into(), room: 100 }).to_vec(),
            agents: vec![AgentRoom { agent: "a".into(), room: 100, cluster_limit: None }],
            run_ids: (0..most).map(|_| self.id("run_")).collect(),
        }
    }

    /// Claims what is ready and says which events they are.
    pub(super) async fn claimed(&self, now: Millis, most: u32) -> Vec<String> {
        self.claim(now, most).await.into_iter().map(|r| r.event_id).collect()
    }

    /// Claims the one event that is ready.
    pub(super) async fn claim_one(&self, now: Millis) -> ClaimedRun {
        let mut claimed = self.claim(now, 5).await;
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed.remove(0)
    }

    pub(super) async fn end(&self, run: &ClaimedRun, at: Millis, next: Next) {
        assert_eq!(self.finish_run(self.finish(run, at, next)).await.unwrap(), Finished::Written);
    }

    pub(super) fn finish(&self, run: &ClaimedRun, at: Millis, next: Next) -> FinishRun {
        let state = match next.state {
            EventState::Succeeded => RunState::Succeeded,
            EventState::Queued => RunState::Interrupted,
            EventState::Cancelled => RunState::Stopped,
            _ => RunState::Failed,
        };
        FinishRun {
            run_id: run.run_id.clone(),
            boot: self.boot,
            attempt: run.attempt,
            ended_at: at,
            state,
            record: RunRecord::default(),
            next,
            deliveries: Vec::new(),
        }
    }

    /// Puts an event on the route r, runs it, and ends it with the answer for the targets.
    pub(super) async fn answer(&self, event_id: &str, answer: &str, deliveries: Vec<NewDelivery>) {
        self.put(event(event_id, "r")).await;
        let run = self.claim_one(T0).await;
        let mut finish = self.finish(&run, T0, done());
        finish.record.answer = Some(answer.into());
        finish.deliveries = deliveries;
        assert_eq!(self.finish_run(finish).await.unwrap(), Finished::Written);
    }

    /// Claims what is due for the target log.
    pub(super) async fn take(&self, now: Millis, room: u32) -> Vec<ClaimedDelivery> {
        let targets = vec![TargetRoom { target: "log".into(), room }];
        self.claim_deliveries(ClaimDeliveries { boot: self.boot, now, targets }).await.unwrap()
    }

    pub(super) async fn state(&self, event_id: &str) -> (EventState, Option<String>) {
        let event = self.event(event_id).await.unwrap();
        (event.state, event.reason)
    }

    pub(super) async fn all_events(&self) -> Vec<String> {
        let page = self.events(EventQuery { limit: 1000, ..EventQuery::default() }).await.unwrap();
        page.items.into_iter().map(|e| e.id).collect()
    }
}

pub(super) fn event(id: &str, route: &str) -> NewEvent {
    NewEvent {
        id: id.into(),
        route: route.into(),
        source: "github".into(),
        event_type: "push".into(),
        delivery_id: format!("d-{id}"),
        line: None,
        priority: 0,
        hop: 0,
        due_at: None,
        received_at: T0,
        request: StoredRequest { headers: vec![("x-id".into(), id.into())], body: id.as_bytes().to_vec() },
    }
}

pub(super) fn in_line(id: &str, line: &str) -> NewEvent {
    NewEvent { line: Some(line.into()), ..event(id, "r") }
}

pub(super) fn keyed(event: NewEvent, key: &str) -> Admission {
    Admission { event, key: Some(Key { text: key.into(), window: HOUR }), rate_per_minute: 0 }
}

pub(super) fn stored(state: EventState) -> Admitted {
    Admitted::Stored { state }
}

pub(super) fn duplicate(event_id: &str) -> Admitted {
    Admitted::Duplicate { event_id: event_id.into() }
}

fn next(state: EventState, due_at: Option<Millis>) -> Next {
    Next { state, reason: None, due_at, standing: Standing::default() }
}

pub(super) fn done() -> Next {
    next(EventState::Succeeded, None)
}

pub(super) fn exhausted() -> Next {
    next(EventState::Exhausted, None)
}

pub(super) fn again_at(due_at: Millis) -> Next {
    Next { reason: Some("timeout".into()), ..next(EventState::Failed, Some(due_at)) }
}

pub(super) fn interrupted() -> Next {
    next(EventState::Queued, None)
}

/// A message for the target log.
pub(super) fn message(id: &str) -> NewDelivery {
    NewDelivery {
        id: id.into(),
        target: "log".into(),
        state: DeliveryState::Pending,
        error: None,
        extra: serde_json::Map::new(),
        created_at: T0,
    }
}

pub(super) fn ended(delivery: &ClaimedDelivery, boot: Boot, state: DeliveryState) -> DeliveryEnd {
    DeliveryEnd { id: delivery.id.clone(), boot, attempt: delivery.attempt, state, error: None, due_at: None, now: T0 }
}
