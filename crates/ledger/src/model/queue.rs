//! From a request to the end of its run.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use rules::dedupe::{self, KnownEvent, Verdict};
use rules::run_end::Standing;
use rules::states::{DeliveryState, EventState, RunState};

use super::data::{Data, DeliveryRow, EventRow, RunRow, taken};
use crate::api::admit::IGNORED_KEPT;
use crate::{
    Admission, Admitted, AgentRoom, Boot, ClaimRuns, ClaimedRun, Delivery, Error, Event, FinishRun, Finished, Ignored,
    Key, Millis, NewDelivery, NewEvent, OrphanRun, Run,
};

const MINUTE: Millis = 60_000;

impl Data {
    pub(super) fn admit(&mut self, admission: &Admission) -> Result<Admitted, Error> {
        let event = &admission.event;
        let place = admission.key.as_ref().map(|key| (event.route.clone(), key.text.clone()));
        if let (Some(place), Some(key)) = (&place, &admission.key)
            && let Some(known) = self.keys.get(place)
        {
            let known = &self.event(known)?.shown;
            let before = KnownEvent { state: known.state, finished_at: known.finished_at };
            if dedupe::verdict(before, key.window, event.received_at) != Verdict::NewWork {
                return Ok(Admitted::Duplicate { event_id: known.id.clone() });
            }
        }
        let minute = self.minute(&event.route, event.received_at);
        if admission.rate_per_minute > 0 && minute.1 >= admission.rate_per_minute {
            let left = u64::try_from(minute.0 + MINUTE - event.received_at).unwrap_or(0);
            return Ok(Admitted::Limited { retry_after: Duration::from_millis(left.max(1000)) });
        }
        let (state, reason) = self.waiting(&event.route);
        self.insert(event, admission.key.as_ref(), state, reason)?;
        if admission.rate_per_minute > 0 {
            self.minutes.insert(event.route.clone(), (minute.0, minute.1 + 1));
        }
        if let Some(place) = place {
            self.keys.insert(place, event.id.clone());
        }
        Ok(Admitted::Stored { state })
    }

    /// When the route's minute began and how many it has admitted; a new minute when the last is over or not begun.
    fn minute(&self, route: &str, now: Millis) -> (Millis, u32) {
        match self.minutes.get(route) {
            Some(minute) if (minute.0..minute.0 + MINUTE).contains(&now) => *minute,
            _ => (now, 0),
        }
    }

    pub(super) fn record_ignored(&mut self, ignored: &Ignored) -> Result<(), Error> {
        self.insert(&ignored.event, None, EventState::Ignored, Some(ignored.reason.clone()))?;
        let of_route = |e: &&EventRow| e.shown.state == EventState::Ignored && e.shown.route == ignored.event.route;
        let kept = self.events.iter().filter(of_route).count();
        if u64::try_from(kept).is_ok_and(|kept| kept > IGNORED_KEPT) {
            let oldest = self.events.iter().find(of_route).map(|e| e.shown.id.clone());
            self.remove(&oldest.into_iter().collect());
        }
        Ok(())
    }

    fn insert(
        &mut self,
        new: &NewEvent,
        key: Option<&Key>,
        state: EventState,
        reason: Option<String>,
    ) -> Result<(), Error> {
        if self.event(&new.id).is_ok() {
            return Err(taken(&new.id));
        }
        let shown = Event {
            id: new.id.clone(),
            route: new.route.clone(),
            source: new.source.clone(),
            event: new.event_type.clone(),
            delivery_id: new.delivery_id.clone(),
            state,
            reason,
            attempt: 1,
            hop: new.hop,
            session: new.line.clone(),
            received_at: new.received_at,
            finished_at: state.is_finished().then_some(new.received_at),
            due_at: new.due_at.filter(|_| !state.is_finished()),
            superseded_by: None,
            runs: Vec::new(),
            deliveries: Vec::new(),
        };
        let seq = self.next_seq();
        let (key, priority, request) = (key.map(|key| key.text.clone()), new.priority, new.request.clone());
        self.events.push(EventRow { seq, shown, key, priority, standing: Standing::default(), request });
        Ok(())
    }

    /// Queued, not waiting for a time, its route without an obstacle, its line free.
    fn is_ready(&self, event: &EventRow) -> bool {
        event.shown.state == EventState::Queued
            && event.shown.due_at.is_none()
            && self.obstacle(&event.shown.route).is_none()
            && self.has_its_turn(event)
    }

