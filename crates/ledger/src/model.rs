//! The ledger in memory: the same behaviour as the stores, written to be read as the specification.
//!
//! There are lists in order of arrival and a few facts beside them, no index and nothing worked out beforehand: whether an
//! event may run is asked anew each time. Every step first says why it would be refused and then changes what it changes,
//! so that a refused step leaves no trace. Tests use it where a file would only cost time.

mod data;
mod deliveries;
mod nodes;
mod queue;
mod repair;
mod routes;
mod views;

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use rules::states::EventState;

use crate::{
    Admission, Admitted, Boot, ClaimDeliveries, ClaimRuns, ClaimedDelivery, ClaimedRun, Delivery, DeliveryEnd,
    DeliveryQuery, Due, Error, Event, EventQuery, FinishRun, Finished, Ignored, Inheritance, Lease, Ledger, Millis,
    Node, OrphanRun, Page, Renewal, Run, RunQuery, Status, StoredRequest, StuckDelivery,
};
use data::Data;

/// A ledger that forgets everything when it is dropped.
#[derive(Debug)]
pub struct Model {
    /// `None` once it is closed.
    data: Mutex<Option<Data>>,
}

impl Default for Model {
    fn default() -> Model {
        Model::new()
    }
}

impl Model {
    /// An empty ledger.
    pub fn new() -> Model {
        Model { data: Mutex::new(Some(Data::default())) }
    }

    /// One step: nobody sees the data between its parts.
    fn step<T>(&self, work: impl FnOnce(&mut Data) -> Result<T, Error>) -> Result<T, Error> {
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        work(data.as_mut().ok_or(Error::Closed)?)
    }
}

#[async_trait]
impl Ledger for Model {
    async fn begin_boot(&self, name: &str, now: Millis) -> Result<Boot, Error> {
        self.step(|data| Ok(data.begin_boot(name, now)))
    }

    fn lease(&self) -> Option<Lease> {
        None
    }

    async fn renew(&self, boot: Boot) -> Result<Renewal, Error> {
        self.step(|data| Ok(if data.lives(boot) { Renewal::Kept { look_again: None } } else { Renewal::Lost }))
    }

    async fn inherit(&self, dead: Boot, heir: Boot) -> Result<Inheritance, Error> {
        self.step(|data| Ok(data.inherit(dead, heir)))
    }

    async fn end_boot(&self, boot: Boot) -> Result<(), Error> {
        self.step(|data| {
            data.end_boot(boot);
            Ok(())
        })
    }

    async fn nodes(&self) -> Result<Vec<Node>, Error> {
        self.step(|data| Ok(data.list_nodes()))
    }

    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    async fn admit(&self, admission: Admission) -> Result<Admitted, Error> {
        self.step(|data| data.admit(&admission))
    }

    async fn record_ignored(&self, ignored: Ignored) -> Result<(), Error> {
        self.step(|data| data.record_ignored(&ignored))
    }

    async fn claim_runs(&self, claim: ClaimRuns) -> Result<Vec<ClaimedRun>, Error> {
        self.step(|data| data.claim_runs(&claim))
    }

    async fn record_prompt(&self, run_id: &str, boot: Boot, prompt: &str) -> Result<bool, Error> {
        self.step(|data| Ok(data.record_prompt(run_id, boot, prompt)))
    }

    async fn finish_run(&self, finish: FinishRun) -> Result<Finished, Error> {
        self.step(|data| data.finish_run(&finish))
    }

    async fn claim_deliveries(&self, claim: ClaimDeliveries) -> Result<Vec<ClaimedDelivery>, Error> {
        self.step(|data| Ok(data.claim_deliveries(&claim)))
    }

    async fn finish_delivery(&self, end: DeliveryEnd) -> Result<bool, Error> {
        self.step(|data| data.finish_delivery(&end))
    }

    async fn due(&self) -> Result<Due, Error> {
        self.step(|data| Ok(data.due()))
    }

    async fn time(&self) -> Result<Option<Millis>, Error> {
        Ok(None)
    }

    async fn keep_time(&self, now: Millis, back: Option<Millis>) -> Result<Option<Millis>, Error> {
        self.step(|data| Ok(data.keep_time(now, back)))
    }

    async fn orphan_runs(&self, boot: Boot) -> Result<Vec<OrphanRun>, Error> {
        self.step(|data| Ok(data.orphan_runs(boot)))
    }

    async fn stuck_deliveries(&self, boot: Boot) -> Result<Vec<StuckDelivery>, Error> {
        self.step(|data| Ok(data.stuck_deliveries(boot)))
    }

    async fn under_way(&self, boot: Boot) -> Result<Inheritance, Error> {
        self.step(|data| Ok(data.under_way(boot)))
    }

    async fn adopt_delivery(&self, id: &str, boot: Boot) -> Result<bool, Error> {
        self.step(|data| Ok(data.adopt_delivery(id, boot)))
    }

    async fn pause(&self, route: &str, _now: Millis) -> Result<bool, Error> {
        self.step(|data| Ok(data.pause(route)))
    }

    async fn resume(&self, route: &str) -> Result<bool, Error> {
        self.step(|data| Ok(data.resume(route)))
    }

    async fn reconcile_routes(&self, known: &[String]) -> Result<(), Error> {
        self.step(|data| {
            data.reconcile_routes(known);
            Ok(())
        })
    }

    async fn cancel_event(&self, id: &str, reason: &str, now: Millis) -> Result<(), Error> {
        self.step(|data| data.cancel_event(id, reason, now))
    }

    async fn retry_event(&self, id: &str) -> Result<(), Error> {
        self.step(|data| data.retry_event(id))
    }

    async fn retry_delivery(&self, id: &str, now: Millis) -> Result<(), Error> {
        self.step(|data| data.retry_delivery(id, now))
    }

    async fn prune(&self, state: EventState, before: Millis, limit: u32) -> Result<u32, Error> {
        self.step(|data| Ok(data.prune(state, before, limit)))
    }

    async fn give_back(&self) -> Result<bool, Error> {
        self.step(|_| Ok(false))
    }

    async fn event(&self, id: &str) -> Result<Event, Error> {
        self.step(|data| data.show_event(id))
    }

    async fn request(&self, event_id: &str) -> Result<StoredRequest, Error> {
        self.step(|data| Ok(data.event(event_id)?.request.clone()))
    }

    async fn events(&self, query: EventQuery) -> Result<Page<Event>, Error> {
        self.step(|data| data.list_events(&query))
    }

    async fn run(&self, id: &str) -> Result<Run, Error> {
        self.step(|data| data.show_run(id))
    }

    async fn runs(&self, query: RunQuery) -> Result<Page<Run>, Error> {
        self.step(|data| data.list_runs(&query))
    }

    async fn delivery(&self, id: &str) -> Result<Delivery, Error> {
        self.step(|data| data.show_delivery(id))
    }

    async fn deliveries(&self, query: DeliveryQuery) -> Result<Page<Delivery>, Error> {
        self.step(|data| data.list_deliveries(&query))
    }

    async fn status(&self) -> Result<Status, Error> {
        self.step(|data| Ok(data.status()))
    }

    async fn probe(&self) -> Result<(), Error> {
        self.step(|_| Ok(()))
    }

    async fn close(&self) {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
