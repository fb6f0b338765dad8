//! The store's face: options, opening, and each task handed to the writer or a reader.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use rules::states::EventState;
use rusqlite::Connection;

use super::admit::Packed;
use super::files::{self, Files};
use super::finish::Texts;
use super::lock::{Lock, LockError};
use super::log::Log;
use super::readers::Readers;
use super::space::Space;
use super::writer::{Flush, Place, Writer};
use super::{admit, blob, claim, connect, deliver, finish, nodes, recover, repair, routes, schema, space, time, views};
use crate::{
    Admission, Admitted, Boot, ClaimDeliveries, ClaimRuns, ClaimedDelivery, ClaimedRun, Delivery, DeliveryEnd,
    DeliveryQuery, Due, Error, Event, EventQuery, FinishRun, Finished, Ignored, Inheritance, Lease, Ledger, Millis,
    Node, OrphanRun, Page, Renewal, Run, RunQuery, Status, StoredRequest, StuckDelivery,
};

/// What a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The disk: an accepted event survives a power cut.
    Full,
    /// The operating system: it survives the process, not the machine.
    Normal,
}

/// Where the ledger is and how careful it is.
#[derive(Debug, Clone)]
pub struct Options {
    /// The home folder: `doorbell.lock` is in it.
    pub home: PathBuf,
    /// The database, `doorbell.db` in the home unless told otherwise.
    pub path: PathBuf,
    /// What a commit waits for.
    pub durability: Durability,
    /// Bytes that must stay free on the disk for new events to be taken; 0 = never mind.
    pub min_free: u64,
    /// How long to wait for another owner to let go.
    pub patience: Duration,
}

/// Why a ledger was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody else owns it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file cannot be used.
    #[error("{path}: {error}")]
    File {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        error: Error,
    },
}

/// A ledger in one SQLite file.
pub struct Store {
    writer: Writer,
    readers: Readers,
    space: Space,
    files: Arc<Files>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the ledger of a home, making it when it is not there. Blocks the thread, for at most `patience` on the lock.
    pub fn open(options: &Options) -> Result<Store, OpenError> {
        let (Owned(locks), connection) = Owned::open(options, None)?;
        let path = options.path.clone();
        let at = |error| OpenError::File { path: path.clone(), error };
        schema::refuse_unfinished(&connection).map_err(at)?;
        let log = Log::new();
        let files = Arc::new(Files::watch(&path, locks.iter().map(Lock::path)));
        let power_safe = options.durability == Durability::Full;
        let place = Place { path: path.clone(), files: Arc::clone(&files), log: Arc::clone(&log) };
        let (writer, thread) = Writer::start(place, locks, power_safe).map_err(at)?;
        // Not before the writer has one of its own: the last connection that closes takes the log's file with it.
        drop(connection);
        Ok(Store {
            writer,
            readers: Readers::new(path, Arc::clone(&files)),
            files,
            space: Space::new(options.path.parent().unwrap_or(&options.home).to_owned(), options.min_free, log),
            thread: Mutex::new(Some(thread)),
        })
    }
}

/// The locks of a file, held while this value lives.
pub(crate) struct Owned(Vec<Lock>);

impl Owned {
    /// Takes the file of a ledger, making it when it is not there, and brings its schema up to date. What `beside` has
    /// locked need not be locked again: two files of one home.
    pub(crate) fn open(options: &Options, beside: Option<&Owned>) -> Result<(Owned, Connection), OpenError> {
        let locks = lock(options, beside.map_or(&[], |owned| &owned.0))?;
        let at = |error| OpenError::File { path: options.path.clone(), error };
        files::prepare(&options.path).map_err(at)?;
        let mut connection = connect(&options.path, false).map_err(at)?;
        schema::migrate(&mut connection).map_err(at)?;
        Ok((Owned(locks), connection))
    }
}

/// The lock of the home, and one beside the database when that is elsewhere: two homes must not share a file.
fn lock(options: &Options, held: &[Lock]) -> Result<Vec<Lock>, LockError> {
    let mut paths = vec![options.home.join("doorbell.lock"), options.path.with_extension("lock")];
    paths.dedup();
    paths.retain(|path| held.iter().all(|lock| lock.path() != path));
    paths.iter().map(|path| Lock::take(path, options.patience)).collect()
}

