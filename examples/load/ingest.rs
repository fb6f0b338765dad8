//! Durable ingest: each 202 means that the event is on disk.

use std::fmt;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use crate::figures::Figures;
use crate::gateway::Gateway;
use crate::requests::{Line, signed};

pub(crate) struct Ingest {
    per_second: f64,
    times: Figures,
}

impl fmt::Display for Ingest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}/s, {}", self.per_second, self.times)
    }
}

/// Sends `requests` over `connections` at once. Panics when an answer is not 202.
pub(crate) fn measure(gateway: &Gateway, connections: usize, requests: usize, body_bytes: usize) -> Ingest {
    let each = requests / connections;
    let start = Arc::new(Barrier::new(connections + 1));
    let threads: Vec<_> = (0..connections)
        .map(|connection| {
            let start = Arc::clone(&start);
            let address = gateway.address;
            std::thread::spawn(move || {
                let ids = (0..each).map(|n| format!("{connections}-{connection}-{n}"));
                let signed: Vec<_> = ids.map(|id| signed("queue", &id, body_bytes)).collect();
                let mut line = Line::open(address);
                start.wait();
                signed.iter().map(|request| timed(&mut line, request)).collect::<Vec<_>>()
            })
        })
        .collect();
    start.wait();
    let began = Instant::now();
    let times: Vec<Duration> = threads.into_iter().flat_map(|t| t.join().expect("a sender's thread")).collect();
    let took = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a count far below 2^52")]
    let per_second = times.len() as f64 / took;
    Ingest { per_second, times: Figures::new(times) }
}

fn timed(line: &mut Line, request: &[u8]) -> Duration {
    let began = Instant::now();
    let status = line.ask(request);
    assert_eq!(status, 202, "the gateway refused");
    began.elapsed()
}
