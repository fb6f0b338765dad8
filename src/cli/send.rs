//! `doorbell send`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;

use super::backend::{self, Work};
use super::context::Context;
use super::{input, sent, when};

#[derive(Args)]
pub(super) struct Send {
    /// The route
    route: String,
    /// A file with the payload as JSON, - for standard input [default: {}]
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// A delivery id: a second event with the same is a duplicate
    #[arg(long)]
    id: Option<String>,
    /// Wait so long before it runs, such as 10m
    #[arg(long = "in", value_name = "DURATION", value_parser = when::length)]
    delay: Option<Duration>,
}

impl Send {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        let (hop, from_run) = hop(|name| context.environment.get(name).map(String::as_str))?;
        let payload = match &self.payload {
            None => b"{}".to_vec(),
            Some(path) => read(path)?,
        };
        let work = Work { route: self.route, payload, id: self.id, delay: self.delay, hop, from_run };
        sent::print(&backend::with(context, async |backend| backend.send(work).await)?)
    }
}

/// The payload in a file; the error says where it is no JSON, never what stands there.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let payload = input::read(path).with_context(|| format!("cannot read the payload from {}", path.display()))?;
    payload::parse(&payload, Some("application/json")).with_context(|| format!("the payload in {}", path.display()))?;
    Ok(payload)
}

/// The hop of work that is given with this environment, and whether that is the environment of a run.
fn hop<'e>(environment: impl Fn(&str) -> Option<&'e str>) -> anyhow::Result<(u32, bool)> {
    let set = |name| environment(name).filter(|value| !value.is_empty());
    if set("DOORBELL_RUN_ID").is_none() {
        return Ok((0, false));
    }
    // A hop that cannot be read must not start the count again: that is how loops are stopped.
    let hop: u32 = set("DOORBELL_HOP").unwrap_or("0").parse().context("DOORBELL_HOP is not a number")?;
    Ok((hop.saturating_add(1), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_out_of_a_run_is_one_hop_further() {
        let of = |run: &'static str, count: &'static str| {
            hop(move |name| Some(if name == "DOORBELL_RUN_ID" { run } else { count }))
        };
        assert_eq!(of("run_1", "3").unwrap(), (4, true));
        assert_eq!(of("run_1", "").unwrap(), (1, true));
        assert_eq!(of("", "3").unwrap(), (0, false));
        assert!(of("run_1", "many").is_err());
        assert_eq!(hop(|_| None).unwrap(), (0, false));
    }
}
