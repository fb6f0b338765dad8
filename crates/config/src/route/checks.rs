//! The keys of a route that can be judged by themselves.

use rules::template::Template;

use super::Surroundings;
use crate::path::Path;
use crate::read::did_you_mean;
use crate::report::Report;

/// Names stand in URLs, file names and metrics: `^[A-Za-z0-9][A-Za-z0-9._-]*$`.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

const NAMES: &str = "use letters, digits, `.`, `_` and `-`, beginning with a letter or digit";

pub(super) fn name(name: &str, at: &Path, report: &mut Report) {
    if !is_name(name) {
        report.fault(at, "not a name that can stand in a URL", NAMES);
    }
}

pub(super) fn profile(profile: &str, at: &Path, report: &mut Report) {
    if !is_name(profile) {
        report.fault(at, "not a name that can stand in a URL", NAMES);
    }
}

/// The route's agent, which must be known.
pub(super) fn agent(written: Option<&str>, at: &Path, around: &Surroundings<'_>, report: &mut Report) -> String {
    let name = written.unwrap_or(around.default_agent);
    let is_known = around.agents.contains(name) || report.is_broken(&Path::new(&["agents", name]));
    if is_known || report.is_broken(&at.key("agent")) {
        return name.to_owned();
    }
    let known: Vec<&str> = around.agents.iter().map(String::as_str).collect();
    if written.is_some() {
        report.fault(&at.key("agent"), format!("no agent is called `{name}`"), did_you_mean(name, &known));
    } else if !report.is_broken(&Path::new(&["default_agent"])) {
        let message = format!("names no agent, and there is no `agents.{name}` to fall back to");
        report.fault(at, message, format!("write agents.{name}, or name one with `agent` or `default_agent`"));
    }
    name.to_owned()
}

/// A template that must say something.
pub(super) fn template(written: Option<&str>, at: &Path, report: &mut Report) -> Option<Template> {
    let text = written?;
    if text.trim().is_empty() {
        report.fault(at, "written but empty", "give a template such as {repository.full_name}, or take the key away");
    }
    Some(Template::parse(text))
}