    /// Whether it is the oldest unfinished event of its line and none of the line is running. Without a line: always.
    fn has_its_turn(&self, event: &EventRow) -> bool {
        let same_line = |e: &EventRow| e.shown.route == event.shown.route && e.shown.session == event.shown.session;
        let in_its_way =
            |e: &EventRow| e.shown.state == EventState::Running || (e.seq < event.seq && !e.shown.state.is_finished());
        event.shown.session.is_none() || !self.events.iter().any(|e| same_line(e) && in_its_way(e))
    }

    pub(super) fn claim_runs(&mut self, claim: &ClaimRuns) -> Result<Vec<ClaimedRun>, Error> {
        if !self.lives(claim.boot) {
            return Ok(Vec::new());
        }
        if let Some(id) = claim.run_ids.iter().find(|id| self.runs.iter().any(|r| r.shown.id == **id)) {
            return Err(taken(id));
        }
        self.end_waits(claim.now);
        let mut agents: BTreeMap<&str, u32> =
            claim.agents.iter().map(|a| (a.agent.as_str(), self.room_of(a))).collect();
        // Of a route that is named twice the first counts.
        let mut routes: BTreeMap<&str, (&str, u32)> =
            claim.routes.iter().rev().map(|r| (r.route.as_str(), (r.agent.as_str(), r.room))).collect();
        let mut claimed = Vec::new();
        for run_id in &claim.run_ids {
            let has_room = |event: &&EventRow| {
                routes
                    .get(event.shown.route.as_str())
                    .is_some_and(|(agent, room)| *room > 0 && agents.get(agent).is_some_and(|room| *room > 0))
            };
            let ready = self.events.iter().filter(|e| self.is_ready(e)).filter(has_room);
            let Some(best) = ready.min_by_key(|e| (Reverse(e.priority), e.seq)) else { break };
            let (id, route) = (best.shown.id.clone(), best.shown.route.clone());
            let Some((agent, room)) = routes.get_mut(route.as_str()) else { break };
            *room -= 1;
            if let Some(room) = agents.get_mut(agent) {
                *room -= 1;
            }
            claimed.push(self.start(claim, run_id, agent, &id)?);
        }
        Ok(claimed)
    }

    /// The room of an agent, within what it may have in flight altogether.
    fn room_of(&self, agent: &AgentRoom) -> u32 {
        let of_agent = |r: &&RunRow| r.shown.state == RunState::Running && r.shown.agent == agent.agent;
        let in_flight = u32::try_from(self.runs.iter().filter(of_agent).count()).unwrap_or(u32::MAX);
        agent.cluster_limit.map_or(agent.room, |limit| agent.room.min(limit.saturating_sub(in_flight)))
    }

    /// What has become due waits for its turn from now on.
    fn end_waits(&mut self, now: Millis) {
        let due: Vec<_> = self
            .events
            .iter()
            .filter(|e| e.shown.due_at.is_some_and(|at| at <= now))
            .map(|e| (e.shown.id.clone(), self.waiting(&e.shown.route)))
            .collect();
        for (id, (state, reason)) in due {
            if let Ok(event) = self.event_mut(&id) {
                event.shown = Event { state, reason, due_at: None, ..event.shown.clone() };
            }
        }
    }

    fn start(&mut self, claim: &ClaimRuns, run_id: &str, agent: &str, event_id: &str) -> Result<ClaimedRun, Error> {
        let seq = self.next_seq();
        let event = self.event_mut(event_id)?;
        event.shown.runs.push(run_id.to_owned());
        event.shown.attempt = u32::try_from(event.shown.runs.len()).unwrap_or(u32::MAX);
        event.shown.state = EventState::Running;
        event.shown.reason = None;
        let claimed = ClaimedRun {
            run_id: run_id.to_owned(),
            attempt: event.shown.attempt,
            event_id: event_id.to_owned(),
            route: event.shown.route.clone(),
            agent: agent.to_owned(),
            event_type: event.shown.event.clone(),
            delivery_id: event.shown.delivery_id.clone(),
            hop: event.shown.hop,
            standing: event.standing,
        };
        let shown = Run {
            id: claimed.run_id.clone(),
            event_id: claimed.event_id.clone(),
            route: claimed.route.clone(),
            agent: claimed.agent.clone(),
            attempt: claimed.attempt,
            state: RunState::Running,
            started_at: claim.now,
            finished_at: None,
            exit_code: None,
            error: None,
            prompt: None,
            answer: None,
            stderr: None,
            session_id: None,
            cost_usd: None,
            usage: None,
        };
        self.runs.push(RunRow { seq, shown, boot: claim.boot });
        Ok(claimed)
    }

