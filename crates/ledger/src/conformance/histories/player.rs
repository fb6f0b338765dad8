//! Plays steps against both stores.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::Duration;

use proptest::prelude::prop_assert_eq;
use proptest::test_runner::TestCaseError;
use rules::run_end::{Next, Standing};
use rules::states::{DeliveryState, EventState, RunState};

use super::steps::{Life, New, ROUTES, Step};
use crate::conformance::scene::{SECOND, Subject, T0};
use crate::{
    Admission, AgentRoom, Boot, ClaimDeliveries, ClaimRuns, DeliveryEnd, DeliveryQuery, Error, EventQuery, FinishRun,
    Ignored, Key, Millis, NewDelivery, NewEvent, RouteRoom, RunQuery, RunRecord, Status, StoredRequest, TargetRoom,
};

type Outcome = Result<(), TestCaseError>;

/// Both stores, and what has been handed to them so far.
pub(super) struct Player {
    store: Subject,
    model: Subject,
    now: Millis,
    events: u32,
    runs: u32,
    deliveries: u32,
    /// Event → the route and the key that it came with.
    keys: BTreeMap<String, (u8, u8)>,
}

/// Answers are the same when they are equal; texts of database errors are each store's own.
fn same<T: PartialEq + Debug>(store: Result<T, Error>, model: Result<T, Error>) -> Outcome {
    match (store, model) {
        (Err(Error::Unavailable(_)), Err(Error::Unavailable(_))) => {}
        (store, model) => prop_assert_eq!(store, model),
    }
    Ok(())
}

/// The same call of both stores, and their answers compared.
macro_rules! both {
    ($player:expr, $($call:tt)+) => {
        same($player.store.$($call)+.await, $player.model.$($call)+.await)
    };
}

fn route(number: u8) -> String {
    format!("r{number}")
}

fn pick(prefix: &str, number: u8, made: u32) -> String {
    format!("{prefix}{}", u32::from(number) % made.max(1) + 1)
}

impl Player {
    pub(super) async fn new(store: Subject) -> Player {
        let model = Subject::in_memory().await;
        Player { store, model, now: T0, events: 0, runs: 0, deliveries: 0, keys: BTreeMap::new() }
    }

    /// Closes the store, so that it leaves no connection behind.
    pub(super) async fn end(self) {
        self.store.close().await;
    }

    pub(super) async fn play(&mut self, step: Step) -> Outcome {
        self.now += 1;
        let now = self.now;
        match step {
            Step::Admit { event, key, window, rate } => self.admit(&event, key, window, rate).await,
            Step::AdmitAgain { event, of, window } => self.admit_again(event, of, window).await,
            Step::Ignore { event } => {
                let ignored = Ignored { event: self.new_event(&event), reason: "filter".into() };
                both!(self, record_ignored(ignored.clone()))
            }
            claim @ Step::Claim { .. } => self.claim(claim).await,
            Step::Prompt { run, life } => {
                let (run, boot) = (pick("run_", run, self.runs), self.boot(life));
                both!(self, record_prompt(&run, boot, "do it"))
            }
            finish @ Step::Finish { .. } => self.finish(finish).await,
            Step::ClaimDeliveries { rooms, life } => {
                let targets = ["t0", "t1"].into_iter().zip(rooms);
                let targets = targets.map(|(t, room)| TargetRoom { target: t.into(), room: room.into() }).collect();
                let claim = ClaimDeliveries { boot: self.boot(life), now, targets };
                both!(self, claim_deliveries(claim.clone()))
            }
            finish @ Step::FinishDelivery { .. } => self.finish_delivery(finish).await,
            Step::Adopt { delivery } => {
                both!(self, adopt_delivery(&pick("dlv_", delivery, self.deliveries), self.model.boot))
            }
            Step::Pause { route: number } => both!(self, pause(&route(number), now)),
            Step::Resume { route: number } => both!(self, resume(&route(number))),
            Step::Reconcile { known } => {
                both!(self, reconcile_routes(&known.iter().copied().map(route).collect::<Vec<_>>()))
            }
            Step::Cancel { event } => both!(self, cancel_event(&pick("ev_", event, self.events), "by hand", now)),
            Step::Retry { event } => both!(self, retry_event(&pick("ev_", event, self.events))),
            Step::RetryEnded { event } => self.retry_ended(event).await,
            Step::RetryDelivery { delivery: number } => {
                both!(self, retry_delivery(&pick("dlv_", number, self.deliveries), now))
            }
            Step::Prune { state, age, limit } => both!(self, prune(state, now - seconds(age), limit.into())),
            Step::Wait { seconds: wait } => {
                self.now += seconds(wait);
                Ok(())
            }
            Step::KeepTime { back } => both!(self, keep_time(now, back.map(|back| i64::from(back) * SECOND))),
            Step::NextLife => self.next_life().await,
            Step::Inherit { dead } => both!(self, inherit(self.boot(dead), self.model.boot)),
            Step::EndLife { life } => both!(self, end_boot(self.boot(life))),
            Step::Renew { life } => both!(self, renew(self.boot(life))),
            Step::Reopen => {
                self.store.reopen().await;
                self.model.reopen().await;
                Ok(())
            }
            Step::Look => self.compare_everything().await,
        }?;
        both!(self, due())
    }

