//! What people do to single events and deliveries, and what time does to old ones.

use std::collections::BTreeSet;

use rules::run_end::Standing;
use rules::states::{DeliveryState, EventState};

use super::data::Data;
use crate::{Error, Key, Millis};

impl Data {
    pub(super) fn keep_time(&mut self, now: Millis, back: Option<Millis>) -> Option<Millis> {
        let back = back.unwrap_or_else(|| self.time.map_or(0, |noted| noted - now)).max(0);
        let earlier = |at: Millis| at - back;
        for event in &mut self.events {
            event.shown.due_at = event.shown.due_at.map(earlier);
            if matches!(event.shown.state, EventState::Failed | EventState::Held | EventState::Queued) {
                event.standing.later_since = event.standing.later_since.map(earlier);
            }
        }
        for delivery in &mut self.deliveries {
            delivery.shown.due_at = delivery.shown.due_at.map(earlier);
        }
        self.time.replace(now)
    }

    pub(super) fn cancel_event(&mut self, id: &str, reason: &str, now: Millis) -> Result<(), Error> {
        let event = &mut self.event_mut(id)?.shown;
        if event.state == EventState::Running {
            return Err(Error::Conflict(format!("{id} is running; stop its run instead")));
        }
        if !event.state.may_be_cancelled() {
            return Err(Error::Conflict(format!("{id} has already ended: {}", event.state)));
        }
        event.state = EventState::Cancelled;
        event.reason = Some(reason.to_owned());
        event.due_at = None;
        event.finished_at = Some(now);
        Ok(())
    }

    pub(super) fn retry_event(&mut self, id: &str) -> Result<(), Error> {
        let before = self.event(id)?;
        if !before.shown.state.may_be_retried() {
            return Err(Error::Conflict(format!(
                "{id} is {}; only what failed, is exhausted or was cancelled can be retried",
                before.shown.state
            )));
        }
        let place = before.key.clone().map(|key| (before.shown.route.clone(), key));
        let holder = place.as_ref().and_then(|place| self.keys.get(place)).filter(|holder| *holder != id);
        if let Some(holder) = holder {
            Key::may_return_from(holder, self.event(holder)?.shown.state)?;
        }
        let (state, reason) = self.waiting(&before.shown.route);
        if let Some(place) = place {
            self.keys.insert(place, id.to_owned());
        }
        let event = self.event_mut(id)?;
        event.shown.state = state;
        event.shown.reason = reason;
        event.shown.due_at = None;
        event.shown.finished_at = None;
        event.standing = Standing::default();
        Ok(())
    }

    pub(super) fn retry_delivery(&mut self, id: &str, now: Millis) -> Result<(), Error> {
        let row = self.delivery_mut(id)?;
        if !row.shown.state.may_be_retried() {
            return Err(Error::Conflict(format!(
                "{id} is {}; only what failed, is exhausted or of unknown outcome can be sent again",
                row.shown.state
            )));
        }
        row.spent = 0;
        row.shown.state = DeliveryState::Pending;
        row.shown.error = None;
        row.shown.due_at = Some(now);
        Ok(())
    }

    pub(super) fn prune(&mut self, state: EventState, before: Millis, limit: u32) -> u32 {
        let mut old: Vec<_> = self
            .events
            .iter()
            .filter(|e| e.shown.state == state)
            .filter(|e| !self.deliveries.iter().any(|d| d.shown.event_id == e.shown.id && !d.shown.state.is_finished()))
            .filter_map(|e| e.shown.finished_at.filter(|at| *at < before).map(|at| (at, e.seq, e.shown.id.clone())))
            .collect();
        old.sort();
        old.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let gone: BTreeSet<String> = old.into_iter().map(|(_, _, id)| id).collect();
        self.remove(&gone);
        u32::try_from(gone.len()).unwrap_or(u32::MAX)
    }

    /// Removes events with all that hangs on them. A key that a newer event has taken over stays.
    pub(super) fn remove(&mut self, ids: &BTreeSet<String>) {
        self.events.retain(|e| !ids.contains(&e.shown.id));
        self.runs.retain(|r| !ids.contains(&r.shown.event_id));
        self.deliveries.retain(|d| !ids.contains(&d.shown.event_id));
        self.keys.retain(|_, event| !ids.contains(event));
    }
}
