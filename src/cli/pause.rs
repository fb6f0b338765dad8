//! `doorbell pause` and `doorbell resume`.

use clap::Args;

use super::backend;
use super::context::Context;
use super::out;

/// The route that is meant.
#[derive(Args)]
pub(super) struct Route {
    /// The route's name
    route: String,
}

/// Holds what waits and what comes.
pub(super) fn pause(route: &Route, context: &Context) -> anyhow::Result<()> {
    let name = &route.route;
    backend::with(context, async |backend| backend.pause(name).await)?;
    out::note(&format!("{name} is paused: what comes is held until `doorbell resume {name}`"));
    Ok(())
}

/// Frees what was held.
pub(super) fn resume(route: &Route, context: &Context) -> anyhow::Result<()> {
    let name = &route.route;
    backend::with(context, async |backend| backend.resume(name).await)?;
    out::note(&format!("{name} goes on"));
    Ok(())
}