    async fn next_life(&mut self) -> Outcome {
        self.store.next_life().await;
        self.model.next_life().await;
        prop_assert_eq!(self.store.boot, self.model.boot);
        Ok(())
    }

    fn boot(&self, life: Life) -> Boot {
        match life {
            Life::Current => self.model.boot,
            Life::Earlier => self.model.boot - 1,
            Life::Later => self.model.boot + 1,
        }
    }

    fn new_event(&mut self, new: &New) -> NewEvent {
        if !new.clash || self.events == 0 {
            self.events += 1;
        }
        let number = self.events;
        NewEvent {
            id: format!("ev_{number}"),
            route: route(new.route),
            source: "github".into(),
            event_type: "push".into(),
            delivery_id: format!("d{}", number % 4),
            line: new.line.map(|line| format!("l{line}")),
            priority: new.priority.into(),
            hop: number % 3,
            due_at: new.due_in.map(|due| self.now + seconds(due)),
            received_at: self.now - SECOND * Millis::from(new.slow),
            request: StoredRequest {
                headers: vec![("n".into(), number.to_string())],
                body: vec![b'n'; usize::try_from(number * 40).unwrap()],
            },
        }
    }

    async fn admit(&mut self, new: &New, key: Option<u8>, window: u16, rate: u8) -> Outcome {
        let window = Duration::from_secs(window.into());
        let admission = Admission {
            event: self.new_event(new),
            key: key.map(|key| Key { text: format!("k{key}"), window }),
            // Mostly none, else few.
            rate_per_minute: if rate < 5 { 0 } else { u32::from(rate) - 3 },
        };
        if self.model.event(&admission.event.id).await.is_err() {
            let id = admission.event.id.clone();
            match key {
                Some(key) => self.keys.insert(id, (new.route, key)),
                None => self.keys.remove(&id),
            };
        }
        both!(self, admit(admission.clone()))
    }

    async fn claim(&mut self, step: Step) -> Outcome {
        let Step::Claim { routes, agents, together, most, life } = step else { return Ok(()) };
        let cluster_limit = together.map(u32::from);
        let agents = ["a0", "a1"].into_iter().zip(agents);
        let claim = ClaimRuns {
            boot: self.boot(life),
            now: self.now,
            routes: routes
                .iter()
                .map(|(number, room)| RouteRoom {
                    route: route(*number),
                    agent: format!("a{}", number % 2),
                    room: (*room).into(),
                })
                .collect(),
            agents: agents
                .map(|(agent, room)| AgentRoom { agent: agent.into(), room: room.into(), cluster_limit })
                .collect(),
            run_ids: (1..=u32::from(most)).map(|n| format!("run_{}", self.runs + n)).collect(),
        };
        self.runs += u32::from(most);
        both!(self, claim_runs(claim.clone()))
    }

