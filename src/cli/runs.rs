//! `doorbell runs …`.

use std::io::IsTerminal as _;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use rules::id::Kind;
use rules::states::RunState;
use serde_json::Value;

use super::backend::{self, Noun, Query};
use super::context::Context;
use super::pages::Pages;
use super::{details, ids, out, table};

#[derive(Subcommand)]
pub(super) enum Runs {
    /// List runs, newest first
    List(List),
    /// Show one run with its prompt and its answer
    Show {
        /// run_…
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what the agent wrote: the end of its standard error, then its answer
    Log {
        /// run_…
        id: String,
    },
    /// Stop a run; its event is cancelled
    Stop {
        /// run_…
        id: String,
    },
}

#[derive(Args)]
pub(super) struct List {
    /// Of this route
    #[arg(long)]
    route: Option<String>,
    /// Of this event
    #[arg(long, value_name = "ID")]
    event: Option<String>,
    /// In this state
    #[arg(long, value_parser = PossibleValuesParser::new(RunState::ALL.iter().map(|state| state.as_str())))]
    state: Option<String>,
    #[command(flatten)]
    pages: Pages,
}

const COLUMNS: [(&str, &str); 8] = [
    ("RUN", "id"),
    ("EVENT", "event_id"),
    ("ROUTE", "route"),
    ("AGENT", "agent"),
    ("ATTEMPT", "attempt"),
    ("STATE", "state"),
    ("STARTED", "started_at"),
    ("ERROR", "error"),
];

impl Runs {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            Runs::List(list) => list.run(context),
            Runs::Show { id, json } => {
                let run = show(context, &id)?;
                if json { out::json(&run) } else { out::line(&details::text(&run)) }
            }
            Runs::Log { id } => log(&show(context, &id)?),
            Runs::Stop { id } => {
                let id = ids::of(Kind::Run, &id)?;
                backend::with(context, async |backend| backend.stop_run(id).await)?;
                out::note(&format!("{id} is stopping"));
                Ok(())
            }
        }
    }
}

impl List {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let List { route, event, state, pages } = self;
        let event_id = event.as_deref().map(|id| ids::of(Kind::Event, id)).transpose()?.map(str::to_owned);
        let query = Query { route, event_id, state, ..Query::default() };
        backend::with(context, async |backend| pages.print(backend, Noun::Run, query, &COLUMNS).await)
    }
}

fn show(context: &Context, id: &str) -> anyhow::Result<Value> {
    let id = ids::of(Kind::Run, id)?;
    backend::with(context, async |backend| backend.show(Noun::Run, id).await)
}

fn log(run: &Value) -> anyhow::Result<()> {
    if run["state"] == RunState::Running.as_str() {
        out::note("still running: what it writes is kept when it ends");
    }
    let written: Vec<&str> = ["stderr", "answer"].into_iter().filter_map(|key| run[key].as_str()).collect();
    let parts = written.into_iter().filter(|text| !text.is_empty()).map(|text| {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("{text}{end}")
    });
    let text: String = parts.collect();
    // An agent's control characters are for files and pipes; a terminal would obey them.
    let shown = if std::io::stdout().is_terminal() { table::lines(&text) } else { text };
    out::bytes(shown.as_bytes())
}
