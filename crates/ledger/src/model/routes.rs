//! Pausing routes, and routes that come and go: the fact is changed, then what waits is put where it belongs.

use rules::states::EventState;

use super::data::Data;
use crate::Millis;

const MISSING: &str = "route_missing";
const PAUSED: &str = "paused";

impl Data {
    /// Why no event of the route may run. A route that has gone is missing, paused or not.
    pub(super) fn obstacle(&self, route: &str) -> Option<&'static str> {
        if self.routes.as_ref().is_some_and(|known| !known.contains(route)) {
            return Some(MISSING);
        }
        self.paused.contains(route).then_some(PAUSED)
    }

    /// The state and the reason of an event of the route that could run but for its turn.
    pub(super) fn waiting(&self, route: &str) -> (EventState, Option<String>) {
        match self.obstacle(route) {
            Some(obstacle) => (EventState::Held, Some(obstacle.to_owned())),
            None => (EventState::Queued, None),
        }
    }

    /// Where an event that is to be in `state` stands in face of its route's obstacle, where that is elsewhere: what would be
    /// queued is held, and when the route has gone so is what waits for its retry.
    pub(super) fn placed(
        &self,
        route: &str,
        state: EventState,
        due_at: Option<Millis>,
    ) -> Option<(EventState, Option<String>)> {
        let obstacle = self.obstacle(route)?;
        let retry_of_the_missing = state == EventState::Failed && due_at.is_some() && obstacle == MISSING;
        (state == EventState::Queued || retry_of_the_missing).then(|| self.waiting(route))
    }

    pub(super) fn pause(&mut self, route: &str) -> bool {
        let new = self.paused.insert(route.to_owned());
        self.settle();
        new
    }

    pub(super) fn resume(&mut self, route: &str) -> bool {
        let was = self.paused.remove(route);
        self.settle();
        was
    }

    pub(super) fn reconcile_routes(&mut self, known: &[String]) {
        self.routes = Some(known.iter().cloned().collect());
        self.settle();
    }

    /// What was held for its route is queued, then everything that its route keeps from running is held.
    fn settle(&mut self) {
        let placed: Vec<_> = self
            .events
            .iter()
            .map(|row| {
                let event = &row.shown;
                let for_its_route = matches!(event.reason.as_deref(), Some(MISSING | PAUSED));
                if event.state == EventState::Held && for_its_route {
                    return Some(self.waiting(&event.route));
                }
                self.placed(&event.route, event.state, event.due_at)
            })
            .collect();
        for (row, placed) in self.events.iter_mut().zip(placed) {
            if let Some((state, reason)) = placed {
                row.shown.state = state;
                row.shown.reason = reason;
            }
        }
    }
}
