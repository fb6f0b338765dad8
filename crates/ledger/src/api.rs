//! The trait that every store implements.

pub mod admit;
pub mod deliveries;
pub mod error;
pub mod runs;
pub mod views;

use async_trait::async_trait;
use rules::states::EventState;

use crate::{
    Admission, Admitted, Boot, ClaimDeliveries, ClaimRuns, ClaimedDelivery, ClaimedRun, Delivery, DeliveryEnd,
    DeliveryQuery, Due, Error, Event, EventQuery, FinishRun, Finished, Ignored, Millis, OrphanRun, Page, Run, RunQuery,
    Status, StoredRequest, StuckDelivery,
};

/// The store of events, runs and deliveries, and the queue over them.
///
/// Each method is one atomic step. A method that answers `Ok` has committed what it says; after `Err` nothing of it is
/// stored. *Durable* methods answer only when the commit would survive a power cut; the others may be lost by one, which
/// then only repeats work that the product's promises allow to be repeated.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Begins a new life of this gateway and answers its number. Durable.
    async fn begin_boot(&self, now: Millis) -> Result<Boot, Error>;

    /// Judges the key, spends a rate token and stores the event, or says why not. While its route is paused, or is none of
    /// those told last, the event is stored as `held`. Durable.
    async fn admit(&self, admission: Admission) -> Result<Admitted, Error>;

    /// Records a request that a rule refused; it occupies no key. At most [`admit::IGNORED_KEPT`] a route are kept.
    async fn record_ignored(&self, ignored: Ignored) -> Result<(), Error>;

    /// Starts runs for the best ready events of routes and agents with room, at most one for each offered run id.
    ///
    /// Larger `priority` first, then arrival. Events that have become due are made ready first.
    async fn claim_runs(&self, claim: ClaimRuns) -> Result<Vec<ClaimedRun>, Error>;

    /// Keeps the prompt that a claimed run is given. Answers `false` when the run is no longer this boot's.
    async fn record_prompt(&self, run_id: &str, boot: Boot, prompt: &str) -> Result<bool, Error>;

    /// Ends a run: outcome, answer, what becomes of the event, and its deliveries, in one step. An event that would wait is
    /// `held` while its route is paused or gone. [`Error::Conflict`] when a state is none that an end can lead to. Durable.
    async fn finish_run(&self, finish: FinishRun) -> Result<Finished, Error>;

    /// Takes deliveries that are due and marks them `sending`. Durable: it commits before the first byte is sent.
    async fn claim_deliveries(&self, claim: ClaimDeliveries) -> Result<Vec<ClaimedDelivery>, Error>;

    /// Records how an attempt of a delivery ended. Answers `false` when the delivery is no longer this boot's.
    /// [`Error::Conflict`] when its state is none that an attempt can lead to.
    async fn finish_delivery(&self, end: DeliveryEnd) -> Result<bool, Error>;

    /// When the next event and the next delivery become due.
    async fn due(&self) -> Result<Due, Error>;

    /// Runs that an earlier boot left `running`.
    async fn orphan_runs(&self, boot: Boot) -> Result<Vec<OrphanRun>, Error>;

    /// Deliveries that an earlier boot left `sending`.
    async fn stuck_deliveries(&self, boot: Boot) -> Result<Vec<StuckDelivery>, Error>;

    /// Takes over a delivery that an earlier boot left `sending`, so that this boot may end it. `false`: it has gone.
    async fn adopt_delivery(&self, id: &str, boot: Boot) -> Result<bool, Error>;

    /// Holds a route: what waits and what comes is `held` with reason `paused`. `false`: it was paused already. Durable.
    async fn pause(&self, route: &str, now: Millis) -> Result<bool, Error>;

    /// Frees a route that was paused. `false`: it was not paused. Durable.
    async fn resume(&self, route: &str) -> Result<bool, Error>;

    /// Tells which routes exist now: what waits of others is `held` with reason `route_missing`, and freed when theirs returns.
    /// The ledger remembers them, and what comes to wait later is held alike; until it is told once, no route is missing. A
    /// time that an event waits for goes on meanwhile, here as in a pause.
    async fn reconcile_routes(&self, known: &[String]) -> Result<(), Error>;

    /// Ends an event that waits as `cancelled` with `reason`. [`Error::NotFound`], or [`Error::Conflict`] when it runs or has ended. Durable.
    async fn cancel_event(&self, id: &str, reason: &str, now: Millis) -> Result<(), Error>;

    /// Queues an event that ended without success, or waits for its retry, to run again at once, with its retries restored.
    /// [`Error::NotFound`], or [`Error::Conflict`] when it is held, is queued, runs, was ignored or has succeeded, or when
    /// another event has taken its key over and is under way or has succeeded. Else it takes its key again. Durable.
    async fn retry_event(&self, id: &str) -> Result<(), Error>;

    /// Makes a delivery that ended `exhausted` or `unknown`, or waits for its retry, due now, with its attempts restored. Durable.
    async fn retry_delivery(&self, id: &str, now: Millis) -> Result<(), Error>;

    /// Removes at most `limit` events that ended in `state` before `before` and have no open delivery, the longest ended first,
    /// with all that hangs on them, their keys included, and answers how many went.
    async fn prune(&self, state: EventState, before: Millis, limit: u32) -> Result<u32, Error>;

    /// Gives a little of the room that removed events have left back to the disk, when there is much of it. Whether there is
    /// more to give.
    async fn give_back(&self) -> Result<bool, Error>;

    /// One event. [`Error::NotFound`] names it.
    async fn event(&self, id: &str) -> Result<Event, Error>;

    /// The request of an event as it was stored.
    async fn request(&self, event_id: &str) -> Result<StoredRequest, Error>;

    /// Events, newest first.
    async fn events(&self, query: EventQuery) -> Result<Page<Event>, Error>;

    /// One run with its texts.
    async fn run(&self, id: &str) -> Result<Run, Error>;

    /// Runs, newest first, long texts cut as [`views::listed`] does.
    async fn runs(&self, query: RunQuery) -> Result<Page<Run>, Error>;

    /// One delivery with its text.
    async fn delivery(&self, id: &str) -> Result<Delivery, Error>;

    /// Deliveries, newest first, long texts cut as [`views::listed`] does.
    async fn deliveries(&self, query: DeliveryQuery) -> Result<Page<Delivery>, Error>;

    /// Counts by state, and the paused routes.
    async fn status(&self) -> Result<Status, Error>;

    /// Whether an event could be stored at this moment: there is room, and a small write commits. Nothing that is shown
    /// changes by it. [`Error::DiskLow`], or why the write failed.
    async fn probe(&self) -> Result<(), Error>;

    /// Finishes what was handed in, closes the store and lets go of its files; later calls answer [`Error::Closed`].
    async fn close(&self);
}
