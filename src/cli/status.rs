//! `doorbell status`.

use clap::Args;
use serde_json::Value;

use super::backend;
use super::context::Context;
use super::table::Table;
use super::{out, when};

#[derive(Args)]
pub(super) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        let status = backend::with(context, async |backend| backend.status().await)?;
        if self.json { out::json(&status) } else { out::line(&text(&status)) }
    }
}

fn text(status: &Value) -> String {
    let word = |key: &str| status[key].as_str().unwrap_or_default();
    let life = match status["uptime_s"].as_u64() {
        Some(seconds) => format!("up {}", when::words(seconds)),
        None => "no gateway runs; this is from the ledger".to_owned(),
    };
    let mut counts = Table::bare();
    for noun in ["events", "runs", "deliveries", "hooks"] {
        if let Some(states) = status[noun].as_object().filter(|states| !states.is_empty()) {
            let filled: Vec<String> = states.iter().filter_map(counted).collect();
            counts.row([noun, &if filled.is_empty() { "none".to_owned() } else { filled.join(", ") }]);
        }
    }
    let mut routes = Table::new(&["ROUTE", "STATE", "REASON"]);
    for route in status["routes"].as_array().into_iter().flatten() {
        routes.row(["name", "state", "reason"].map(|key| route[key].as_str().unwrap_or_default()));
    }
    format!("doorbell {} on {}, {life}\n\n{}\n\n{}", word("version"), word("node"), counts.text(), routes.text())
}

/// `3 queued`; states without anything are left out.
fn counted((state, number): (&String, &Value)) -> Option<String> {
    number.as_u64().filter(|number| *number > 0).map(|number| format!("{number} {state}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_is_left_out() {
        let status = serde_json::json!({
            "version": "1.2.3", "node": "n", "uptime_s": null, "hooks": {},
            "events": {"queued": 2, "held": 0, "succeeded": 1}, "runs": {"running": 0}, "deliveries": {},
            "routes": [{"name": "r", "state": "paused", "reason": "why"}],
        });
        let shown = "doorbell 1.2.3 on n, no gateway runs; this is from the ledger\n\n\
                     events  2 queued, 1 succeeded\nruns    none\n\nROUTE  STATE   REASON\nr      paused  why";
        assert_eq!(text(&status), shown);
    }
}
