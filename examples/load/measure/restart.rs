//! From the start of the process to the first event that it could take.

use std::path::Path;
use std::time::Duration;

use crate::bench::{BODY_BYTES, Bench};
use crate::drive::Drive;
use crate::figures::{Figures, ms};
use crate::gateway::{Gateway, SECRET, Setup};
use crate::request::Shape;
use crate::results::Row;
use crate::seed::RETENTION_OF_ALL;

/// Soon enough that senders who try again notice nothing.
const SOON: Duration = Duration::from_millis(200);

/// Starts on a home again and again: after polite stops, then after kills while events come in.
pub(crate) fn rows(bench: &Bench, home: &Path, content: &str, is_goal: bool) -> Vec<Row> {
    Setup { retention: RETENTION_OF_ALL, ..Setup::default() }.write(home);
    // The first start after seeding sets up files that every later one finds.
    Gateway::start(&bench.binary, home).stop();
    let mut stopped = Starts::default();
    for _ in 0..bench.scale.restarts {
        stopped.note(&bench.binary, home).stop();
    }
    let mut killed = Starts::default();
    for number in 0..bench.scale.restarts {
        let gateway = Gateway::start(&bench.binary, home);
        gateway.wait_ready();
        push(&gateway, &format!("restart-{number}-{}", uuid::Uuid::now_v7().simple()), bench.scale.beside_prune / 100);
        // Dropped is killed.
        drop(gateway);
        killed.note(&bench.binary, home).stop();
    }
    vec![
        stopped.row(&format!("start after a stop, {content}"), is_goal),
        killed.row(&format!("start after kill -9 under load, {content}"), is_goal),
    ]
}

fn push(gateway: &Gateway, prefix: &str, requests: usize) {
    let lists = Shape::github("queue", SECRET, BODY_BYTES).deal(prefix, requests, 64);
    Drive::to(gateway.public).run(lists).all_accepted("the gateway");
}

#[derive(Default)]
struct Starts {
    said: Vec<Duration>,
    ready: Vec<Duration>,
}

impl Starts {
    fn note(&mut self, binary: &Path, home: &Path) -> Gateway {
        let gateway = Gateway::start(binary, home);
        self.said.push(gateway.said_ready_after);
        self.ready.push(gateway.wait_ready());
        gateway
    }

    fn row(self, what: &str, is_goal: bool) -> Row {
        let [said, ready] = [self.said, self.ready].map(Figures::new);
        let shown = |f: &Figures| format!("median {}, max {}", ms(f.quantile(0.5)), ms(f.quantile(1.0)));
        let row = Row::new(what, format!("ready to take events: {}", shown(&ready)));
        let row = row.beside(format!("ready line: {}", shown(&said)));
        if is_goal { row.reach("at most 200 ms", ready.quantile(0.5) <= SOON) } else { row }
    }
}
