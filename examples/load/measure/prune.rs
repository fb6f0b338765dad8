//! Ingest while half of a large ledger is removed beside it.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::bench::{BODY_BYTES, Bench};
use crate::drive::{Drive, Outcome, rate};
use crate::figures::{Figures, ms};
use crate::gateway::{Gateway, SECRET, Setup, Watch, until};
use crate::measure::ingest::WAL_CAP;
use crate::request::{Request, Shape};
use crate::results::{Row, grouped, mib, per_second};
use crate::seed::{RETENTION_OF_ALL, RETENTION_OF_HALF};

const CONNECTIONS: usize = 16;
/// The bench looks at it for at least so long, though it be over sooner.
const AT_LEAST: Duration = Duration::from_millis(300);

/// A home with `finished` seeded events, the older half of which the second configuration lets go.
pub(crate) fn rows(bench: &Bench, home: &Path, finished: u64) -> Vec<Row> {
    let (without, before) = without_prune(bench, home);
    let gone = finished / 2;
    let lists = requests(bench.scale.beside_prune);
    Setup { retention: RETENTION_OF_HALF, ..Setup::default() }.write(home);
    // It looks for old events as soon as it has started.
    let gateway = Gateway::start(&bench.binary, home);
    let began = Instant::now();
    let watch = Watch::over(&gateway);
    let drive = Drive::to(gateway.public);
    let stop = drive.stop.clone();
    let sending = std::thread::spawn(move || drive.run(lists));
    let took = until("the old half has gone", Duration::from_millis(100), || {
        (gateway.events("succeeded") <= before - gone && began.elapsed() >= AT_LEAST).then(|| began.elapsed())
    });
    stop.store(true, Ordering::Relaxed);
    let with = sending.join().expect("the driver's thread").all_accepted("the gateway");
    let seen = watch.end();
    let all_of_it = if with.took + Duration::from_millis(200) < took {
        format!(" (for its first {:.0} s)", with.took.as_secs_f64())
    } else {
        String::new()
    };
    gateway.stop();
    vec![
        Row::new(
            format!("ingest while {} old events are removed, {CONNECTIONS} connections{all_of_it}", grouped(gone)),
            shown(&with),
        )
        .beside(format!("without: {}; {:.2} ×", shown(&without), with.per_second() / without.per_second())),
        Row::new("removing them meanwhile", format!("{:.1} s", took.as_secs_f64()))
            .beside(format!("{} of them", per_second(rate(usize::try_from(gone).unwrap_or(0), took)))),
        Row::new("largest write-ahead log, meanwhile", mib(seen.wal_bytes))
            .reach("never above 128 MiB", seen.wal_bytes <= WAL_CAP),
    ]
}

fn requests(count: usize) -> Vec<Vec<Request>> {
    let prefix = uuid::Uuid::now_v7().simple().to_string();
    Shape::github("queue", SECRET, BODY_BYTES).deal(&prefix, count, CONNECTIONS)
}

/// The same ledger, the same load, and nothing is old enough to go; also how many events have succeeded.
fn without_prune(bench: &Bench, home: &Path) -> (Outcome, u64) {
    Setup { retention: RETENTION_OF_ALL, ..Setup::default() }.write(home);
    let gateway = Gateway::start(&bench.binary, home);
    gateway.wait_ready();
    let outcome = Drive::to(gateway.public).run(requests(bench.scale.beside_prune / 8)).all_accepted("the gateway");
    let succeeded = gateway.events("succeeded");
    gateway.stop();
    (outcome, succeeded)
}

fn shown(outcome: &Outcome) -> String {
    let figures = Figures::new(outcome.accepted.clone());
    format!(
        "{}, p99 {}, max {}",
        per_second(outcome.per_second()),
        ms(figures.quantile(0.99)),
        ms(figures.quantile(1.0))
    )
}
