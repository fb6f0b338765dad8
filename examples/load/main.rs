//! Measures a real `doorbell serve` on this machine, beside what its halves and the disk can do alone.
//!
//! ```text
//! cargo build --release && cargo run --release --example load -- all
//! ```
//!
//! One table, `benches/RESULTS.md`; each goal stands in it with its figure and whether it is met. Requests are signed
//! before the clock starts. `soak` takes an hour and has a part of its own in that file; `drive` drives any other system
//! with the same driver.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

mod all;
mod bare;
mod bench;
mod bodies;
mod disk;
mod drive;
mod figures;
mod gateway;
mod measure;
mod request;
mod results;
mod seed;
mod stub;

use clap::{Parser, Subcommand};

/// Measures Doorbell, and other systems that take webhooks
#[derive(Parser)]
#[command(name = "load")]
struct Cli {
    /// Without a word: `all`
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    All(all::Command),
    Soak(measure::soak::Command),
    Peers(all::PeersCommand),
    Drive(drive::command::Command),
    /// Serves HTTP and checks one signature, nothing else
    #[command(hide = true)]
    Handler,
    /// Serves as an agent: notes when it was started, in a file named by the prompt
    #[command(hide = true)]
    Stamp {
        pattern: String,
    },
    /// Serves as an agent that works for so many milliseconds
    #[command(hide = true)]
    Stub {
        millis: u64,
    },
}

fn main() {
    let what = Cli::parse().what.or_else(|| Cli::parse_from(["load", "all"]).what);
    match what.expect("`all` is a word that is known") {
        What::All(command) => command.run(),
        What::Soak(command) => command.run(),
        What::Peers(command) => command.run(),
        What::Drive(command) => command.run(),
        What::Handler => bare::handler::serve(),
        What::Stamp { pattern } => stub::stamp(&pattern),
        What::Stub { millis } => stub::work(millis),
    }
}
