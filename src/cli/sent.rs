//! What became of work that was given to a route, for the commands that give some.

use anyhow::bail;
use serde_json::Value;

use super::out;

/// Prints the event's id; fails when nothing will run.
pub(super) fn print(sent: &Value) -> anyhow::Result<()> {
    let text = |key: &str| sent[key].as_str().unwrap_or_default();
    match text("status") {
        "ignored" => bail!("ignored ({}): nothing runs; the record of it is {}", text("reason"), text("event_id")),
        "duplicate" => out::note("a duplicate: the event with this id is there already"),
        _ => {}
    }
    out::line(text("event_id"))
}
