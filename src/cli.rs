//! The command line: what may be typed, and one file a command.

mod agents;
mod backend;
mod check;
mod completions;
mod context;
mod deliveries;
mod demo;
mod details;
mod events;
mod ids;
mod input;
mod migrate;
mod nodes;
mod open;
mod out;
mod pages;
mod pause;
mod programs;
mod reload;
mod runs;
mod schema;
mod send;
mod sent;
mod serve;
mod sources;
mod status;
mod table;
mod targets;
mod verify;
mod when;

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

const HOME: &str = "The folder with config.yaml, .env and the ledger [default: $DOORBELL_HOME, else ~/.doorbell]";

/// Where this call works.
#[derive(Args)]
struct Place {
    #[arg(long, global = true, value_name = "DIR", help = HOME)]
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
    /// Have the running gateway read its configuration again
    Reload,
    /// Print a link to the dashboard that signs in once
    Open,
    /// Give a route work, without a signature; prints the event's id
    Send(send::Send),
    /// Say how it stands: events, runs and deliveries by state, and the routes
    Status(status::Status),
    /// Copy a whole ledger into an empty one, from a file into a database or back, while no gateway uses either
    Migrate(migrate::Migrate),
    /// List the gateways that share the ledger
    Nodes(nodes::Nodes),
    /// Look at events, and run, replay or cancel one
    #[command(subcommand)]
    Events(events::Events),
    /// Look at runs, and stop one
    #[command(subcommand)]
    Runs(runs::Runs),
    /// Look at deliveries, and send one again
    #[command(subcommand)]
    Deliveries(deliveries::Deliveries),
    /// Hold what waits and what comes for a route
    Pause(pause::Route),
    /// Let a paused route go on
    Resume(pause::Route),
    /// List the agents of the configuration and the presets that are built in
    Agents(agents::Agents),
    /// List the sources that are built in: how each signs, and what it needs
    Sources(sources::Sources),
    /// List the kinds of targets that are built in, and what each needs
    Targets(targets::Targets),
    /// Say whether a recorded request would be let in, and why not; exit 1 when not
    Verify(verify::Verify),
    /// Show the whole job in a temporary home: ring, run, answer, duplicate, kill -9, recovery
    Demo(demo::Demo),
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
        Command::Reload => reload::run(context),
        Command::Open => open::run(context),
        Command::Send(send) => send.run(context),
        Command::Status(status) => status.run(context),
        Command::Migrate(migrate) => migrate.run(context),
        Command::Nodes(nodes) => nodes.run(context),
        Command::Events(events) => events.run(context),
        Command::Runs(runs) => runs.run(context),
        Command::Deliveries(deliveries) => deliveries.run(context),
        Command::Pause(route) => pause::pause(&route, context),
        Command::Resume(route) => pause::resume(&route, context),
        Command::Agents(agents) => agents.run(context),
        Command::Sources(sources) => sources.run(),
        Command::Targets(targets) => targets.run(),
        Command::Verify(verify) => verify.run(),
        Command::Demo(demo) => demo.run(),
        Command::Completions(completions) => completions.run(),
    }
}