    async fn finish(&mut self, step: Step) -> Outcome {
        let Step::Finish { run, life, wrong_attempt, next, due_in, deliveries, clash } = step else { return Ok(()) };
        let run_id = self.running(run).await.unwrap_or_else(|| pick("run_", run, self.runs));
        let attempt = self.model.run(&run_id).await.map_or(1, |run| run.attempt);
        let number = u32::from(run) % 3;
        let finish = FinishRun {
            run_id,
            boot: self.boot(life),
            attempt: attempt + u32::from(wrong_attempt),
            ended_at: self.now,
            state: if next == EventState::Succeeded { RunState::Succeeded } else { RunState::Failed },
            record: RunRecord {
                exit_code: (number == 0).then_some(run.into()),
                answer: (number > 0).then(|| format!("answer {run}")),
                stderr: "e".repeat(usize::from(run) * 10),
                ..RunRecord::default()
            },
            next: Next {
                state: next,
                reason: (number == 1).then(|| "reason".into()),
                due_at: due_in.map(|due| self.now + seconds(due)),
                standing: Standing { retries_spent: number, interruptions: 0, later_since: due_in.map(Millis::from) },
            },
            deliveries: deliveries.into_iter().map(|kind| self.new_delivery(kind, clash)).collect(),
        };
        both!(self, finish_run(finish.clone()))
    }

    async fn admit_again(&mut self, new: New, of: u8, window: u16) -> Outcome {
        let known = self.ended_badly(of).await.and_then(|id| self.keys.get(&id).copied());
        let (route, key) = known.map_or((new.route, None), |(route, key)| (route, Some(key)));
        self.admit(&New { route, ..new }, key, window, 0).await
    }

    async fn retry_ended(&self, number: u8) -> Outcome {
        let id = self.ended_badly(number).await.unwrap_or_else(|| pick("ev_", number, self.events));
        both!(self, retry_event(&id))
    }

    /// One of the events that ended without success.
    async fn ended_badly(&self, number: u8) -> Option<String> {
        let query = EventQuery { limit: 1000, ..EventQuery::default() };
        let mut events = self.model.events(query).await.ok()?.items;
        events.retain(|e| matches!(e.state, EventState::Exhausted | EventState::Cancelled));
        let place = usize::from(number) % events.len().max(1);
        (place < events.len()).then(|| events.swap_remove(place).id)
    }

    /// One of the runs in flight.
    async fn running(&self, number: u8) -> Option<String> {
        let query = RunQuery { state: Some(RunState::Running), limit: 1000, ..RunQuery::default() };
        let mut running = self.model.runs(query).await.ok()?.items;
        let place = usize::from(number) % running.len().max(1);
        (place < running.len()).then(|| running.swap_remove(place).id)
    }

    fn new_delivery(&mut self, kind: u8, clash: bool) -> NewDelivery {
        if !clash || self.deliveries == 0 {
            self.deliveries += 1;
        }
        NewDelivery {
            id: format!("dlv_{}", self.deliveries),
            target: format!("t{}", kind % 2),
            state: match kind {
                0 => DeliveryState::Suppressed,
                1 => DeliveryState::Exhausted,
                _ => DeliveryState::Pending,
            },
            error: (kind == 1).then(|| "no chat_id".into()),
            extra: serde_json::Map::from_iter([("kind".to_owned(), kind.into())]),
            created_at: self.now,
        }
    }

    async fn finish_delivery(&mut self, step: Step) -> Outcome {
        let Step::FinishDelivery { delivery, life, wrong_attempt, state, due_in } = step else { return Ok(()) };
        let id = pick("dlv_", delivery, self.deliveries);
        let attempt = self.model.delivery(&id).await.map_or(1, |delivery| delivery.attempts);
        let end = DeliveryEnd {
            id,
            boot: self.boot(life),
            attempt: attempt + u32::from(wrong_attempt),
            state,
            error: (state == DeliveryState::Failed).then(|| "503".into()),
            due_at: due_in.map(|due| self.now + seconds(due)),
            now: self.now,
        };
        both!(self, finish_delivery(end.clone()))
    }