#[cfg(test)]
impl Store {
    /// Runs SQL on the write connection, where settings of a connection are to be changed.
    pub(super) async fn on_writer(&self, sql: &'static str) -> Result<(), Error> {
        self.writer.write(Flush::Relaxed, 0, move |c| c.execute_batch(sql).map_err(super::failed)).await
    }

    /// A step in which the writer's thread panics.
    pub(super) async fn break_off(&self) -> Result<(), Error> {
        self.writer.write(Flush::Relaxed, 0, |_| panic!("wanted by a test")).await
    }
}

/// About what a step without texts writes.
const SMALL: usize = 512;

#[async_trait]
impl Ledger for Store {
    async fn begin_boot(&self, name: &str, now: Millis) -> Result<Boot, Error> {
        let name = name.to_owned();
        self.writer.write(Flush::Durable, SMALL, move |c| nodes::begin_boot(c, &name, now)).await
    }

    fn lease(&self) -> Option<Lease> {
        None
    }

    async fn renew(&self, boot: Boot) -> Result<Renewal, Error> {
        self.readers.read(move |c| nodes::renew(c, boot)).await
    }

    async fn inherit(&self, dead: Boot, heir: Boot) -> Result<Inheritance, Error> {
        self.writer.write(Flush::Relaxed, SMALL, move |c| recover::inherit(c, dead, heir)).await
    }

    async fn end_boot(&self, boot: Boot) -> Result<(), Error> {
        self.writer.write(Flush::Relaxed, SMALL, move |c| nodes::end_boot(c, boot)).await
    }

    async fn nodes(&self) -> Result<Vec<Node>, Error> {
        self.readers.read(nodes::list).await
    }

    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    async fn admit(&self, admission: Admission) -> Result<Admitted, Error> {
        self.files.check_sound()?;
        self.space.check()?;
        let packed = Packed::new(&admission.event.request)?;
        self.writer.write(Flush::Durable, packed.bytes(), move |c| admit::admit(c, &admission, &packed)).await
    }

    async fn record_ignored(&self, ignored: Ignored) -> Result<(), Error> {
        self.files.check_sound()?;
        self.space.check()?;
        let packed = Packed::new(&ignored.event.request)?;
        self.writer.write(Flush::Relaxed, packed.bytes(), move |c| admit::record_ignored(c, &ignored, &packed)).await
    }

    async fn claim_runs(&self, claim: ClaimRuns) -> Result<Vec<ClaimedRun>, Error> {
        self.files.check_sound()?;
        self.writer.write(Flush::Relaxed, SMALL, move |c| claim::claim_runs(c, &claim)).await
    }

    async fn record_prompt(&self, run_id: &str, boot: Boot, prompt: &str) -> Result<bool, Error> {
        let (run_id, prompt) = (run_id.to_owned(), blob::pack_text(prompt));
        self.writer.write(Flush::Relaxed, prompt.len(), move |c| claim::record_prompt(c, &run_id, boot, &prompt)).await
    }

    async fn finish_run(&self, finish: FinishRun) -> Result<Finished, Error> {
        let texts = Texts::new(&finish);
        self.writer.write(Flush::Durable, texts.bytes(), move |c| finish::finish_run(c, &finish, &texts)).await
    }

    async fn claim_deliveries(&self, claim: ClaimDeliveries) -> Result<Vec<ClaimedDelivery>, Error> {
        self.files.check_sound()?;
        self.writer.write(Flush::Durable, SMALL, move |c| deliver::claim_deliveries(c, &claim)).await
    }

    async fn finish_delivery(&self, end: DeliveryEnd) -> Result<bool, Error> {
        self.writer.write(Flush::Relaxed, SMALL, move |c| deliver::finish_delivery(c, &end)).await
    }

    async fn due(&self) -> Result<Due, Error> {
        self.readers.read(views::due).await
    }

    async fn time(&self) -> Result<Option<Millis>, Error> {
        Ok(None)
    }

    async fn keep_time(&self, now: Millis, back: Option<Millis>) -> Result<Option<Millis>, Error> {
        self.writer.write(Flush::Relaxed, SMALL, move |c| time::keep_time(c, now, back)).await
    }

