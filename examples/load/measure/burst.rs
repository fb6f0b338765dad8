//! A burst: many events at once, few places to run.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::drive::Drive;
use crate::figures::{Figures, ms};
use crate::gateway::{Gateway, SECRET, until};
use crate::request::Shape;
use crate::results::Row;

const EVENTS: usize = 64;
const PLACES: u32 = 8;
const WORK: Duration = Duration::from_millis(50);

/// From the first byte sent to the moment at which the ledger shows the last success.
pub(crate) fn row(bench: &Bench, gateway: &Gateway) -> Row {
    let shape = Shape::github("burst", SECRET, 512);
    let times = (0..bench.scale.bursts).map(|number| {
        let before = at_rest(gateway);
        let lists = shape.deal(&format!("burst-{number}-{}", uuid::Uuid::now_v7().simple()), EVENTS, EVENTS);
        let drive = Drive::to(gateway.public);
        let began = Instant::now();
        let sending = std::thread::spawn(move || drive.run(lists));
        let took = until("all of a burst has succeeded", Duration::from_millis(5), || {
            (gateway.events("succeeded") >= before + EVENTS as u64).then(|| began.elapsed())
        });
        sending.join().expect("the driver's thread").all_accepted("the gateway");
        took
    });
    let figures = Figures::new(times.collect());
    let ideal = WORK * u32::try_from(EVENTS).unwrap_or(0) / PLACES;
    let ratio = figures.quantile(0.5).as_secs_f64() / ideal.as_secs_f64();
    Row::new(
        format!("burst of {EVENTS}, agent of {} ms, {PLACES} at once", WORK.as_millis()),
        format!("median {}, max {}", ms(figures.quantile(0.5)), ms(figures.quantile(1.0))),
    )
    .beside(format!("ideal {}: {ratio:.2} ×; the same agents without a gateway {}", ms(ideal), ms(agents_alone())))
    .reach("at most 1.5 ×", ratio <= 1.5)
}

/// How many events have succeeded, once none is on its way to.
fn at_rest(gateway: &Gateway) -> u64 {
    until("nothing runs", Duration::from_millis(5), || {
        let standing = gateway.get("/status");
        let events = |state: &str| standing["events"][state].as_u64().unwrap_or(0);
        (events("queued") + events("running") == 0).then(|| events("succeeded"))
    })
}

/// The same agents, as many at once, started by nothing but threads that wait for them: what the machine needs for processes.
fn agents_alone() -> Duration {
    let began = Instant::now();
    let places: Vec<_> = (0..PLACES as usize)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..EVENTS / PLACES as usize {
                    let own = std::env::current_exe().expect("our own path");
                    #[expect(clippy::disallowed_methods, reason = "the bench starts what it compares with")]
                    let mut agent = Command::new(own);
                    agent.args(["stub", &WORK.as_millis().to_string()]).stdin(Stdio::null()).stdout(Stdio::null());
                    assert!(agent.status().expect("the agent starts").success());
                }
            })
        })
        .collect();
    for place in places {
        place.join().expect("a thread");
    }
    began.elapsed()
}
