//! Measures a real `doorbell serve` on this machine: durable ingest, wake-up, memory.
//!
//! ```text
//! cargo build --release && cargo run --release --example load -- all
//! ```
//!
//! Requests are signed before the clock starts. Every figure stands beside what the disk can do, measured before and after:
//! the time of one `fdatasync` is the floor of a durable answer.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

mod bodies;
mod disk;
mod drive;
mod figures;
mod gateway;
mod ingest;
mod request;
mod requests;
mod wake;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Requests of each ingest measurement, per connection count: enough for a p99, few enough for a laptop.
const CONNECTIONS: [(usize, usize); 4] = [(1, 1_000), (16, 8_000), (64, 16_000), (256, 16_000)];
const BODY_BYTES: usize = 8 << 10;
const WAKE_UPS: usize = 200;

/// Measures Doorbell, and other systems that take webhooks
#[derive(Parser)]
#[command(name = "load")]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Measures everything that takes minutes, and prints it
    All {
        #[arg(default_value = "target/release/doorbell")]
        binary: PathBuf,
    },
    Drive(drive::command::Command),
    /// Serves as an agent: writes down when it was started, in a file named by the prompt
    #[command(hide = true)]
    Stamp {
        pattern: String,
    },
}

fn main() {
    match Cli::parse().what {
        What::All { binary } => all(binary),
        What::Drive(command) => command.run(),
        What::Stamp { pattern } => wake::stamp(&pattern),
    }
}

fn all(binary: PathBuf) {
    assert!(binary.exists(), "{} is not there; run: cargo build --release", binary.display());
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("binary {} ({} MB)", binary.display(), std::fs::metadata(&binary).map_or(0, |m| m.len() / 1_000_000));
    println!("disk before: {}", disk::fdatasync(folder.path()));
    let gateway = gateway::start(&binary, folder.path());
    println!("idle memory: {} MB", gateway.resident_mb());
    for (connections, requests) in CONNECTIONS {
        println!("ingest {connections:>3} connections, {} KiB bodies: {}", BODY_BYTES >> 10, {
            ingest::measure(&gateway, connections, requests, BODY_BYTES)
        });
    }
    println!("memory after ingest: {} MB", gateway.resident_mb());
    println!("wake-up, from the 202 to the agent's first instruction: {}", wake::measure(&gateway, WAKE_UPS));
    drop(gateway);
    println!("disk after:  {}", disk::fdatasync(folder.path()));
}
