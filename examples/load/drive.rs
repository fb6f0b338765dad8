//! The sender of every measurement: many kept connections on one thread, each with one request under way at a time.
//!
//! One thread with readiness polling, since a thread for each connection would take more of the processors than the server
//! that is measured.

pub(crate) mod command;
mod connection;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::{sleep, sleep_until, timeout};

use self::connection::Connection;
use crate::figures::Figures;
use crate::request::Request;

/// How long an answer may take; after that it counts as an error.
const PATIENCE: Duration = Duration::from_mins(1);
/// The rest of a sender whose server takes no connections, so that it does not only burn the processor.
const REST: Duration = Duration::from_millis(20);

/// What came of it.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) sent: usize,
    /// How long each accepted request took, in the order of its connection.
    pub(crate) accepted: Vec<Duration>,
    /// Answers other than 2xx.
    pub(crate) refused: usize,
    /// The status of the first answer other than 2xx.
    pub(crate) first_refusal: Option<u16>,
    pub(crate) errors: usize,
    pub(crate) first_error: Option<String>,
    /// Connections beyond the first ones.
    pub(crate) reconnects: usize,
    pub(crate) took: Duration,
}

impl Outcome {
    pub(crate) fn per_second(&self) -> f64 {
        rate(self.accepted.len(), self.took)
    }

    pub(crate) fn merge(&mut self, other: Outcome) {
        self.sent += other.sent;
        self.accepted.extend(other.accepted);
        self.refused += other.refused;
        self.first_refusal = self.first_refusal.or(other.first_refusal);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
        self.reconnects += other.reconnects;
        self.took += other.took;
    }

    pub(crate) fn to_json(&self) -> Value {
        let figures = Figures::new(self.accepted.clone());
        let ms = |part| (figures.quantile(part).as_secs_f64() * 1e5).round() / 100.0;
        json!({
            "sent": self.sent,
            "accepted": self.accepted.len(),
            "refused": self.refused,
            "errors": self.errors,
            "per_second": (self.per_second() * 10.0).round() / 10.0,
            "p50_ms": ms(0.5),
            "p99_ms": ms(0.99),
            "max_ms": ms(1.0),
            "seconds": (self.took.as_secs_f64() * 1000.0).round() / 1000.0,
            "reconnects": self.reconnects,
            "first_refusal": self.first_refusal,
            "first_error": self.first_error,
        })
    }

    /// Panics unless everything was accepted: a figure of a system that refuses says nothing.
    pub(crate) fn all_accepted(self, of: &str) -> Outcome {
        assert!(
            self.refused == 0 && self.errors == 0,
            "{of}: {} of {} refused (first: {:?}), {} errors (first: {:?})",
            self.refused,
            self.sent,
            self.first_refusal,
            self.errors,
            self.first_error
        );
        self
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count far below 2^52")]
pub(crate) fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(1e-9)
}

/// Where to, how fast, and when to stop before all is sent.
#[derive(Clone)]
pub(crate) struct Drive {
    pub(crate) address: SocketAddr,
    /// Requests a second over all connections; `None`: the next one as soon as the one before is answered.
    pub(crate) pace: Option<f64>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Drive {
    pub(crate) fn to(address: SocketAddr) -> Drive {
        Drive { address, pace: None, stop: Arc::default() }
    }

    /// Sends each list over a connection of its own. The clock starts when all are connected. Blocks the thread.
    pub(crate) fn run(&self, lists: Vec<Vec<Request>>) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(self.all(lists))
    }

    async fn all(&self, lists: Vec<Vec<Request>>) -> Outcome {
        let mut lines = Vec::new();
        for requests in lists {
            lines.push((Connection::open(self.address).await.ok(), requests));
        }
        let began = Instant::now();
        let turns = Arc::new(AtomicUsize::new(0));
        let senders: Vec<_> = lines
            .into_iter()
            .map(|(connection, requests)| {
                let sender = Sender {
                    drive: self.clone(),
                    turns: Arc::clone(&turns),
                    began,
                    connection,
                    outcome: Outcome::default(),
                };
                tokio::spawn(sender.send_all(requests))
            })
            .collect();
        let mut outcome = Outcome::default();
        for sender in senders {
            outcome.merge(sender.await.expect("a sender's task"));
        }
        outcome.took = began.elapsed();
        outcome
    }
}

struct Sender {
    drive: Drive,
    turns: Arc<AtomicUsize>,
    began: Instant,
    connection: Option<Connection>,
    outcome: Outcome,
}

impl Sender {
    async fn send_all(mut self, requests: Vec<Request>) -> Outcome {
        for request in &requests {
            if let Some(pace) = self.drive.pace {
                let turn = self.turns.fetch_add(1, Ordering::Relaxed);
                let at = Duration::from_secs_f64(f64::from(u32::try_from(turn).unwrap_or(u32::MAX)) / pace);
                sleep_until((self.began + at).into()).await;
            }
            if self.drive.stop.load(Ordering::Relaxed) {
                break;
            }
            self.send(request).await;
        }
        self.outcome
    }

    async fn send(&mut self, request: &Request) {
        self.outcome.sent += 1;
        let began = Instant::now();
        let answer = timeout(PATIENCE, self.ask(request)).await;
        let took = began.elapsed();
        match answer.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())) {
            Ok(status @ 200..=299) => {
                let _ = status;
                self.outcome.accepted.push(took);
            }
            Ok(status) => {
                self.outcome.refused += 1;
                self.outcome.first_refusal.get_or_insert(status);
            }
            Err(error) => {
                self.connection = None;
                self.outcome.errors += 1;
                self.outcome.first_error.get_or_insert(error.to_string());
                sleep(REST).await;
            }
        }
    }

    /// Once more on a new connection when a kept one turns out to be closed before anything was answered: senders do so.
    async fn ask(&mut self, request: &Request) -> std::io::Result<u16> {
        if let Some(mut kept) = self.connection.take_if(|kept| !kept.over) {
            match kept.ask(request).await {
                Ok(status) => {
                    self.connection = Some(kept);
                    return Ok(status);
                }
                Err(error) if kept.answering => return Err(error),
                Err(_) => {}
            }
        }
        self.outcome.reconnects += 1;
        let mut fresh = Connection::open(self.drive.address).await?;
        let status = fresh.ask(request).await?;
        self.connection = Some(fresh);
        Ok(status)
    }
}
