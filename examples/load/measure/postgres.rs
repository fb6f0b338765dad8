//! The same gateway with its ledger in PostgreSQL, on this machine's disk, with the database's own settings about what is safe.

use std::sync::Arc;

use ledger::{Ledger, postgres};
use scratch_postgres::Server;

use crate::bench::{BODY_BYTES, Bench, Load};
use crate::drive::{Drive, Outcome};
use crate::figures::Figures;
use crate::gateway::{Gateway, OTHER_ROUTES, SECRET, Setup, other_route};
use crate::measure::claims::{self, Scene};
use crate::request::Shape;
use crate::results::{Row, grouped, mb, per_second};
use crate::seed::postgres::fill;

/// Both gateways take turns, round by round.
pub(crate) fn rows(bench: &Bench) -> Vec<Row> {
    let server = Server::durable(&bench.work.join("postgres"));
    let shared = bench.work.join("on-postgres");
    Setup { store_url: Some(server.create("ingest")), ..Setup::default() }.write(&shared);
    let gateways = [Gateway::start(&bench.binary, &bench.home("on-sqlite")), Gateway::start(&bench.binary, &shared)];
    for gateway in &gateways {
        gateway.wait_ready();
    }
    compare(&gateways, Load { connections: 16, requests: 160, rounds: 1 });
    let mut rows = Vec::new();
    for load in bench.scale.ingest.iter().filter(|load| load.connections >= 16) {
        rows.push(ingest_row(load.connections, &compare(&gateways, *load)));
    }
    let peak = gateways[1].memory_kib("VmHWM") * 1024;
    rows.push(Row::new("memory of the gateway, PostgreSQL, 16 to 256 connections", mb(peak)));
    for gateway in gateways {
        gateway.stop();
    }
    rows.extend(claim_rows(bench, &server));
    rows
}

/// What the gateway on SQLite and that on PostgreSQL did.
fn compare(gateways: &[Gateway; 2], load: Load) -> [Outcome; 2] {
    let shape = Shape::github("queue", SECRET, BODY_BYTES);
    let mut outcomes = [Outcome::default(), Outcome::default()];
    for round in 0..load.rounds {
        for turn in 0..2 {
            let which = (round + turn) % 2;
            let prefix = uuid::Uuid::now_v7().simple().to_string();
            let lists = shape.deal(&prefix, load.requests / load.rounds, load.connections);
            outcomes[which].merge(Drive::to(gateways[which].public).run(lists).all_accepted("the gateway"));
        }
    }
    outcomes
}

fn ingest_row(connections: usize, [file, shared]: &[Outcome; 2]) -> Row {
    let part = shared.per_second() / file.per_second();
    let [of_file, of_shared] = [file, shared].map(|o| Figures::new(o.accepted.clone()));
    let row = Row::new(
        format!("durable ingest on PostgreSQL, {connections} connections"),
        format!("{}, {}", per_second(shared.per_second()), of_shared.short()),
    );
    let row = row.beside(format!(
        "the same gateway on SQLite {}, {}: {part:.2} ×",
        per_second(file.per_second()),
        of_file.short()
    ));
    if connections == 64 { row.reach("at least half of SQLite's", part >= 0.5) } else { row }
}

fn claim_rows(bench: &Bench, server: &Server) -> Vec<Row> {
    let (empty, many) = (server.create("empty"), server.create("many"));
    let other: Vec<String> = (0..OTHER_ROUTES).map(other_route).collect();
    let name = |content: &str| format!("ledger on PostgreSQL with {content}");
    let finished = format!("{} finished events", grouped(bench.scale.many));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        fill(server, &many, &*connect(&many).await, bench.scale.many).await;
        let empty = Scene::open(&name("nothing else"), connect(&empty).await, &other, None).await;
        let many = Scene::open(&name(&finished), connect(&many).await, &other, None).await;
        claims::compare(&mut vec![empty, many], bench.scale.claims, |number| number == 1).await
    })
}

async fn connect(url: &str) -> Arc<dyn Ledger> {
    Arc::new(postgres::Store::connect(url, &postgres::Options::default()).await.expect("a ledger"))
}