    /// Compares all that can be read.
    pub(super) async fn compare_everything(&self) -> Outcome {
        both!(self, probe())?;
        both!(self, due())?;
        both!(self, nodes())?;
        both!(self, under_way(self.model.boot))?;
        both!(self, orphan_runs(self.model.boot))?;
        both!(self, stuck_deliveries(self.model.boot))?;
        self.compare_listings().await?;
        for number in 1..=self.events {
            both!(self, request(&format!("ev_{number}")))?;
            both!(self, event(&format!("ev_{number}")))?;
        }
        for number in 1..=self.deliveries {
            both!(self, delivery(&format!("dlv_{number}")))?;
        }
        let status = self.store.status().await;
        prop_assert_eq!(&status, &self.model.status().await);
        self.check_events(&status.map_err(|e| TestCaseError::fail(e.to_string()))?).await
    }

    async fn compare_listings(&self) -> Outcome {
        let since = Some(self.now - 90 * SECOND);
        let all = EventQuery { limit: 1000, ..EventQuery::default() };
        let mut queries = vec![all.clone(), EventQuery { since, ..all.clone() }];
        for number in 0..ROUTES {
            queries.push(EventQuery { route: Some(route(number)), since, ..all.clone() });
            queries.push(EventQuery { delivery_id: Some(format!("d{number}")), ..all.clone() });
        }
        queries.extend(EventState::ALL.iter().map(|state| EventQuery { state: Some(*state), ..all.clone() }));
        for query in queries {
            both!(self, events(query.clone()))?;
        }
        for route in [None, Some(route(1))] {
            let query = RunQuery { route, limit: 1000, ..RunQuery::default() };
            both!(self, runs(query.clone()))?;
        }
        let query = DeliveryQuery { limit: 1000, ..DeliveryQuery::default() };
        both!(self, deliveries(query.clone()))?;
        self.compare_pages().await
    }

    /// Page by page the listing is the same as at once, in either store.
    async fn compare_pages(&self) -> Outcome {
        let all = EventQuery { limit: 1000, ..EventQuery::default() };
        for subject in [&self.store, &self.model] {
            let whole = subject.events(all.clone()).await.map_err(|e| TestCaseError::fail(e.to_string()))?;
            let mut query = EventQuery { limit: 7, ..all.clone() };
            let mut items = Vec::new();
            loop {
                let page = subject.events(query.clone()).await.map_err(|e| TestCaseError::fail(e.to_string()))?;
                items.extend(page.items);
                let Some(next) = page.next else { break };
                query.cursor = Some(next);
            }
            prop_assert_eq!(items, whole.items);
        }
        Ok(())
    }

    /// What must hold whatever happened: the counters are those of the listing, no line runs two at a time, and no key has two
    /// events that have not ended.
    async fn check_events(&self, status: &Status) -> Outcome {
        let query = EventQuery { limit: 1000, ..EventQuery::default() };
        let events = self.store.events(query).await.map_err(|e| TestCaseError::fail(e.to_string()))?.items;
        let mut counted: BTreeMap<EventState, u64> = BTreeMap::new();
        let (mut lines, mut keys) = (BTreeSet::new(), BTreeSet::new());
        for event in events {
            *counted.entry(event.state).or_default() += 1;
            prop_assert_eq!(event.finished_at.is_some(), event.state.is_finished());
            if !event.state.is_finished()
                && let Some(key) = self.keys.get(&event.id)
            {
                proptest::prop_assert!(keys.insert(key), "two of a key have not ended");
            }
            if event.state == EventState::Running && event.session.is_some() {
                proptest::prop_assert!(lines.insert((event.route, event.session)), "two of a line are running");
            }
        }
        prop_assert_eq!(&counted, &status.events);
        Ok(())
    }
}

fn seconds(count: u16) -> Millis {
    SECOND * Millis::from(count)
}
