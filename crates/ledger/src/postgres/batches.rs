//! Group commit: requests that wait are stored by one transaction, a few transactions at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::task::JoinSet;

use super::admit::{Request, admit};
use super::link::{Kind, Link};
use super::wake::Wake;
use super::{Failure, TRIES};
use crate::{Admitted, Error};

/// Requests that one transaction takes.
const BATCH: usize = 64;
/// Bytes that one transaction takes.
const BATCH_BYTES: usize = 4 << 20;
/// Requests that wait: callers feel the pressure soon after.
const WAITING: usize = 2 * BATCH;
/// Transactions at a time: while one waits for the disk the next one is worked on.
const WRITERS: usize = 3;
/// Requests that are worth a transaction beside one that is under way. Fewer wait for its end, since what a transaction costs the
/// database is mostly the same for one request and for many.
const ENOUGH: usize = BATCH / 4 * 3;
/// How long a caller waits for a place before it is told that the ledger is behind.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a transaction may take: senders wait for it, who are better told to come again. Large bodies have more.
const STEP: Duration = Duration::from_secs(5);
const BYTES_A_MILLISECOND: usize = 1 << 10;

struct Item {
    request: Request,
    reply: oneshot::Sender<Result<Admitted, Error>>,
}

/// The way to the writers.
pub(super) struct Batches {
    /// `None` once it is closed.
    items: StdMutex<Option<mpsc::Sender<Item>>>,
    writers: Mutex<JoinSet<()>>,
}

impl Batches {
    pub(super) fn start(link: &Link, wake: &Arc<Wake>) -> Batches {
        let (items, waiting) = mpsc::channel(WAITING);
        let (waiting, under_way) = (Arc::new(Mutex::new(waiting)), Arc::<UnderWay>::default());
        let mut writers = JoinSet::new();
        for _ in 0..WRITERS {
            let writer = Writer {
                link: link.clone(),
                wake: Arc::clone(wake),
                waiting: Arc::clone(&waiting),
                under_way: Arc::clone(&under_way),
            };
            writers.spawn(writer.serve());
        }
        Batches { items: StdMutex::new(Some(items)), writers: Mutex::new(writers) }
    }

    /// Stores a request; answered once it is committed.
    pub(super) async fn store(&self, request: Request) -> Result<Admitted, Error> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        match items.send_timeout(Item { request, reply }, PATIENCE).await {
            Ok(()) => {}
            Err(SendTimeoutError::Timeout(_)) => return Err(Error::Busy),
            Err(SendTimeoutError::Closed(_)) => return Err(Error::Closed),
        }
        drop(items);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Ends after what has been handed in.
    pub(super) async fn close(&self) {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut writers = self.writers.lock().await;
        while writers.join_next().await.is_some() {}
    }
}

/// Transactions that are under way.
#[derive(Default)]
struct UnderWay {
    count: AtomicUsize,
    /// Told when one has ended.
    ended: Notify,
}

struct Writer {
    link: Link,
    wake: Arc<Wake>,
    waiting: Arc<Mutex<mpsc::Receiver<Item>>>,
    under_way: Arc<UnderWay>,
}

impl Writer {
    async fn serve(self) {
        while let Some(batch) = self.next().await {
            let (requests, replies): (Vec<_>, Vec<_>) = batch.into_iter().map(|i| (i.request, i.reply)).unzip();
            let answers = self.write(&requests).await;
            for (reply, answer) in replies.into_iter().zip(answers) {
                // The caller may have gone; the request is stored all the same.
                let _ = reply.send(answer);
            }
            self.under_way.count.fetch_sub(1, Ordering::Relaxed);
            self.under_way.ended.notify_one();
        }
    }

    /// The requests of the next transaction, which is under way from here on.
    async fn next(&self) -> Option<Vec<Item>> {
        let mut waiting = self.waiting.lock().await;
        let first = waiting.recv().await?;
        let mut bytes = first.request.bytes();
        let mut batch = vec![first];
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let item = match waiting.try_recv() {
                Ok(item) => item,
                Err(_) if batch.len() >= ENOUGH || self.under_way.count.load(Ordering::Relaxed) == 0 => break,
                Err(_) => tokio::select! {
                    item = waiting.recv() => match item {
                        Some(item) => item,
                        None => break,
                    },
                    // Told of an end that was long ago, it begins a little early.
                    () = self.under_way.ended.notified() => break,
                },
            };
            bytes += item.request.bytes();
            batch.push(item);
        }
        self.under_way.count.fetch_add(1, Ordering::Relaxed);
        Some(batch)
    }

    /// One transaction for all; when one of them cannot be stored, each by itself, so that it takes nobody with it.
    async fn write(&self, requests: &[Request]) -> Vec<Result<Admitted, Error>> {
        match self.commit(requests).await {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(Failure::Refused(_)) if requests.len() > 1 => {
                let mut answers = Vec::new();
                for request in requests {
                    let answer = self.commit(std::slice::from_ref(request)).await;
                    answers.push(answer.map(|mut one| one.remove(0)).map_err(Error::from));
                }
                answers
            }
            Err(failure) => {
                let error = Error::from(failure);
                tracing::debug!(%error, requests = requests.len(), "the ledger could not commit");
                requests.iter().map(|_| Err(error.clone())).collect()
            }
        }
    }

    async fn commit(&self, requests: &[Request]) -> Result<Vec<Admitted>, Failure> {
        let durable = requests.iter().any(Request::is_durable);
        let kind = if durable { Kind::QueueDurable } else { Kind::QueueRelaxed };
        let mut tries = 0;
        loop {
            let tx = self.link.begin_within(kind, patience(requests)).await?;
            let outcome = admit(&tx, requests).await;
            match tx.end(outcome).await {
                Err(Failure::Again(_)) if tries < TRIES => tries += 1,
                Ok(answers) => {
                    if durable {
                        self.wake.tell();
                    }
                    return Ok(answers);
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}

fn patience(requests: &[Request]) -> Duration {
    let bytes: usize = requests.iter().map(Request::bytes).sum();
    STEP + Duration::from_millis(u64::try_from(bytes / BYTES_A_MILLISECOND).unwrap_or(u64::MAX))
}
