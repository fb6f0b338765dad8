//! What it costs the ledger to take up and to end a run, whatever else is in its file.

use std::path::Path;
use std::time::{Duration, Instant};

use ledger::sqlite::Store;
use ledger::{Boot, Ledger as _};

use crate::bench::Bench;
use crate::figures::{Figures, ms};
use crate::gateway::{OTHER_ROUTES, other_route};
use crate::results::Row;
use crate::seed::{self, Content, one};
use crate::stub::now_ms;

/// Events before those that are timed, so that caches are as they are in a gateway that has run for a while.
const WARM_UP: usize = 40;

/// One file with its own content.
struct Scene {
    name: String,
    store: Store,
    boot: Boot,
    /// The routes that have room.
    routes: Vec<String>,
    /// The serial line that is claimed from, and that new events join.
    line: Option<&'static str>,
    admit: Vec<Duration>,
    claim: Vec<Duration>,
    finish: Vec<Duration>,
}

/// The three steps of an event's life, in files with little and with much in them, taking turns. `many` is the home of the
/// ledger with the most finished events.
pub(crate) fn rows(bench: &Bench, many: &Path) -> Vec<Row> {
    let scale = &bench.scale;
    let make = |content| seed::home(&bench.work, bench.keep(), content);
    let other: Vec<String> = (0..OTHER_ROUTES).map(other_route).collect();
    let empty = make(Content::default());
    let some = make(Content { finished: scale.some, ..Content::default() });
    let waiting = make(Content { waiting: scale.waiting, ..Content::default() });
    let in_line = make(Content { in_line: scale.waiting, ..Content::default() });
    let (some_name, many_name) = (grouped(scale.some), grouped(scale.many));
    let waiting_name = grouped(scale.waiting);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut scenes = vec![
            Scene::open("nothing else", &empty, &other, None).await,
            Scene::open(&format!("{some_name} finished events"), &some, &other, None).await,
            Scene::open(&format!("{many_name} finished events"), many, &other, None).await,
            Scene::open(&format!("{waiting_name} waiting on another, full route"), &waiting, &other, None).await,
            Scene::open(
                &format!("{waiting_name} waiting in its own serial line"),
                &in_line,
                &["line".into()],
                Some("push"),
            )
            .await,
        ];
        for number in 0..WARM_UP + scale.claims {
            for scene in &mut scenes {
                scene.once(number, number >= WARM_UP).await;
            }
        }
        let mut rows = Vec::new();
        let none = Figures::new(scenes[0].claim.clone()).quantile(0.5);
        for (number, scene) in scenes.into_iter().enumerate() {
            scene.store.close().await;
            rows.push(scene.row(none, matches!(number, 2 | 3)));
        }
        rows
    })
}

fn grouped(number: u64) -> String {
    crate::results::grouped(number)
}

impl Scene {
    async fn open(name: &str, home: &Path, routes: &[String], line: Option<&'static str>) -> Scene {
        let store = Store::open(&seed::options(home)).expect("a ledger");
        let boot = store.begin_boot(now_ms()).await.expect("a boot");
        Scene {
            name: name.to_owned(),
            store,
            boot,
            routes: routes.to_vec(),
            line,
            admit: Vec::new(),
            claim: Vec::new(),
            finish: Vec::new(),
        }
    }

    async fn once(&mut self, number: usize, counts: bool) {
        let began = Instant::now();
        one::admit(&self.store, &self.routes[number % self.routes.len()], self.line).await;
        let admitted = Instant::now();
        let run = one::claim(&self.store, self.boot, &self.routes).await.expect("an event is ready");
        let claimed = Instant::now();
        one::finish(&self.store, self.boot, &run, true).await;
        if counts {
            self.admit.push(admitted - began);
            self.claim.push(claimed - admitted);
            self.finish.push(claimed.elapsed());
        }
    }

    fn row(self, none: Duration, is_goal: bool) -> Row {
        let [admit, claim, finish] = [self.admit, self.claim, self.finish].map(Figures::new);
        let ratio = claim.quantile(0.5).as_secs_f64() / none.as_secs_f64().max(1e-9);
        let p50 = ms(claim.quantile(0.5));
        let row = Row::new(
            format!("claim of a run, ledger with {}", self.name),
            format!("p50 {p50}, p99 {}; {ratio:.2} × of nothing else", ms(claim.quantile(0.99))),
        );
        let row = row.beside(format!(
            "admission p50 {}, prompt and end p50 {}",
            ms(admit.quantile(0.5)),
            ms(finish.quantile(0.5))
        ));
        if is_goal { row.reach("at most 1.2 ×", ratio <= 1.2) } else { row }
    }
}
