//! The store's face: connecting, and each task as one transaction.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rules::states::EventState;
use tokio::task::JoinSet;

use super::admit::Request;
use super::batches::Batches;
use super::finish::Texts;
use super::link::{Kind, Link};
use super::wake::Wake;
use super::{
    AddressError, Failure, TRIES, address, claim, deliver, finish, nodes, recover, repair, routes, schema, time, tls,
    views,
};
use crate::sqlite::blob;
use crate::{
    Admission, Admitted, Boot, ClaimDeliveries, ClaimRuns, ClaimedDelivery, ClaimedRun, Delivery, DeliveryEnd,
    DeliveryQuery, Due, Error, Event, EventQuery, FinishRun, Finished, Ignored, Inheritance, Lease, Ledger, Millis,
    Node, OrphanRun, Page, Renewal, Run, RunQuery, Status, StoredRequest, StuckDelivery,
};

/// How the database is used.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Connections that this node may have open, one more for listening aside; at least 4.
    pub connections: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { connections: 10 }
    }
}

/// Why a ledger was not opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The database cannot be reached, or its schema is not for us.
    #[error("the database of the ledger: {0}")]
    Database(Error),
}

/// A ledger in a PostgreSQL database.
pub struct Store {
    link: Link,
    batches: Batches,
    wake: Arc<Wake>,
    tasks: Mutex<JoinSet<()>>,
}

impl Store {
    /// Connects to the database of `url` and brings its schema up to date. In the URL, `sslmode` is `disable`, `prefer`,
    /// `require` or `verify-full`, and `sslrootcert` names a file of certificates that vouch for the server.
    pub async fn connect(url: &str, options: &Options) -> Result<Store, ConnectError> {
        let address = address::read(url)?;
        let tls = tls::connector(&address.trust)?;
        let link = Link::new(address.config.clone(), tls.clone(), options.connections.max(4))
            .map_err(ConnectError::Database)?;
        schema::migrate(&link).await.map_err(ConnectError::Database)?;
        let tx = link.begin(Kind::Read).await.map_err(|failure| ConnectError::Database(failure.into()))?;
        let outcome = schema::refuse_unfinished(&tx).await;
        tx.end(outcome).await.map_err(|failure| ConnectError::Database(failure.into()))?;
        let wake = Wake::new(uuid::Uuid::now_v7().to_string());
        let tasks = Mutex::new(wake.start(&link, address.config, tls));
        let batches = Batches::start(&link, &wake);
        Ok(Store { link, batches, wake, tasks })
    }
}

/// A transaction that is begun once more when it stood in another one's way.
macro_rules! step {
    ($store:ident, $kind:expr, $tx:ident => $work:expr) => {{
        let mut tries = 0;
        loop {
            let $tx = $store.link.begin($kind).await?;
            let outcome = $work.await;
            match $tx.end(outcome).await {
                Err(Failure::Again(_)) if tries < TRIES => tries += 1,
                ended => break ended,
            }
        }
    }};
}

/// A read: a transaction whose views fit together.
macro_rules! read {
    ($store:ident, $tx:ident => $work:expr) => {
        Ok(step!($store, Kind::Read, $tx => $work)?)
    };
}

/// A step after which another node may find work.
macro_rules! told {
    ($store:ident, $kind:expr, $tx:ident => $work:expr) => {{
        let value = step!($store, $kind, $tx => $work)?;
        $store.wake.tell();
        Ok(value)
    }};
}

#[async_trait]
impl Ledger for Store {
    async fn begin_boot(&self, name: &str, now: Millis) -> Result<Boot, Error> {
        Ok(step!(self, Kind::Durable, tx => nodes::begin_boot(&tx, self.wake.process(), name, now))?)
    }

    fn lease(&self) -> Option<Lease> {
        Some(nodes::LEASE)
    }

    async fn renew(&self, boot: Boot) -> Result<Renewal, Error> {
        Ok(step!(self, Kind::Durable, tx => nodes::renew(&tx, boot))?)
    }

    async fn inherit(&self, dead: Boot, heir: Boot) -> Result<Inheritance, Error> {
        Ok(step!(self, Kind::Relaxed, tx => recover::inherit(&tx, dead, heir))?)
    }

    async fn end_boot(&self, boot: Boot) -> Result<(), Error> {
        told!(self, Kind::Relaxed, tx => nodes::end_boot(&tx, boot))
    }

    async fn nodes(&self) -> Result<Vec<Node>, Error> {
        read!(self, tx => nodes::list(&tx))
    }

    async fn changed(&self) {
        self.wake.changed().await;
    }

    async fn admit(&self, admission: Admission) -> Result<Admitted, Error> {
        self.batches.store(Request::admission(admission)?).await
    }

    async fn record_ignored(&self, ignored: Ignored) -> Result<(), Error> {
        self.batches.store(Request::ignored(ignored)?).await.map(drop)
    }

    async fn claim_runs(&self, claim: ClaimRuns) -> Result<Vec<ClaimedRun>, Error> {
        Ok(step!(self, Kind::QueueDurable, tx => claim::claim_runs(&tx, &claim))?)
    }

