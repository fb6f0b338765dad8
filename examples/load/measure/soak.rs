//! An hour of load: does anything grow that should not?

mod report;

pub(crate) use report::{flat_row, report};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::bench::BODY_BYTES;
use crate::drive::Drive;
use crate::gateway::{Gateway, SECRET, Setup, Watch, ask};
use crate::request::{Request, Shape};

/// Seconds of load that are signed while those before are sent.
const CHUNK: Duration = Duration::from_secs(5);
const CONNECTIONS: usize = 64;
/// Events that wait, once there are so many; what comes on top is cancelled.
const BACKLOG: u64 = 2_000;

/// An hour of load at half of the top rate; memory, file and write-ahead log each minute
#[derive(Args)]
pub(crate) struct Command {
    /// The doorbell to measure
    #[arg(default_value = "target/release/doorbell")]
    binary: PathBuf,
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Events a second; without it half of what it takes at most, which is measured first
    #[arg(long)]
    rate: Option<f64>,
    /// Events a second that really wake an agent
    #[arg(long, default_value_t = 20.0)]
    runs: f64,
    /// Where its figures are kept
    #[arg(long, default_value = "benches/soak.json")]
    json: PathBuf,
    /// Whose part `soak` is written
    #[arg(long, default_value = "benches/RESULTS.md")]
    out: PathBuf,
}

/// All that is kept of it.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Soak {
    minutes: f64,
    /// Events a second: all, those that ran, those that waited and were cancelled. The rest was stored as ignored.
    rate: f64,
    runs: f64,
    durable: f64,
    samples: Vec<Sample>,
}

/// What a minute ended with.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Sample {
    minute: f64,
    resident_kib: u64,
    file_bytes: u64,
    /// The largest that it was in this minute.
    wal_bytes: u64,
    accepted: usize,
    succeeded: u64,
    cancelled: u64,
    ignored: u64,
}

impl Command {
    pub(crate) fn run(self) {
        let work = tempfile::tempdir().expect("a temporary folder");
        Setup { retention: "5m", dedupe_window: "1m", stub: (5, 4), ..Setup::default() }.write(work.path());
        let gateway = Gateway::start(&self.binary, work.path());
        gateway.wait_ready();
        let rate = self.rate.unwrap_or_else(|| top_rate(&gateway) / 2.0);
        let durable = rate / 10.0;
        let soak = Soak { minutes: self.minutes, rate, runs: self.runs.min(rate / 10.0), durable, ..Soak::default() };
        let soak = Arc::new(Load::new(&gateway)).push(soak, &gateway, &self.json);
        gateway.stop();
        report(&soak, &self.out);
    }
}

/// What it stores in five seconds at most.
fn top_rate(gateway: &Gateway) -> f64 {
    let lists = Shape::github("queue", SECRET, BODY_BYTES).deal("top", 40_000, CONNECTIONS);
    let drive = Drive::to(gateway.public);
    let stop = drive.stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(CHUNK);
        stop.store(true, Ordering::Relaxed);
    });
    drive.run(lists).all_accepted("the gateway").per_second()
}

/// The load that goes on in threads of its own.
struct Load {
    drive: Drive,
    admin: std::net::SocketAddr,
    stop: Arc<AtomicBool>,
    accepted: AtomicUsize,
}

impl Load {
    fn new(gateway: &Gateway) -> Load {
        let drive = Drive::to(gateway.public);
        Load { stop: drive.stop.clone(), drive, admin: gateway.admin, accepted: AtomicUsize::new(0) }
    }

    fn push(self: Arc<Self>, mut soak: Soak, gateway: &Gateway, json: &Path) -> Soak {
        let ignored = soak.rate - soak.runs - soak.durable;
        let mut threads: Vec<_> = [("burst", soak.runs), ("queue", soak.durable), ("ignored", ignored)]
            .map(|(route, rate)| {
                let load = Arc::clone(&self);
                std::thread::spawn(move || load.stream(route, rate))
            })
            .into();
        let load = Arc::clone(&self);
        threads.push(std::thread::spawn(move || load.cancel()));
        let began = Instant::now();
        let end = began + Duration::from_secs_f64(soak.minutes * 60.0);
        let minute = Duration::from_mins(1).min(Duration::from_secs_f64(soak.minutes * 60.0 / 8.0));
        while Instant::now() < end {
            let watch = Watch::over(gateway);
            std::thread::sleep(minute);
            soak.samples.push(self.sample(gateway, began, watch));
            let text = serde_json::to_string_pretty(&soak).expect("JSON");
            // After every minute: what was measured is kept if somebody ends it early.
            std::fs::write(json, text + "\n").expect("the figures are kept");
        }
        self.stop.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().expect("a thread of the load");
        }
        soak
    }

    fn sample(&self, gateway: &Gateway, began: Instant, watch: Watch) -> Sample {
        let wal_bytes = watch.end().wal_bytes;
        let standing = gateway.get("/status");
        let events = |state: &str| standing["events"][state].as_u64().unwrap_or(0);
        let sample = Sample {
            minute: began.elapsed().as_secs_f64() / 60.0,
            resident_kib: gateway.memory_kib("VmRSS"),
            file_bytes: gateway.file_sizes().0,
            wal_bytes,
            accepted: self.accepted.load(Ordering::Relaxed),
            succeeded: events("succeeded"),
            cancelled: events("cancelled"),
            ignored: events("ignored"),
        };
        println!("{}", serde_json::to_string(&sample).expect("JSON"));
        sample
    }

    /// Sends to a route at a rate until told to stop. What is sent next is signed meanwhile.
    fn stream(&self, route: &'static str, rate: f64) {
        let (give, take) = sync_channel::<Vec<Vec<Request>>>(1);
        let signer = std::thread::spawn(move || {
            let shape = Shape::github(route, SECRET, BODY_BYTES);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
            let count = ((rate * CHUNK.as_secs_f64()) as usize).max(1);
            loop {
                let prefix = uuid::Uuid::now_v7().simple().to_string();
                if give.send(shape.deal(&prefix, count, CONNECTIONS.min(count))).is_err() {
                    return;
                }
            }
        });
        let drive = Drive { pace: Some(rate), ..self.drive.clone() };
        while !self.stop.load(Ordering::Relaxed) {
            let lists = take.recv().expect("the signer's requests");
            let outcome = drive.run(lists).all_accepted("the gateway");
            self.accepted.fetch_add(outcome.accepted.len(), Ordering::Relaxed);
        }
        drop(take);
        signer.join().expect("the signer");
    }

    /// Keeps the backlog of the route whose agent never ends at its size, as a person would.
    fn cancel(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let waiting = self.get("/status")["events"]["queued"].as_u64().unwrap_or(0);
            let most = waiting.saturating_sub(BACKLOG).min(1000);
            let page = self.get(&format!("/events?route=queue&state=queued&limit={}", most.max(1)));
            if most == 0 {
                std::thread::sleep(Duration::from_secs(1));
                continue;
            }
            let ids = page["items"].as_array().into_iter().flatten().filter_map(|event| event["id"].as_str());
            for id in ids {
                // One that has begun to run in the meantime cannot be cancelled; it is none of the backlog.
                let _ = ask(self.admin, "POST", &format!("/api/v1/events/{id}/cancel"));
            }
        }
    }

    fn get(&self, path: &str) -> serde_json::Value {
        let (_, body) = ask(self.admin, "GET", &format!("/api/v1{path}"));
        serde_json::from_str(&body).unwrap_or_default()
    }
}
