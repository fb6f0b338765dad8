//! Where commands do their work: at the gateway when one runs, else on the ledger itself. The answers of both have the
//! shapes of the admin API, so that a command is written once.

mod api;
mod ledger;
mod search;

use ::ledger::sqlite::{LockError, OpenError};
use anyhow::Context as _;
use async_trait::async_trait;
use serde_json::Value;

use super::context::{self, Context};
use super::out;
pub(super) use api::Api;
use ledger::Ledger;
use search::Search;

/// A kind of thing that can be listed and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    Event,
    Run,
    Delivery,
}

impl Noun {
    /// Its part of the API's paths.
    fn path(self) -> &'static str {
        match self {
            Noun::Event => "events",
            Noun::Run => "runs",
            Noun::Delivery => "deliveries",
        }
    }
}

/// What is listed; a noun takes those of the fields that it has.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub(super) route: Option<String>,
    pub(super) event_id: Option<String>,
    pub(super) state: Option<String>,
    pub(super) delivery_id: Option<String>,
    /// Unix milliseconds.
    pub(super) since: Option<i64>,
    pub(super) limit: u32,
    pub(super) cursor: Option<String>,
}

/// The operations behind the commands. Ids are known to be of the right kind.
#[async_trait]
pub(super) trait Backend: Send + Sync {
    /// Counts and routes.
    async fn status(&self) -> anyhow::Result<Value>;
    /// The gateways of the ledger: `{"items": […], "next": null}`.
    async fn nodes(&self) -> anyhow::Result<Value>;
    /// One page of a listing: `{"items": […], "next": …}`.
    async fn page(&self, noun: Noun, query: Query) -> anyhow::Result<Value>;
    /// One thing, whole.
    async fn show(&self, noun: Noun, id: &str) -> anyhow::Result<Value>;
    /// The body of an event's request, as received.
    async fn body(&self, event_id: &str) -> anyhow::Result<Vec<u8>>;
    async fn retry_event(&self, id: &str) -> anyhow::Result<()>;
    async fn cancel_event(&self, id: &str) -> anyhow::Result<()>;
    /// Makes a new event of a stored one: `{"status", "event_id", …}`, see [`Backend::send`].
    async fn replay(&self, event_id: &str) -> anyhow::Result<Value>;
    async fn stop_run(&self, id: &str) -> anyhow::Result<()>;
    async fn retry_delivery(&self, id: &str) -> anyhow::Result<()>;
    async fn pause(&self, route: &str) -> anyhow::Result<()>;
    async fn resume(&self, route: &str) -> anyhow::Result<()>;
    /// Gives a route work: `{"status": "accepted" | "duplicate" | "ignored", "event_id": …, …}`.
    async fn send(&self, work: Work) -> anyhow::Result<Value>;
    /// Lets go of what it holds.
    async fn close(&self);
}

/// Work for a route.
pub(super) struct Work {
    pub(super) route: String,
    pub(super) payload: Vec<u8>,
    pub(super) id: Option<String>,
    pub(super) delay: Option<std::time::Duration>,
    pub(super) hop: u32,
    pub(super) from_run: bool,
}

/// Does `work` where it is to be done.
pub(super) fn with<T>(
    context: &Context,
    work: impl AsyncFnOnce(&dyn Backend) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    context::block_on(async {
        let backend = open(context).await?;
        let result = work(&*backend).await;
        backend.close().await;
        result
    })
}

/// Does `work` at the running gateway; without one it cannot be done.
pub(super) fn at_gateway<T>(context: &Context, work: impl AsyncFnOnce(&Api) -> anyhow::Result<T>) -> anyhow::Result<T> {
    context::block_on(async {
        let config = configuration(context);
        let search = Search::new(config.as_ref().ok(), context);
        if let Some(api) = search.run().await? {
            // What is wrong with the files is for the gateway to say, which reads them in its own environment.
            return work(&api).await;
        }
        config?;
        anyhow::bail!("no gateway runs at {}; start it with `doorbell serve`", search.place())
    })
}

async fn open(context: &Context) -> anyhow::Result<Box<dyn Backend>> {
    let config = configuration(context);
    let search = Search::new(config.as_ref().ok(), context);
    let running = search.run().await?;
    let config = match (running, config) {
        (Some(api), config) => {
            if let Err(error) = config {
                out::note(&format!("note: the gateway goes on with what it has read, but {error:#}"));
            }
            return Ok(Box::new(api));
        }
        (None, config) => config?,
    };
    match Ledger::open(context, config).await {
        Ok(ledger) => Ok(Box::new(ledger)),
        // A gateway that is starting has the ledger before it listens.
        Err(error) if is_held(&error) => match search.run().await? {
            Some(api) => Ok(Box::new(api)),
            None => Err(error.context(format!("no gateway answers at {}, and the ledger is in use", search.place()))),
        },
        Err(error) => Err(error),
    }
}

fn configuration(context: &Context) -> anyhow::Result<config::Config> {
    context.config().context("the configuration cannot be used")
}

fn is_held(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(OpenError::Lock(LockError::Held { .. })))
}
