//! `doorbell reload`.

use serde_json::Value;

use super::context::Context;
use super::{backend, out};

/// The running gateway reads its files again; its notes are what in them may not be meant or needs a restart.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let answer = backend::at_gateway(context, async |api| api.reload().await)?;
    for note in answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        out::note(note);
    }
    out::note("the configuration is reloaded");
    Ok(())
}
