//! `doorbell`: gives an AI agent an address.
//!
//! One executable with many roles: the gateway (`serve`), commands for people and scripts, and, started by the gateway for
//! each run, the warden between it and an agent.

mod cli;
mod demo;
mod logging;
mod serve;
mod store;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Wardens are started for every run and know nothing of commands: no parser, no runtime, no configuration.
    if std::env::args_os().nth(1).is_some_and(|word| word == "warden") {
        return gateway::process::warden::main();
    }
    // Another library could install a provider of its own otherwise, and two of them panic at the first connection.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        eprintln!("doorbell: another TLS provider is installed already");
        return ExitCode::FAILURE;
    }
    cli::run()
}
