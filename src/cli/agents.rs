//! `doorbell agents`.

use clap::Args;
use serde_json::{Value, json};

use super::context::Context;
use super::table::Table;
use super::{out, programs};

#[derive(Args)]
pub(super) struct Agents {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Agents {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        let configured = match context.config() {
            Ok(config) => config.agents.values().map(|agent| configured(agent, context)).collect(),
            Err(error) => {
                out::note(&format!("the presets alone, because the configuration cannot be used:\n{error}"));
                Vec::new()
            }
        };
        if self.json {
            let presets = ::agents::presets().iter().map(preset);
            return out::listing(configured.into_iter().chain(presets));
        }
        let mut text = Vec::new();
        if !configured.is_empty() {
            text.push(agent_table(&configured).text());
            text.push(String::new());
        }
        let mut presets = Table::new(&["PRESET", "WHAT IT IS", "HOW IT IS CALLED"]);
        for preset in ::agents::presets() {
            presets.row([preset.name, preset.about, preset.called]);
        }
        text.push(presets.text());
        out::line(&text.join("\n"))
    }
}

fn agent_table(agents: &[Value]) -> Table {
    let mut table = Table::new(&["AGENT", "PRESET", "PROGRAM", "COMMAND"]);
    let text = |agent: &Value, key: &str| agent[key].as_str().unwrap_or_default().to_owned();
    for agent in agents {
        let argv = agent["argv"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let program = if agent["found"].is_string() { text(agent, "found") } else { text(agent, "error") };
        table.row([text(agent, "name"), text(agent, "preset"), program, argv.collect::<Vec<_>>().join(" ")]);
    }
    table
}

fn configured(agent: &::agents::Agent, context: &Context) -> Value {
    let found = programs::find(agent, context);
    json!({
        "name": agent.name,
        "kind": "agent",
        "preset": agent.preset.name,
        "argv": agent.command,
        "wrap": agent.wrap,
        "program": agent.program(),
        "found": found.as_ref().ok().map(|path| path.display().to_string()),
        "error": found.err(),
    })
}

fn preset(preset: &::agents::Preset) -> Value {
    json!({"name": preset.name, "kind": "preset", "about": preset.about, "called": preset.called})
}
