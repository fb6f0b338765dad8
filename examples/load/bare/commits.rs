//! The bare loop: group commit of the rows that the gateway writes for an event, into a file that its own store has made.
//!
//! No HTTP, no signature, no rules, no look for a duplicate: what SQLite and the disk can do with these rows. Callers are
//! asynchronous tasks that compress the body themselves, hand their rows to one writer, and wait for its commit.

use std::cell::RefCell;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use ledger::sqlite::Store;
use rusqlite::{Connection, params};
use tokio::sync::oneshot;
use zstd::bulk::Compressor;

use crate::drive::Outcome;
use crate::request::Request;
use crate::seed;
use crate::stub::now_ms;

/// The same caps as the gateway's writer has.
const BATCH_STEPS: usize = 64;
const BATCH_BYTES: usize = 4 << 20;
/// More than there are callers, so that none of them blocks here.
const WAITING: usize = 4096;

thread_local! {
    /// Each thread's compressor, at the store's level: to make one costs as much as to pack a body.
    static PACKER: RefCell<Compressor<'static>> = RefCell::new(Compressor::new(1).expect("zstd"));
}

/// What one caller writes.
struct Rows {
    id: String,
    delivery_id: String,
    headers: String,
    body: Vec<u8>,
}

struct Job {
    rows: Rows,
    codec: u8,
    reply: oneshot::Sender<()>,
}

pub(crate) struct Commits {
    jobs: SyncSender<Job>,
    runtime: tokio::runtime::Runtime,
}

impl Commits {
    /// A writer on a new file in `home`.
    pub(crate) fn open(home: &Path) -> Commits {
        std::fs::create_dir_all(home).expect("a folder");
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let options = seed::options(home);
        let path = options.path.clone();
        runtime.block_on(async {
            use ledger::Ledger as _;
            Store::open(&options).expect("a ledger").close().await;
        });
        let connection = Connection::open(path).expect("its file");
        connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;").expect("settings");
        let (jobs, waiting) = sync_channel(WAITING);
        std::thread::spawn(move || write(&connection, &waiting));
        Commits { jobs, runtime }
    }

    /// Writes each list from a caller of its own. The clock starts when all rows are made.
    pub(crate) fn run(&self, lists: &[Vec<Request>]) -> Outcome {
        let lists: Vec<Vec<Rows>> = lists.iter().map(|list| list.iter().map(rows).collect()).collect();
        let began = Instant::now();
        let callers: Vec<_> =
            lists.into_iter().map(|list| self.runtime.spawn(call_all(self.jobs.clone(), list))).collect();
        let mut outcome = Outcome::default();
        self.runtime.block_on(async {
            for caller in callers {
                outcome.merge(caller.await.expect("a caller's task"));
            }
        });
        outcome.took = began.elapsed();
        outcome
    }
}

fn rows(request: &Request) -> Rows {
    let headers = request.headers();
    let delivery_id = headers.iter().find(|(name, _)| name == "x-github-delivery").map(|(_, id)| id.clone());
    Rows {
        id: format!("ev_{}", uuid::Uuid::now_v7().simple()),
        delivery_id: delivery_id.expect("a delivery id"),
        headers: serde_json::to_string(&headers).expect("JSON"),
        body: request.body(),
    }
}

async fn call_all(jobs: SyncSender<Job>, list: Vec<Rows>) -> Outcome {
    let mut outcome = Outcome::default();
    for mut rows in list {
        let began = Instant::now();
        let packed = PACKER.with_borrow_mut(|packer| packer.compress(&rows.body)).expect("zstd");
        let codec = u8::from(packed.len() < rows.body.len());
        if codec == 1 {
            rows.body = packed;
        }
        let (reply, committed) = oneshot::channel();
        jobs.send(Job { rows, codec, reply }).expect("the writer is there");
        committed.await.expect("a commit");
        outcome.sent += 1;
        outcome.accepted.push(began.elapsed());
    }
    outcome
}

fn write(connection: &Connection, waiting: &Receiver<Job>) {
    while let Ok(first) = waiting.recv() {
        let mut bytes = first.rows.body.len();
        let mut batch = vec![first];
        while batch.len() < BATCH_STEPS && bytes < BATCH_BYTES {
            let Ok(job) = waiting.try_recv() else { break };
            bytes += job.rows.body.len();
            batch.push(job);
        }
        commit(connection, &batch).expect("a commit");
        for job in batch {
            let _ = job.reply.send(());
        }
    }
}

fn commit(connection: &Connection, batch: &[Job]) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for Job { rows, codec, .. } in batch {
        let key = format!("id:{}", rows.delivery_id);
        connection
            .prepare_cached(
                "INSERT INTO events (id, route, source, event_type, delivery_id, state, ready, received_at, key)
                 VALUES (?1, 'queue', 'github', 'push', ?2, 'queued', 1, ?3, ?4)",
            )?
            .execute(params![rows.id, rows.delivery_id, now_ms(), key])?;
        let seq = connection.last_insert_rowid();
        connection
            .prepare_cached("INSERT INTO requests (event_seq, headers, codec, body) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![seq, rows.headers, codec, rows.body])?;
        connection
            .prepare_cached("INSERT INTO keys (route, key, event_seq) VALUES ('queue', ?1, ?2)")?
            .execute(params![key, seq])?;
    }
    connection.prepare_cached("COMMIT")?.execute([]).map(drop)
}
