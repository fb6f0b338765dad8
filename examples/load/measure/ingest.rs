//! Durable ingest: each 202 means that the event is on disk. Beside it what its two halves can do alone.

use std::time::Duration;

use crate::bare::commits::Commits;
use crate::bare::handler::Handler;
use crate::bench::{BODY_BYTES, Bench, Load};
use crate::drive::{Drive, Outcome};
use crate::figures::{Figures, ms};
use crate::gateway::{Gateway, SECRET, Seen, Watch};
use crate::request::Shape;
use crate::results::{Row, mb, per_second};

/// The cap of the write-ahead log.
pub(crate) const WAL_CAP: u64 = 128 << 20;
/// Memory under load that is still small.
const MEMORY: u64 = 80_000_000;

/// The three that are compared, at one number of connections.
#[derive(Default)]
struct Compared {
    gateway: Outcome,
    commits: Outcome,
    handler: Outcome,
    seen: Seen,
    /// What the gateway caused to be written to the disk.
    written: u64,
}

pub(crate) fn rows(bench: &Bench) -> Vec<Row> {
    let home = bench.home("ingest");
    let gateway = Gateway::start(&bench.binary, &home);
    gateway.wait_ready();
    let mut rows = vec![
        Row::new("memory, idle", mb(gateway.memory_kib("VmRSS") * 1024))
            .reach("under 25 MB", gateway.memory_kib("VmRSS") * 1024 < 25_000_000),
    ];
    let systems = Systems { commits: Commits::open(&home.join("bare")), handler: Handler::start(), gateway };
    systems.warm_up();
    let (mut bytes, mut largest) = (Vec::new(), Seen::default());
    for load in bench.scale.ingest {
        let compared = systems.compare(*load);
        rows.push(ingest_row(load.connections, &compared));
        if load.connections == 64 {
            let each = compared.written / u64::try_from(compared.gateway.sent).unwrap_or(1).max(1);
            bytes.push(Row::new("written to the disk for an event, 64 connections", kib(each)).beside(packed()));
        }
        largest.resident_kib = largest.resident_kib.max(compared.seen.resident_kib);
        largest.wal_bytes = largest.wal_bytes.max(compared.seen.wal_bytes);
    }
    let peak = systems.gateway.memory_kib("VmHWM").max(largest.resident_kib) * 1024;
    let sampled = format!("{} at its peak, {} sampled", mb(peak), mb(largest.resident_kib * 1024));
    rows.push(Row::new("memory, 1 to 256 connections", sampled).reach("under 80 MB", peak <= MEMORY));
    let wal = crate::results::mib(largest.wal_bytes);
    rows.push(
        Row::new("largest write-ahead log, ingest", wal).reach("never above 128 MiB", largest.wal_bytes <= WAL_CAP),
    );
    rows.append(&mut bytes);
    rows.push(file_row(systems.gateway));
    rows
}

struct Systems {
    gateway: Gateway,
    commits: Commits,
    handler: Handler,
}

impl Systems {
    /// Fills caches and grows files, so that no system is measured while it does.
    fn warm_up(&self) {
        self.compare(Load { connections: 16, requests: 160, rounds: 1 });
    }

    fn compare(&self, load: Load) -> Compared {
        let shape = Shape::github("queue", SECRET, BODY_BYTES);
        let mut compared = Compared::default();
        for round in 0..load.rounds {
            // Each begins a round in its turn, so that none always follows the same one.
            for turn in 0..3 {
                let prefix = uuid::Uuid::now_v7().simple().to_string();
                let lists = shape.deal(&prefix, load.requests / load.rounds, load.connections);
                match (round + turn) % 3 {
                    0 => {
                        let (before, watch) = (self.gateway.written(), Watch::over(&self.gateway));
                        let outcome = Drive::to(self.gateway.public).run(lists);
                        let seen = watch.end();
                        compared.written += self.gateway.written() - before;
                        compared.seen.resident_kib = compared.seen.resident_kib.max(seen.resident_kib);
                        compared.seen.wal_bytes = compared.seen.wal_bytes.max(seen.wal_bytes);
                        compared.gateway.merge(outcome.all_accepted("the gateway"));
                    }
                    1 => compared.commits.merge(self.commits.run(&lists)),
                    _ => compared.handler.merge(Drive::to(self.handler.address).run(lists).all_accepted("the handler")),
                }
            }
        }
        compared
    }
}

fn ingest_row(connections: usize, compared: &Compared) -> Row {
    let Compared { gateway, commits, handler, .. } = compared;
    let ceiling = 1.0 / (1.0 / commits.per_second() + 1.0 / handler.per_second());
    let part = gateway.per_second() / ceiling;
    let [own, of_commits, of_handler] = [gateway, commits, handler].map(|o| Figures::new(o.accepted.clone()));
    let larger = of_commits.quantile(0.99).max(of_handler.quantile(0.99));
    let times = own.quantile(0.99).as_secs_f64() / larger.as_secs_f64().max(1e-9);
    let alone = |name: &str, rate: f64, p99: Duration| format!("{name} {} (p99 {})", per_second(rate), ms(p99));
    let row = Row::new(
        format!("durable ingest, {connections} connection{}", if connections == 1 { "" } else { "s" }),
        format!("{}, {}, p99 {times:.1} × of the larger beside", per_second(gateway.per_second()), own.short()),
    );
    let row = row.beside(format!(
        "{}, {}: L = {}, {part:.2} L",
        alone("loop", commits.per_second(), of_commits.quantile(0.99)),
        alone("handler", handler.per_second(), of_handler.quantile(0.99)),
        per_second(ceiling)
    ));
    if connections < 64 {
        return row;
    }
    row.reach("0.7 L", part >= 0.7).reach("p99 at most 3 ×", times <= 3.0)
}

fn kib(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a size far below 2^52")]
    let kib = bytes as f64 / 1024.0;
    format!("{kib:.1} KiB")
}

/// How large a body is, and what zstd makes of it.
fn packed() -> String {
    let body = Shape::github("queue", SECRET, BODY_BYTES).make("a-delivery-id-of-some-length", 1).body();
    let packed = zstd::bulk::compress(&body, 1).map_or(0, |packed| packed.len());
    format!("body of {}, {} compressed", kib(body.len() as u64), kib(packed as u64))
}

/// Bytes of the file for each event, after a stop has moved the write-ahead log into it.
fn file_row(gateway: Gateway) -> Row {
    let events: u64 = gateway.events("queued") + gateway.events("running");
    let home = gateway.home.clone();
    gateway.stop();
    let size = std::fs::metadata(home.join("doorbell.db")).map_or(0, |m| m.len());
    Row::new("file for a stored event", kib(size / events.max(1))).beside(packed())
}
