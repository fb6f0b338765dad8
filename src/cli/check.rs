//! `doorbell check`.

use config::Config;

use super::context::Context;
use super::{out, programs};

pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let config = match config::load(&context.place, &context.environment) {
        Ok(config) => config,
        Err(problems) => {
            problems.0.iter().for_each(|problem| out::note(&problem.to_string()));
            out::note(&format!("{}: {}", context.place.config_file.display(), count(problems.0.len(), "problem")));
            return Err(out::Said.into());
        }
    };
    for warning in &config.warnings {
        out::note(&format!("warning: {warning}"));
    }
    for agent in config.agents.values() {
        if let Err(why) = programs::find(agent, context) {
            out::note(&format!("warning: agents.{}: {why}", agent.name));
        }
    }
    out::line(&format!("configuration is fine: {}", contents(&config)))
}

fn contents(config: &Config) -> String {
    let parts = [(config.routes.len(), "route"), (config.agents.len(), "agent"), (config.targets.len(), "target")];
    parts.map(|(number, noun)| count(number, noun)).join(", ")
}

/// `1 route`, `2 routes`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
