//! What it costs the ledger to take up and to end a run, whatever else is in its file.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ledger::sqlite;
use ledger::{Boot, Ledger};

use crate::bench::Bench;
use crate::figures::{Figures, ms};
use crate::gateway::{OTHER_ROUTES, other_route};
use crate::results::Row;
use crate::seed::{self, Content, one};
use crate::stub::now_ms;

/// Events before those that are timed, so that caches are as they are in a gateway that has run for a while.
const WARM_UP: usize = 40;

/// One ledger with its own content.
pub(crate) struct Scene {
    name: String,
    store: Arc<dyn Ledger>,
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
            Scene::open("ledger with nothing else", file(&empty), &other, None).await,
            Scene::open(&format!("ledger with {some_name} finished events"), file(&some), &other, None).await,
            Scene::open(&format!("ledger with {many_name} finished events"), file(many), &other, None).await,
            Scene::open(
                &format!("ledger with {waiting_name} waiting on another, full route"),
                file(&waiting),
                &other,
                None,
            )
            .await,
            Scene::open(
                &format!("ledger with {waiting_name} waiting in its own serial line"),
                file(&in_line),
                &["line".into()],
                Some("push"),
            )
            .await,
        ];
        compare(&mut scenes, scale.claims, |number| matches!(number, 2 | 3)).await
    })
}

fn file(home: &Path) -> Arc<dyn Ledger> {
    Arc::new(sqlite::Store::open(&seed::options(home)).expect("a ledger"))
}

/// Lets the scenes take turns, and closes them. The first is what the others are compared with; some are a goal.
pub(crate) async fn compare(scenes: &mut Vec<Scene>, claims: usize, is_goal: impl Fn(usize) -> bool) -> Vec<Row> {
    for number in 0..WARM_UP + claims {
        for scene in scenes.iter_mut() {
            scene.once(number, number >= WARM_UP).await;
        }
    }
    let mut rows = Vec::new();
    let none = Figures::new(scenes[0].claim.clone()).quantile(0.5);
    for (number, scene) in scenes.drain(..).enumerate() {
        scene.store.close().await;
        rows.push(scene.row(none, is_goal(number)));
    }
    rows
}

fn grouped(number: u64) -> String {
    crate::results::grouped(number)
}

impl Scene {
    pub(crate) async fn open(
        name: &str,
        store: Arc<dyn Ledger>,
        routes: &[String],
        line: Option<&'static str>,
    ) -> Scene {
        let boot = store.begin_boot("bench", now_ms()).await.expect("a boot");
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
        if self.store.lease().is_some() {
            // Nobody else keeps this life.
            self.store.renew(self.boot).await.expect("a renewal");
        }
        let began = Instant::now();
        one::admit(&*self.store, &self.routes[number % self.routes.len()], self.line).await;
        let admitted = Instant::now();
        let run = one::claim(&*self.store, self.boot, &self.routes).await.expect("an event is ready");
        let claimed = Instant::now();
        one::finish(&*self.store, self.boot, &run, true).await;
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
            format!("claim of a run, {}", self.name),
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
