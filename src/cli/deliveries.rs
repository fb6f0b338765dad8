//! `doorbell deliveries …`.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use rules::id::Kind;
use rules::states::DeliveryState;

use super::backend::{self, Noun, Query};
use super::context::Context;
use super::pages::Pages;
use super::{details, ids, out};

#[derive(Subcommand)]
pub(super) enum Deliveries {
    /// List deliveries, newest first
    List(List),
    /// Show one delivery with its text
    Show {
        /// dlv_…
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send a delivery again that did not arrive, without a new run
    Retry {
        /// dlv_…
        id: String,
    },
}

#[derive(Args)]
pub(super) struct List {
    /// Of this event
    #[arg(long, value_name = "ID")]
    event: Option<String>,
    /// In this state
    #[arg(long, value_parser = PossibleValuesParser::new(DeliveryState::ALL.iter().map(|state| state.as_str())))]
    state: Option<String>,
    #[command(flatten)]
    pages: Pages,
}

const COLUMNS: [(&str, &str); 8] = [
    ("DELIVERY", "id"),
    ("EVENT", "event_id"),
    ("ROUTE", "route"),
    ("TARGET", "target"),
    ("STATE", "state"),
    ("ATTEMPTS", "attempts"),
    ("MADE", "created_at"),
    ("ERROR", "error"),
];

impl Deliveries {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        match self {
            Deliveries::List(list) => list.run(context),
            Deliveries::Show { id, json } => {
                let id = ids::of(Kind::Delivery, &id)?;
                let delivery = backend::with(context, async |backend| backend.show(Noun::Delivery, id).await)?;
                if json { out::json(&delivery) } else { out::line(&details::text(&delivery)) }
            }
            Deliveries::Retry { id } => {
                let id = ids::of(Kind::Delivery, &id)?;
                backend::with(context, async |backend| backend.retry_delivery(id).await)?;
                out::note(&format!("{id} is sent again"));
                Ok(())
            }
        }
    }
}

impl List {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        let List { event, state, pages } = self;
        let event_id = event.as_deref().map(|id| ids::of(Kind::Event, id)).transpose()?.map(str::to_owned);
        let query = Query { event_id, state, ..Query::default() };
        backend::with(context, async |backend| pages.print(backend, Noun::Delivery, query, &COLUMNS).await)
    }
}
