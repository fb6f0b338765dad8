//! `doorbell nodes`.

use clap::Args;
use serde_json::Value;

use super::context::Context;
use super::table::Table;
use super::{backend, out};

#[derive(Args)]
pub(super) struct Nodes {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Nodes {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        let nodes = backend::with(context, async |backend| backend.nodes().await)?;
        if self.json { out::json(&nodes) } else { out::line(&text(&nodes)) }
    }
}

fn text(nodes: &Value) -> String {
    let mut table = Table::new(&["NODE", "LIFE", "STATE", "SINCE", "RUNNING", "SENDING"]);
    for node in nodes["items"].as_array().into_iter().flatten() {
        let word = |key: &str| node[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| node[key].as_i64().unwrap_or_default().to_string();
        // One that has ended is listed for what it left, until somebody has taken that over.
        let state = if node["lives"] == true { "alive" } else { "gone" }.to_owned();
        table.row([word("name"), number("boot"), state, word("started_at"), number("running"), number("sending")]);
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_and_what_the_dead_left() {
        let node = |name: &str, lives: bool| serde_json::json!({"name": name, "boot": 7, "lives": lives, "started_at": "then", "running": 2, "sending": 0});
        let shown = text(&serde_json::json!({"items": [node("a", true), node("b", false)], "next": null}));
        let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["a", "7", "alive", "then", "2", "0"]);
        assert_eq!(lines[2], ["b", "7", "gone", "then", "2", "0"]);
    }
}