    async fn record_prompt(&self, run_id: &str, boot: Boot, prompt: &str) -> Result<bool, Error> {
        let prompt = blob::pack_text(prompt);
        Ok(step!(self, Kind::Relaxed, tx => claim::record_prompt(&tx, run_id, boot, &prompt))?)
    }

    async fn finish_run(&self, finish: FinishRun) -> Result<Finished, Error> {
        let texts = Texts::new(&finish);
        told!(self, Kind::QueueDurable, tx => finish::finish_run(&tx, &finish, &texts))
    }

    async fn claim_deliveries(&self, claim: ClaimDeliveries) -> Result<Vec<ClaimedDelivery>, Error> {
        Ok(step!(self, Kind::Durable, tx => deliver::claim_deliveries(&tx, &claim))?)
    }

    async fn finish_delivery(&self, end: DeliveryEnd) -> Result<bool, Error> {
        Ok(step!(self, Kind::Durable, tx => deliver::finish_delivery(&tx, &end))?)
    }

    async fn due(&self) -> Result<Due, Error> {
        read!(self, tx => views::status::due(&tx))
    }

    async fn time(&self) -> Result<Option<Millis>, Error> {
        read!(self, tx => async { time::time(&tx).await.map(Some) })
    }

    async fn keep_time(&self, now: Millis, back: Option<Millis>) -> Result<Option<Millis>, Error> {
        Ok(step!(self, Kind::QueueRelaxed, tx => time::keep_time(&tx, now, back))?)
    }

    async fn orphan_runs(&self, boot: Boot) -> Result<Vec<OrphanRun>, Error> {
        read!(self, tx => recover::orphan_runs(&tx, boot))
    }

    async fn stuck_deliveries(&self, boot: Boot) -> Result<Vec<StuckDelivery>, Error> {
        read!(self, tx => recover::stuck_deliveries(&tx, boot))
    }

    async fn under_way(&self, boot: Boot) -> Result<Inheritance, Error> {
        read!(self, tx => recover::under_way(&tx, boot))
    }

    async fn adopt_delivery(&self, id: &str, boot: Boot) -> Result<bool, Error> {
        Ok(step!(self, Kind::Relaxed, tx => recover::adopt_delivery(&tx, id, boot))?)
    }

    async fn pause(&self, route: &str, now: Millis) -> Result<bool, Error> {
        Ok(step!(self, Kind::Routes, tx => routes::pause(&tx, route, now))?)
    }

    async fn resume(&self, route: &str) -> Result<bool, Error> {
        told!(self, Kind::Routes, tx => routes::resume(&tx, route))
    }

    async fn reconcile_routes(&self, known: &[String]) -> Result<(), Error> {
        told!(self, Kind::Routes, tx => routes::reconcile(&tx, known))
    }

    async fn cancel_event(&self, id: &str, reason: &str, now: Millis) -> Result<(), Error> {
        told!(self, Kind::QueueDurable, tx => repair::cancel_event(&tx, id, reason, now))
    }

    async fn retry_event(&self, id: &str) -> Result<(), Error> {
        told!(self, Kind::QueueDurable, tx => repair::retry_event(&tx, id))
    }

    async fn retry_delivery(&self, id: &str, now: Millis) -> Result<(), Error> {
        told!(self, Kind::Durable, tx => repair::retry_delivery(&tx, id, now))
    }

    async fn prune(&self, state: EventState, before: Millis, limit: u32) -> Result<u32, Error> {
        Ok(step!(self, Kind::Relaxed, tx => repair::prune(&tx, state, before, limit))?)
    }

    async fn give_back(&self) -> Result<bool, Error> {
        // The database's own business.
        Ok(false)
    }

    async fn event(&self, id: &str) -> Result<Event, Error> {
        read!(self, tx => views::events::event(&tx, id))
    }

    async fn request(&self, event_id: &str) -> Result<StoredRequest, Error> {
        read!(self, tx => views::events::request(&tx, event_id))
    }

    async fn events(&self, query: EventQuery) -> Result<Page<Event>, Error> {
        read!(self, tx => views::events::events(&tx, &query))
    }

    async fn run(&self, id: &str) -> Result<Run, Error> {
        read!(self, tx => views::runs::run(&tx, id))
    }

    async fn runs(&self, query: RunQuery) -> Result<Page<Run>, Error> {
        read!(self, tx => views::runs::runs(&tx, &query))
    }

    async fn delivery(&self, id: &str) -> Result<Delivery, Error> {
        read!(self, tx => views::deliveries::delivery(&tx, id))
    }

    async fn deliveries(&self, query: DeliveryQuery) -> Result<Page<Delivery>, Error> {
        read!(self, tx => views::deliveries::deliveries(&tx, &query))
    }

    async fn status(&self) -> Result<Status, Error> {
        read!(self, tx => views::status::status(&tx))
    }

    async fn probe(&self) -> Result<(), Error> {
        // A shard of the backend's own, as counters have: probes of several nodes do not wait for each other.
        Ok(step!(self, Kind::Relaxed, tx => tx.batch("SELECT count_by('probes', 1)"))?)
    }

    async fn close(&self) {
        self.batches.close().await;
        self.wake.tell_the_last(&self.link).await;
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        self.link.close();
    }
}
