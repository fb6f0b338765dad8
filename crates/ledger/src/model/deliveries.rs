//! From an answer to its targets.

use rules::states::DeliveryState;

use super::data::Data;
use crate::{Boot, ClaimDeliveries, ClaimedDelivery, DeliveryEnd, Error, StuckDelivery};

impl Data {
    pub(super) fn claim_deliveries(&mut self, claim: &ClaimDeliveries) -> Vec<ClaimedDelivery> {
        let mut claimed = Vec::new();
        if !self.lives(claim.boot) {
            return claimed;
        }
        for target in &claim.targets {
            let mut due: Vec<_> = self
                .deliveries
                .iter()
                .filter(|d| d.shown.target == target.target)
                .filter_map(|d| d.shown.due_at.filter(|at| *at <= claim.now).map(|at| (at, d.seq, d.shown.id.clone())))
                .collect();
            due.sort();
            due.truncate(usize::try_from(target.room).unwrap_or(usize::MAX));
            claimed.extend(due.into_iter().filter_map(|(_, _, id)| self.take(&id, claim.boot).ok()));
        }
        claimed
    }

    fn take(&mut self, id: &str, boot: Boot) -> Result<ClaimedDelivery, Error> {
        let row = self.delivery_mut(id)?;
        row.boot = Some(boot);
        row.spent += 1;
        row.shown.attempts += 1;
        row.shown.state = DeliveryState::Sending;
        row.shown.due_at = None;
        let (spent, extra, delivery) = (row.spent, row.extra.clone(), row.shown.clone());
        let event = &self.event(&delivery.event_id)?.shown;
        Ok(ClaimedDelivery {
            id: delivery.id,
            attempt: delivery.attempts,
            spent,
            target: delivery.target,
            event_id: delivery.event_id,
            run_id: delivery.run_id,
            route: delivery.route,
            event_type: event.event.clone(),
            provider_delivery_id: event.delivery_id.clone(),
            hop: event.hop,
            content: delivery.content.unwrap_or_default(),
            extra,
            created_at: delivery.created_at,
        })
    }

    /// Only the life that took the delivery, or has taken it over, may end the attempt.
    pub(super) fn finish_delivery(&mut self, end: &DeliveryEnd) -> Result<bool, Error> {
        end.check()?;
        if !self.lives(end.boot) {
            return Ok(false);
        }
        let Ok(row) = self.delivery_mut(&end.id) else { return Ok(false) };
        let delivery = &mut row.shown;
        if delivery.state != DeliveryState::Sending || row.boot != Some(end.boot) || delivery.attempts != end.attempt {
            return Ok(false);
        }
        delivery.state = end.state;
        delivery.error.clone_from(&end.error);
        delivery.due_at = end.due_at.filter(|_| !end.state.is_finished());
        delivery.delivered_at = (end.state == DeliveryState::Delivered).then_some(end.now);
        Ok(true)
    }

    pub(super) fn stuck_deliveries(&self, boot: Boot) -> Vec<StuckDelivery> {
        self.stuck_deliveries_of(|of| self.is_left_to(boot, of))
    }

    pub(super) fn stuck_deliveries_of(&self, whose: impl Fn(Boot) -> bool) -> Vec<StuckDelivery> {
        let left = |state, of: Option<Boot>| state == DeliveryState::Sending && of.is_some_and(&whose);
        let stuck = self.deliveries.iter().filter(|d| left(d.shown.state, d.boot)).map(|d| d.shown.clone());
        stuck.map(|d| StuckDelivery { id: d.id, attempt: d.attempts, target: d.target }).collect()
    }

    pub(super) fn adopt_delivery(&mut self, id: &str, boot: Boot) -> bool {
        let is_stuck = self.lives(boot) && self.stuck_deliveries(boot).iter().any(|d| d.id == id);
        if is_stuck && let Ok(row) = self.delivery_mut(id) {
            row.boot = Some(boot);
        }
        is_stuck
    }
}
