//! `doorbell events …`.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use rules::id::Kind;
use rules::states::EventState;

use super::backend::{self, Noun, Query};
use super::context::Context;
use super::pages::Pages;
use super::{details, ids, out, sent, when};

#[derive(Subcommand)]
pub(super) enum Events {
    /// List events, newest first
    List(List),
    /// Show one event
    Show {
        /// ev_…
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the body of an event's request, byte for byte as it came
    Body {
        /// ev_…
        id: String,
    },
    /// Run an event again that did not succeed: the same event, one attempt more
    Retry {
        /// ev_…
        id: String,
    },
    /// Make a new event of a stored one, by the rules of today; prints the new event's id
    Replay {
        /// ev_…
        id: String,
    },
    /// End an event that waits
    Cancel {
        /// ev_…
        id: String,
    },
}

#[derive(Args)]
pub(super) struct List {
    /// Of this route
    #[arg(long)]
    route: Option<String>,
    /// In this state
    #[arg(long, value_parser = PossibleValuesParser::new(EventState::ALL.iter().map(|state| state.as_str())))]
    state: Option<String>,
    /// Received since: a length of time (2h, 7d), or a time (2026-01-31T12:00:00Z)
    #[arg(long, value_name = "WHEN", value_parser = when::since)]
    since: Option<i64>,
    /// With this delivery id of the sender's
    #[arg(long, value_name = "ID")]
    delivery_id: Option<String>,
    #[command(flatten)]
    pages: Pages,
}

const COLUMNS: [(&str, &str); 7] = [
    ("EVENT", "id"),
    ("ROUTE", "route"),
    ("TYPE", "event"),
    ("STATE", "state"),
    ("ATTEMPT", "attempt"),
    ("RECEIVED", "received_at"),
    ("DELIVERY ID", "delivery_id"),
];

impl Events {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            Events::List(list) => list.run(context),
            Events::Show { id, json } => {
                let id = ids::of(Kind::Event, &id)?;
                let event = backend::with(context, async |backend| backend.show(Noun::Event, id).await)?;
                if json { out::json(&event) } else { out::line(&details::text(&event)) }
            }
            Events::Body { id } => {
                let id = ids::of(Kind::Event, &id)?;
                out::bytes(&backend::with(context, async |backend| backend.body(id).await)?)
            }
            Events::Retry { id } => {
                let id = ids::of(Kind::Event, &id)?;
                backend::with(context, async |backend| backend.retry_event(id).await)?;
                out::note(&format!("{id} runs again"));
                Ok(())
            }
            Events::Replay { id } => {
                let id = ids::of(Kind::Event, &id)?;
                sent::print(&backend::with(context, async |backend| backend.replay(id).await)?)
            }
            Events::Cancel { id } => {
                let id = ids::of(Kind::Event, &id)?;
                backend::with(context, async |backend| backend.cancel_event(id).await)?;
                out::note(&format!("{id} is cancelled"));
                Ok(())
            }
        }
    }
}

impl List {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let List { route, state, since, delivery_id, pages } = self;
        let query = Query { route, state, delivery_id, since, ..Query::default() };
        backend::with(context, async |backend| pages.print(backend, Noun::Event, query, &COLUMNS).await)
    }
}
