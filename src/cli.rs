//! The command line: what may be typed, and one file a command.

mod agents;
mod check;
mod completions;
mod context;
mod out;
mod programs;
mod schema;
mod serve;
mod sources;
mod table;
mod targets;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use context::Context;

/// Gives an AI agent an address: durable webhooks in, one run each, the answer delivered.
#[derive(Parser)]
#[command(name = "doorbell", version)]
struct Cli {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

/// Where this call works.
#[derive(Args)]
struct Place {
    /// The folder with config.yaml, .env and the ledger [default: $DOORBELL_HOME, else ~/.doorbell]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The configuration file [default: config.yaml in the home]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Take webhooks, wake agents, deliver answers; in the foreground until SIGTERM or SIGINT
    Serve(serve::Serve),
    /// Say everything that is wrong with the configuration; exit 1 when something is
    Check,
    /// Print the JSON Schema of config.yaml
    Schema,
    /// List the agents of the configuration and the presets that are built in
    Agents(agents::Agents),
    /// List the sources that are built in: how each signs, and what it needs
    Sources(sources::Sources),
    /// List the kinds of targets that are built in, and what each needs
    Targets(targets::Targets),
    /// Print a completion script for a shell
    Completions(completions::Completions),
}

/// Reads the command line and does what it says: exit 0 done, 1 failed, 2 wrong usage.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let context = match Context::new(cli.place) {
        Ok(context) => context,
        Err(error) => return out::failure(&error),
    };
    match dispatch(cli.command, &context) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => out::failure(&error),
    }
}

fn dispatch(command: Command, context: &Context) -> anyhow::Result<()> {
    match command {
        Command::Serve(serve) => serve.run(context),
        Command::Check => check::run(context),
        Command::Schema => schema::run(),
        Command::Agents(agents) => agents.run(context),
        Command::Sources(sources) => sources.run(),
        Command::Targets(targets) => targets.run(),
        Command::Completions(completions) => completions.run(),
    }
}
