//! The agents of the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use agents::{Agent, AgentOptions};

use crate::path::Path;
use crate::report::Report;

/// Checks every agent; what is wrong is in the report.
pub(crate) fn agents(raw: BTreeMap<String, AgentOptions>, report: &mut Report) -> BTreeMap<String, Arc<Agent>> {
    let mut agents = BTreeMap::new();
    for (name, options) in raw {
        match Agent::resolve(&name, options) {
            Ok(agent) => {
                agents.insert(name, Arc::new(agent));
            }
            Err(errors) => {
                for error in errors {
                    report.fault(&Path::new(&["agents", &name]).dotted(&error.key), error.message, "");
                }
            }
        }
    }
    agents
}

/// The agent that routes fall back to.
pub(crate) fn default_agent(written: Option<&str>, known: &[&str], report: &mut Report) -> String {
    let at = Path::new(&["default_agent"]);
    if let Some(name) = written
        && !known.contains(&name)
        && !report.is_broken(&Path::new(&["agents", name]))
    {
        let help = crate::read::did_you_mean(name, known);
        report.fault(&at, format!("no agent is called `{name}`"), help);
    }
    written.unwrap_or("default").to_owned()
}
