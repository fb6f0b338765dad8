//! The work done on the ledger itself, while no gateway has it.
use ::ledger::{DeliveryQuery, EventQuery, Page, RunQuery};
use anyhow::{bail, ensure};
use async_trait::async_trait;
use config::Config;
use gateway::Core;
use gateway::clock::Clock;
use gateway::ingest::{self, Send, Sent};
use gateway::standing::Standing;
use rules::states::RunState;
use serde::Serialize;
use serde_json::Value;

use super::{Backend, Noun, Query, Work};
use crate::cli::context::Context;

/// A life in which nothing is claimed needs no number of its own.
const NO_BOOT: i64 = 0;

/// The ledger of a home, held for one operation.
pub(super) struct Ledger {
    core: Core,
}

impl Ledger {
    /// Takes the ledger. The error is a `ledger::sqlite::OpenError` when it cannot be had.
    pub(super) async fn open(context: &Context, config: Config) -> anyhow::Result<Ledger> {
        crate::serve::prepare_home(&context.place.home)?;
        let store = crate::store::open(&context.place.home, &config).await?;
        let home = context.place.home.clone();
        Ok(Ledger { core: Core::new(store, NO_BOOT, home, Clock::system(), config) })
    }

    /// The route's name, when the configuration has it.
    fn known<'r>(&self, route: &'r str) -> anyhow::Result<&'r str> {
        let known = self.core.config().routes.contains_key(route);
        ensure!(known, "there is no route {route} in the configuration; `doorbell status` lists them");
        Ok(route)
    }
}

#[async_trait]
impl Backend for Ledger {
    async fn status(&self) -> anyhow::Result<Value> {
        value(&Standing::of(&self.core, None).await?)
    }

    async fn nodes(&self) -> anyhow::Result<Value> {
        value(&Page { items: self.core.ledger.nodes().await?, next: None })
    }

    async fn page(&self, noun: Noun, query: Query) -> anyhow::Result<Value> {
        let Query { route, event_id, state, delivery_id, since, limit, cursor } = query;
        let ledger = &self.core.ledger;
        match noun {
            Noun::Event => {
                let state = state.map(|state| state.parse()).transpose()?;
                value(&ledger.events(EventQuery { route, state, delivery_id, since, limit, cursor }).await?)
            }
            Noun::Run => {
                let state = state.map(|state| state.parse()).transpose()?;
                value(&ledger.runs(RunQuery { event_id, route, state, limit, cursor }).await?)
            }
            Noun::Delivery => {
                let state = state.map(|state| state.parse()).transpose()?;
                value(&ledger.deliveries(DeliveryQuery { event_id, state, limit, cursor }).await?)
            }
        }
    }

    async fn show(&self, noun: Noun, id: &str) -> anyhow::Result<Value> {
        match noun {
            Noun::Event => value(&self.core.ledger.event(id).await?),
            Noun::Run => value(&self.core.ledger.run(id).await?),
            Noun::Delivery => value(&self.core.ledger.delivery(id).await?),
        }
    }

    async fn body(&self, event_id: &str) -> anyhow::Result<Vec<u8>> {
        Ok(self.core.ledger.request(event_id).await?.body)
    }

    async fn retry_event(&self, id: &str) -> anyhow::Result<()> {
        Ok(self.core.retry_event(id).await?)
    }

    async fn cancel_event(&self, id: &str) -> anyhow::Result<()> {
        Ok(self.core.cancel_event(id).await?)
    }

    async fn replay(&self, event_id: &str) -> anyhow::Result<Value> {
        answer(ingest::replay(&self.core, event_id).await?)
    }

    async fn stop_run(&self, id: &str) -> anyhow::Result<()> {
        let run = self.core.ledger.run(id).await?;
        match run.state {
            RunState::Running if self.core.ledger.lease().is_some() => {
                bail!("no gateway of this home runs; stop {id} where it runs (`doorbell nodes` lists the others)")
            }
            RunState::Running => {
                bail!("no gateway runs, so {id} does not either; the next start takes its event up again")
            }
            state => bail!("{id} has ended: {state}"),
        }
    }

    async fn retry_delivery(&self, id: &str) -> anyhow::Result<()> {
        Ok(self.core.retry_delivery(id).await?)
    }

    async fn pause(&self, route: &str) -> anyhow::Result<()> {
        self.core.pause(self.known(route)?).await?;
        Ok(())
    }

    async fn resume(&self, route: &str) -> anyhow::Result<()> {
        self.core.resume(self.known(route)?).await?;
        Ok(())
    }

    async fn send(&self, work: Work) -> anyhow::Result<Value> {
        let Work { route, payload, id, delay, hop, from_run } = work;
        answer(ingest::send(&self.core, Send { route, payload, id, delay, hop, from_run }).await?)
    }

    async fn close(&self) {
        self.core.ledger.close().await;
    }
}

fn value(view: &impl Serialize) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(view)?)
}

/// What became of new work, as the API says it.
fn answer(sent: Sent) -> anyhow::Result<Value> {
    match sent {
        Sent::Limited { .. } => {
            bail!("the route has admitted as many events as its rate_limit allows in this minute")
        }
        sent => value(&sent),
    }
}
