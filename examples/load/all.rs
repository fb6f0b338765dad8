//! `load all`: everything that takes minutes, into one table.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use crate::bench::{Bench, FULL, QUICK};
use crate::disk;
use crate::figures::Figures;
use crate::gateway::Gateway;
use crate::measure::soak::{Soak, flat_row};
use crate::measure::{burst, claims, ingest, postgres, prune, restart, wake};
use crate::results::{Row, file, grouped, machine, peers, table};
use crate::seed::{self, Content};

/// Measures everything that takes minutes, prints it, and writes it into a part of a file
#[derive(Args)]
pub(crate) struct Command {
    /// The doorbell to measure
    #[arg(default_value = "target/release/doorbell")]
    binary: PathBuf,
    /// Counts so small that the figures say nothing, to see that everything is measured
    #[arg(long)]
    quick: bool,
    /// A folder for large ledgers, made once and copied for each run
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// A folder on the disk to measure, instead of the temporary one
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
    /// A JSON file with figures of other systems, for a table of their own
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    /// The file that the table is written into
    #[arg(long, default_value = "benches/RESULTS.md")]
    out: PathBuf,
}

/// Writes only the table of other systems
#[derive(Args)]
pub(crate) struct PeersCommand {
    /// A JSON file with their figures
    file: PathBuf,
    /// The file that the table is written into
    #[arg(long, default_value = "benches/RESULTS.md")]
    out: PathBuf,
}

impl PeersCommand {
    pub(crate) fn run(self) {
        put_peers(&self.file, &self.out);
    }
}

fn put_peers(peers: &Path, out: &Path) {
    let text = peers::table(peers).unwrap_or_else(|error| panic!("{error}"));
    println!("{text}");
    file::put(out, "peers", &text);
}

impl Command {
    pub(crate) fn run(self) {
        assert!(self.binary.exists(), "{} is not there; run: cargo build --release", self.binary.display());
        let work = self.work.map_or_else(tempfile::tempdir, tempfile::tempdir_in).expect("a folder to work in");
        let scale = if self.quick { QUICK } else { FULL };
        let bench = Bench { binary: self.binary, work: work.path().to_owned(), keep: self.keep, scale };
        let machine = machine::description(&bench.work);
        let before = disk::fdatasync(&bench.work);
        let began = Instant::now();
        let mut rows = measured(&bench);
        let after = disk::fdatasync(&bench.work);
        rows.insert(
            0,
            Row::new("fdatasync of a page, before", before.short()).beside(format!("after: {}", after.short())),
        );
        if let Some(soak) = Soak::read(&self.out.with_file_name("soak.json")) {
            rows.push(flat_row(&soak));
        }
        let size = std::fs::metadata(&bench.binary).map_or(0, |m| m.len() / 1_000_000);
        let took = began.elapsed().as_secs();
        let text = format!("{machine}. Binary of {size} MB; {took} s in all.\n\n{}", table(&rows));
        println!("{text}");
        file::put(&self.out, "measured", &text);
        if let Some(peers) = self.peers {
            put_peers(&peers, &self.out);
        }
    }
}

/// One part after the other, and says which on standard error, since some take long.
fn measured(bench: &Bench) -> Vec<Row> {
    let scale = &bench.scale;
    say("ingest");
    let mut rows = ingest::rows(bench);
    say("wake-up and burst");
    let gateway = Gateway::start(&bench.binary, &bench.home("runs"));
    gateway.wait_ready();
    rows.push(wake_row("new ledger", &wake::measure(&gateway, scale.wake_ups)));
    rows.push(burst::row(bench, &gateway));
    gateway.stop();
    say("seeding");
    let began = Instant::now();
    let many = seed::home(&bench.work, bench.keep(), Content { finished: scale.many, ..Content::default() });
    eprintln!("a ledger of {} events in {} s", grouped(scale.many), began.elapsed().as_secs());
    say("claims");
    rows.extend(claims::rows(bench, &many));
    say("restart");
    rows.extend(restart::rows(bench, &bench.home("restart"), "new ledger", false));
    let content = format!("{} finished events", grouped(scale.many));
    rows.extend(restart::rows(bench, &many, &content, true));
    seed::make(&many, Content { waiting: scale.waiting, ..Content::default() });
    let content = format!("{content} and {} waiting", grouped(scale.waiting));
    rows.extend(restart::rows(bench, &many, &content, true));
    let gateway = Gateway::start(&bench.binary, &many);
    gateway.wait_ready();
    rows.push(wake_row(&content, &wake::measure(&gateway, scale.wake_ups)));
    gateway.stop();
    say("removing old events");
    rows.extend(prune::rows(bench, &many, scale.many));
    say("PostgreSQL");
    rows.extend(postgres::rows(bench));
    rows
}

fn wake_row(content: &str, figures: &Figures) -> Row {
    Row::new(format!("wake-up, 202 to the agent's first instruction, {content}"), figures.short())
        .reach("p50 under 10 ms", figures.quantile(0.5) < Duration::from_millis(10))
}

fn say(part: &str) {
    eprintln!("measuring: {part}");
}
