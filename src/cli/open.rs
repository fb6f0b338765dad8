//! `doorbell open`.

use anyhow::Context as _;

use super::context::Context;
use super::{backend, out};

/// Prints a link to the dashboard that signs in whoever opens it first.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let answer = backend::at_gateway(context, async |api| api.open_code().await)?;
    let url = answer["url"].as_str().context("the gateway gave no link")?;
    if let Some(seconds) = answer["expires_in_s"].as_u64() {
        out::note(&format!("open this in a browser within {seconds} s; it works once"));
    }
    out::line(url)
}
