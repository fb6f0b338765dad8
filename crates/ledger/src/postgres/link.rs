//! The way to the database: a pool, transactions with a deadline, and what becomes of a connection that failed.

use std::future::Future;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType};
use futures_util::FutureExt as _;
use futures_util::future::{join, try_join};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Value;
use super::rest::Rest;
use crate::Error;

/// How long a connection may take to come about, and how long to wait for one that is busy.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// How long a whole transaction may take.
const STEP: Duration = Duration::from_secs(10);
/// What a transaction begins with. Settings are the transaction's own, so that a pooler may stand in between. A node that
/// freezes in the middle of one loses its connection, and with it its locks, soon after.
macro_rules! begin {
    ($kind:literal, $commit:literal, $lock:literal) => {
        concat!(
            "BEGIN ",
            $kind,
            "; SET LOCAL search_path = doorbell; SET LOCAL statement_timeout = 9000;
             SET LOCAL idle_in_transaction_session_timeout = 10000; SET LOCAL synchronous_commit = ",
            $commit,
            ";",
            $lock
        )
    };
}

/// What a transaction is for. A gateway outlives a crash of its database: what it acts on, a claim, a renewal, the end of a
/// delivery, must be durable, or the database offers it to others while it is under way, or once more when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads that fit together.
    Read,
    /// Answered before the commit would survive a crash of the database.
    Relaxed,
    /// Answered when the commit would survive a power cut.
    Durable,
    /// Relaxed, and no route comes, goes, is paused or resumed meanwhile.
    QueueRelaxed,
    /// Durable, and no route comes, goes, is paused or resumed meanwhile.
    QueueDurable,
    /// Nobody else changes the queue meanwhile. Durable.
    Routes,
}

impl Kind {
    fn begin(self) -> &'static str {
        match self {
            Kind::Read => begin!("ISOLATION LEVEL REPEATABLE READ READ ONLY", "off", ""),
            Kind::Relaxed => begin!("", "off", ""),
            Kind::Durable => begin!("", "on", ""),
            Kind::QueueRelaxed => begin!("", "off", "SELECT pg_advisory_xact_lock_shared(7305808869231650671)"),
            Kind::QueueDurable => begin!("", "on", "SELECT pg_advisory_xact_lock_shared(7305808869231650671)"),
            Kind::Routes => begin!("", "on", "SELECT pg_advisory_xact_lock(7305808869231650671)"),
        }
    }
}

/// Why a transaction came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// It stood in the way of another one: once more.
    Again(String),
    /// The database ran it and did not like a value of it.
    Refused(String),
    /// What the caller is told.
    Told(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Told(error)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        let text = explain(&error);
        match error.code() {
            Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE) => Failure::Again(text),
            // Data exceptions, violated constraints, limits.
            Some(code) if ["22", "23", "54"].iter().any(|class| code.code().starts_with(class)) => {
                Failure::Refused(text)
            }
            _ => Failure::Told(told(&error, text)),
        }
    }
}

/// A database that shuts down, starts, or has too many connections says so; one that has gone says nothing. One that has handed over
/// to another, or has not taken over yet, takes no writes.
pub(super) fn told(error: &tokio_postgres::Error, text: String) -> Error {
    if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
        return Error::Away(format!("it takes no writes: {text}"));
    }
    let passes = |code: &SqlState| ["08", "57P", "53300"].iter().any(|class| code.code().starts_with(class));
    let gone = error.code().map_or_else(|| lost_on_the_way(error), passes);
    if gone { Error::Away(text) } else { Error::Unavailable(text) }
}

/// Whether the way to the database failed. What is amiss in spite of a good way, a certificate or a password that is missing, does
/// not pass by itself.
fn lost_on_the_way(error: &tokio_postgres::Error) -> bool {
    let Some(mut cause) = std::error::Error::source(error) else { return true };
    loop {
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            return !matches!(io.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
        }
        match cause.source() {
            Some(deeper) => cause = deeper,
            None => return false,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::Again(text) | Failure::Refused(text) => Error::Unavailable(text),
            Failure::Told(error) => error,
        }
    }
}