    pub(super) fn record_prompt(&mut self, run_id: &str, boot: Boot, prompt: &str) -> bool {
        let lives = self.lives(boot);
        match self.run_mut(run_id) {
            Ok(run) if lives && run.boot == boot && run.shown.state == RunState::Running => {
                run.shown.prompt = Some(prompt.to_owned());
                true
            }
            _ => false,
        }
    }

    /// A life that is not over may end a run that is its own or that another left.
    pub(super) fn finish_run(&mut self, finish: &FinishRun) -> Result<Finished, Error> {
        finish.check()?;
        let Some(run) = self.runs.iter().find(|r| r.shown.id == finish.run_id) else { return Ok(Finished::Fenced) };
        let may_write = self.lives(finish.boot) && (run.boot == finish.boot || !self.lives(run.boot));
        if run.shown.state != RunState::Running || run.shown.attempt != finish.attempt || !may_write {
            return Ok(Finished::Fenced);
        }
        let event_id = run.shown.event_id.clone();
        self.ids_are_new(&finish.deliveries)?;
        self.end_run(finish)?;
        self.move_event(finish, &event_id)?;
        for delivery in &finish.deliveries {
            self.create_delivery(delivery, finish, &event_id)?;
        }
        Ok(Finished::Written)
    }

    fn ids_are_new(&self, deliveries: &[NewDelivery]) -> Result<(), Error> {
        for (place, new) in deliveries.iter().enumerate() {
            let known = self.deliveries.iter().any(|d| d.shown.id == new.id);
            if known || deliveries[..place].iter().any(|d| d.id == new.id) {
                return Err(taken(&new.id));
            }
        }
        Ok(())
    }

    fn end_run(&mut self, finish: &FinishRun) -> Result<(), Error> {
        let run = &mut self.run_mut(&finish.run_id)?.shown;
        let record = finish.record.clone();
        run.state = finish.state;
        run.finished_at = Some(finish.ended_at);
        run.exit_code = record.exit_code;
        run.error = record.error;
        run.answer = record.answer;
        run.stderr = Some(record.stderr);
        run.session_id = record.session_id;
        run.cost_usd = record.cost_usd;
        run.usage = record.usage;
        Ok(())
    }

    fn move_event(&mut self, finish: &FinishRun, event_id: &str) -> Result<(), Error> {
        let next = finish.next.clone();
        let route = self.event(event_id)?.shown.route.clone();
        let (state, reason) = self.placed(&route, next.state, next.due_at).unwrap_or((next.state, next.reason));
        let event = self.event_mut(event_id)?;
        event.shown.state = state;
        event.shown.reason = reason;
        event.shown.due_at = next.due_at.filter(|_| !state.is_finished());
        event.shown.finished_at = state.is_finished().then_some(finish.ended_at);
        event.standing = next.standing;
        Ok(())
    }

    fn create_delivery(&mut self, new: &NewDelivery, finish: &FinishRun, event_id: &str) -> Result<(), Error> {
        let seq = self.next_seq();
        let event = self.event_mut(event_id)?;
        event.shown.deliveries.push(new.id.clone());
        let shown = Delivery {
            id: new.id.clone(),
            event_id: event_id.to_owned(),
            run_id: Some(finish.run_id.clone()),
            route: event.shown.route.clone(),
            target: new.target.clone(),
            state: new.state,
            attempts: 0,
            error: new.error.clone(),
            content: finish.record.answer.clone(),
            created_at: new.created_at,
            delivered_at: None,
            due_at: (new.state == DeliveryState::Pending).then_some(new.created_at),
        };
        self.deliveries.push(DeliveryRow { seq, shown, boot: None, spent: 0, extra: new.extra.clone() });
        Ok(())
    }

    pub(super) fn orphan_runs(&self, boot: Boot) -> Vec<OrphanRun> {
        self.orphan_runs_of(|of| self.is_left_to(boot, of))
    }

    pub(super) fn orphan_runs_of(&self, whose: impl Fn(Boot) -> bool) -> Vec<OrphanRun> {
        let left = self.runs.iter().filter(|r| r.shown.state == RunState::Running && whose(r.boot));
        left.filter_map(|row| {
            let run = row.shown.clone();
            let standing = self.event(&run.event_id).ok()?.standing;
            let (run_id, attempt, event_id) = (run.id, run.attempt, run.event_id);
            Some(OrphanRun { run_id, attempt, event_id, route: run.route, agent: run.agent, standing })
        })
        .collect()
    }
}