    async fn orphan_runs(&self, boot: Boot) -> Result<Vec<OrphanRun>, Error> {
        self.readers.read(move |c| recover::orphan_runs(c, boot)).await
    }

    async fn stuck_deliveries(&self, boot: Boot) -> Result<Vec<StuckDelivery>, Error> {
        self.readers.read(move |c| recover::stuck_deliveries(c, boot)).await
    }

    async fn under_way(&self, boot: Boot) -> Result<Inheritance, Error> {
        self.readers.read(move |c| recover::under_way(c, boot)).await
    }

    async fn adopt_delivery(&self, id: &str, boot: Boot) -> Result<bool, Error> {
        let id = id.to_owned();
        self.writer.write(Flush::Relaxed, SMALL, move |c| recover::adopt_delivery(c, &id, boot)).await
    }

    async fn pause(&self, route: &str, now: Millis) -> Result<bool, Error> {
        let route = route.to_owned();
        self.writer.write(Flush::Durable, SMALL, move |c| routes::pause(c, &route, now)).await
    }

    async fn resume(&self, route: &str) -> Result<bool, Error> {
        let route = route.to_owned();
        self.writer.write(Flush::Durable, SMALL, move |c| routes::resume(c, &route)).await
    }

    async fn reconcile_routes(&self, known: &[String]) -> Result<(), Error> {
        let known = known.to_vec();
        self.writer.write(Flush::Relaxed, SMALL, move |c| routes::reconcile(c, &known)).await
    }

    async fn cancel_event(&self, id: &str, reason: &str, now: Millis) -> Result<(), Error> {
        let (id, reason) = (id.to_owned(), reason.to_owned());
        self.writer.write(Flush::Durable, SMALL, move |c| repair::cancel_event(c, &id, &reason, now)).await
    }

    async fn retry_event(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.writer.write(Flush::Durable, SMALL, move |c| repair::retry_event(c, &id)).await
    }

    async fn retry_delivery(&self, id: &str, now: Millis) -> Result<(), Error> {
        let id = id.to_owned();
        self.writer.write(Flush::Durable, SMALL, move |c| repair::retry_delivery(c, &id, now)).await
    }

    async fn prune(&self, state: EventState, before: Millis, limit: u32) -> Result<u32, Error> {
        self.writer.write(Flush::Relaxed, SMALL, move |c| repair::prune(c, state, before, limit)).await
    }

    async fn give_back(&self) -> Result<bool, Error> {
        self.writer.write(Flush::Relaxed, SMALL, repair::give_back).await
    }

    async fn event(&self, id: &str) -> Result<Event, Error> {
        let id = id.to_owned();
        self.readers.read(move |c| views::event(c, &id)).await
    }

    async fn request(&self, event_id: &str) -> Result<StoredRequest, Error> {
        let id = event_id.to_owned();
        self.readers.read(move |c| views::request(c, &id)).await
    }

    async fn events(&self, query: EventQuery) -> Result<Page<Event>, Error> {
        self.readers.read(move |c| views::events(c, &query)).await
    }

    async fn run(&self, id: &str) -> Result<Run, Error> {
        let id = id.to_owned();
        self.readers.read(move |c| views::run(c, &id)).await
    }

    async fn runs(&self, query: RunQuery) -> Result<Page<Run>, Error> {
        self.readers.read(move |c| views::runs(c, &query)).await
    }

    async fn delivery(&self, id: &str) -> Result<Delivery, Error> {
        let id = id.to_owned();
        self.readers.read(move |c| views::delivery(c, &id)).await
    }

    async fn deliveries(&self, query: DeliveryQuery) -> Result<Page<Delivery>, Error> {
        self.readers.read(move |c| views::deliveries(c, &query)).await
    }

    async fn status(&self) -> Result<Status, Error> {
        self.readers.read(views::status).await
    }

    async fn probe(&self) -> Result<(), Error> {
        self.files.check_sound()?;
        self.space.check()?;
        self.writer.write(Flush::Relaxed, SMALL, space::try_write).await
    }

    async fn close(&self) {
        self.readers.close();
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let writer = self.writer.clone();
            // The writer ends after what was handed in; waiting for it here blocks no other task.
            let ended = tokio::task::spawn_blocking(move || {
                writer.close();
                thread.join()
            });
            let _ = ended.await;
        }
    }
}