/// What the database said; its own words hold no values of ours (those stand in its DETAIL).
pub(super) fn explain(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => format!("{} ({})", said.message(), said.code().code()),
        (None, Some(source)) => {
            // Where to read about it is nothing for a log.
            let source = source.to_string();
            format!("{error}: {}", source.split(": https://").next().unwrap_or_default())
        }
        (None, None) => error.to_string(),
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// The pool, and whether the database is left alone.
#[derive(Clone)]
pub(super) struct Link {
    pool: Pool,
    rest: Rest,
}

impl Link {
    pub(super) fn new(
        config: tokio_postgres::Config,
        tls: MakeRustlsConnect,
        connections: usize,
    ) -> Result<Link, Error> {
        let patience = config.get_connect_timeout().copied().unwrap_or(CONNECT);
        let manager = Manager::from_config(config, tls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(patience))
            .recycle_timeout(Some(CONNECT))
            .build()
            .map_err(|e| Error::Unavailable(e.to_string()))?;
        Ok(Link { pool, rest: Rest::default() })
    }

    /// A transaction on a connection of its own. What begins it is sent along with its first statement.
    pub(super) async fn begin(&self, kind: Kind) -> Result<Tx, Failure> {
        self.begin_within(kind, STEP).await
    }

    /// The same for one that somebody waits for.
    pub(super) async fn begin_within(&self, kind: Kind, patience: Duration) -> Result<Tx, Failure> {
        let connection = Some(self.connection().await?);
        let (begun, committed) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Tx { connection, deadline: Instant::now() + patience, kind, begun, committed, link: self.clone() })
    }

    async fn connection(&self) -> Result<Object, Error> {
        if self.pool.is_closed() {
            return Err(Error::Closed);
        }
        // Connections that are there go on working while no others can be had.
        let turn = if self.pool.status().available == 0 { Some(self.rest.turn(now())?) } else { None };
        let why = match self.pool.get().await {
            Ok(connection) => {
                self.rest.ends();
                return Ok(connection);
            }
            Err(PoolError::Closed) => return Err(Error::Closed),
            Err(PoolError::Timeout(TimeoutType::Wait)) => return Err(self.rest.why().unwrap_or(Error::Busy)),
            Err(PoolError::Timeout(_)) => Error::Away("it does not answer".to_owned()),
            Err(PoolError::Backend(error)) => told(&error, explain(&error)),
            Err(other) => Error::Unavailable(other.to_string()),
        };
        self.rest.begins(&why, now());
        drop(turn);
        Err(why)
    }

    /// An answer did not come in time: the other connections may be as silent.
    fn is_silent(&self) -> Error {
        let why = Error::Away("it does not answer in time".into());
        self.rest.is_doubtful(&why, now());
        self.pool.retain(|_, _| false);
        why
    }

    pub(super) fn close(&self) {
        self.pool.close();
    }
}

/// A transaction. Dropped before its end it takes its connection with it, and the database rolls it back.
pub(super) struct Tx {
    connection: Option<Object>,
    deadline: Instant,
    kind: Kind,
    begun: AtomicBool,
    committed: AtomicBool,
    link: Link,
}

impl Drop for Tx {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(Object::take(connection));
        }
    }
}

impl Tx {
    /// Sends a statement, after what begins the transaction when it is the first, and waits for both. Statements go out in the
    /// order in which they are first waited for.
    async fn send<T>(
        &self,
        client: &tokio_postgres::Client,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        let begun = self.begun.swap(true, Ordering::Relaxed);
        let both = async {
            if begun {
                return answer.await;
            }
            let (begun, answer) = join(client.batch_execute(self.kind.begin()), answer).await;
            begun.and(answer)
        };
        match timeout_at(self.deadline, both).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(self.link.is_silent().into()),
        }
    }

    fn client(&self) -> Result<&tokio_postgres::Client, Failure> {
        self.connection.as_ref().map(|connection| &***connection).ok_or(Failure::Told(Error::Closed))
    }

    /// Runs statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Failure> {
        let client = self.client()?;
        self.send(client, client.batch_execute(sql)).await
    }

    pub(super) async fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        let client = self.client()?;
        self.send(client, client.query_typed(sql, &typed)).await
    }

    pub(super) async fn optional(&self, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, Failure> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    pub(super) async fn one(&self, sql: &str, values: &[Value<'_>]) -> Result<Row, Failure> {
        let missing = || Failure::Told(Error::Unavailable("the database answered with no row".into()));
        self.optional(sql, values).await?.ok_or_else(missing)
    }

    /// Runs a statement and says how many rows it changed.
    pub(super) async fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failure> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        let client = self.client()?;
        self.send(client, client.execute_typed(sql, &typed)).await
    }

    /// Sends the last statements and COMMIT behind them without a wait in between. When one of them fails the database makes a
    /// rollback of it.
    pub(super) async fn commit_with<T>(&self, last: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let (value, ()) = try_join(last, self.batch("COMMIT")).await?;
        self.committed.store(true, Ordering::Relaxed);
        Ok(value)
    }

    /// Commits what went well and takes the rest back. The connection returns to the pool when it still works.
    pub(super) async fn end<T>(mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let ended = match &outcome {
            Ok(_) if self.committed.load(Ordering::Relaxed) => Ok(()),
            // Nothing hangs on the end of reads: it is sent, and whoever comes next on the connection comes after it.
            Ok(_) if self.kind == Kind::Read => self.batch("COMMIT").now_or_never().unwrap_or(Ok(())),
            Ok(_) => self.batch("COMMIT").await,
            Err(_) => self.batch("ROLLBACK").await,
        };
        if ended.is_ok()
            && let Some(connection) = self.connection.take()
        {
            // Back into the pool.
            drop(connection);
        }
        let value = outcome?;
        ended.map(|()| value)
    }
}
