//! The trait that every store implements.

pub mod admit;
pub mod deliveries;
pub mod error;
pub mod nodes;
pub mod runs;
pub mod views;

use async_trait::async_trait;
use rules::states::EventState;

use crate::{
    Admission, Admitted, Boot, ClaimDeliveries, ClaimRuns, ClaimedDelivery, ClaimedRun, Delivery, DeliveryEnd,
    DeliveryQuery, Due, Error, Event, EventQuery, FinishRun, Finished, Ignored, Inheritance, Lease, Millis, Node,
    OrphanRun, Page, Renewal, Run, RunQuery, Status, StoredRequest, StuckDelivery,
};

/// The store of events, runs and deliveries, and the queue over them.
///
/// Each method is one atomic step. A method that answers `Ok` has committed what it says; after `Err` nothing of it is
/// stored, save that after [`Error::Away`] all of it may be: the answer can have been lost. *Durable* methods answer only when the
/// commit would survive a power cut; the others may be lost by one that ends the gateway too, which then only repeats work that the
/// product's promises allow to be repeated. Where the gateway may outlive the store's power cut, `claim_runs`, `renew` and
/// `finish_delivery` are durable as well.
///
/// Bodies, prompts, answers and headers come back as they were. Other texts do too, but a store that has no NUL character in texts
/// keeps its picture (U+2400) in its place, and finds what was stored so by the text with NUL.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Begins a new life of a node and answers its number. `name` is for people: `server.name` or the host's name. Durable.
    async fn begin_boot(&self, name: &str, now: Millis) -> Result<Boot, Error>;

    /// What a boot must do to go on living; `None` where it lives for as long as the store is open, and nothing need be done.
    fn lease(&self) -> Option<Lease>;

    /// Renews a boot's lease. A lease that has ended is taken up again as long as nobody has taken over anything of the boot's;
    /// after the first such step the boot lives no more, and the node begins another one.
    async fn renew(&self, boot: Boot) -> Result<Renewal, Error>;

    /// Ends a boot that is known to be dead, and passes to `heir` what it left under way: nobody else can take that over, and the
    /// heir deals with it before it claims anything. Nothing happens when the heir does not live.
    async fn inherit(&self, dead: Boot, heir: Boot) -> Result<Inheritance, Error>;

    /// Ends a boot at once, its own or that of a node known to be dead. What it has under way may be taken over from now on.
    async fn end_boot(&self, boot: Boot) -> Result<(), Error>;

    /// The boots that live, and those that do not but left something that nobody has taken over yet; oldest first.
    async fn nodes(&self) -> Result<Vec<Node>, Error>;

    /// Waits until another node may have made work ready. A store of a single node waits for ever; one that cannot be told by
    /// the others returns every few seconds. Only a hint: what was ready before the call is not waited for.
    async fn changed(&self);

    /// Judges the key, spends a rate token and stores the event, or says why not. While its route is paused, or is none of
    /// those told last, the event is stored as `held`. Durable.
    async fn admit(&self, admission: Admission) -> Result<Admitted, Error>;

    /// Records a request that a rule refused; it occupies no key. At most [`admit::IGNORED_KEPT`] a route are kept.
    async fn record_ignored(&self, ignored: Ignored) -> Result<(), Error>;

    /// Starts runs for the best ready events of routes and agents with room, at most one for each offered run id.
    ///
    /// Larger `priority` first, then arrival. Events that have become due are made ready first. A boot that does not live is
    /// given nothing.
    async fn claim_runs(&self, claim: ClaimRuns) -> Result<Vec<ClaimedRun>, Error>;

    /// Keeps the prompt that a claimed run is given. Answers `false` when the run is no longer this boot's, or it lives no more.
    async fn record_prompt(&self, run_id: &str, boot: Boot, prompt: &str) -> Result<bool, Error>;

    /// Ends a run: outcome, answer, what becomes of the event, and its deliveries, in one step. An event that would wait is
    /// `held` while its route is paused or gone. Written when the run is in flight, its attempt fits, `boot` lives, and the run
    /// is its own or that of a boot which does not live. [`Error::Conflict`] when a state is none that an end can lead to. Durable.
    async fn finish_run(&self, finish: FinishRun) -> Result<Finished, Error>;

    /// Takes deliveries that are due and marks them `sending`. A boot that does not live is given none. Durable: it commits
    /// before the first byte is sent.
    async fn claim_deliveries(&self, claim: ClaimDeliveries) -> Result<Vec<ClaimedDelivery>, Error>;

    /// Records how an attempt of a delivery ended. Answers `false` when the delivery is no longer this boot's, or it lives no more.
    /// [`Error::Conflict`] when its state is none that an attempt can lead to.
    async fn finish_delivery(&self, end: DeliveryEnd) -> Result<bool, Error>;

    /// When the next event and the next delivery become due.
    async fn due(&self) -> Result<Due, Error>;

    /// What the store's own clock says, by which all its nodes go; `None`: it has none, and its one node goes by its machine's.
    async fn time(&self) -> Result<Option<Millis>, Error>;

    /// Notes what the wall clock says, and answers what was noted before. `back` is how far the clock has been set back since
    /// then, in milliseconds; `None`: as far as the note lies ahead. What waits for a time then waits for one that is so much
    /// earlier, which is as long as before.
    async fn keep_time(&self, now: Millis, back: Option<Millis>) -> Result<Option<Millis>, Error>;

    /// Runs that other boots left `running` and that do not live, oldest first.
    async fn orphan_runs(&self, boot: Boot) -> Result<Vec<OrphanRun>, Error>;

    /// Deliveries that other boots left `sending` and that do not live, oldest first.
    async fn stuck_deliveries(&self, boot: Boot) -> Result<Vec<StuckDelivery>, Error>;

    /// What a boot has under way, oldest first. Here the node finds what it was given by a claim whose answer was lost on the way.
    async fn under_way(&self, boot: Boot) -> Result<Inheritance, Error>;

    /// Takes over a delivery that a boot which does not live left `sending`, so that this boot may end it. `false`: it has gone,
    /// or this boot does not live.
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
