//! Where a route's answers go.

use rules::template::tree::TemplateTree;
use serde_json::{Map, Value};
use targets::{Kind, Target};

use super::RouteDelivery;
use crate::path::Path;
use crate::read::did_you_mean;
use crate::report::Report;
use crate::target::{self, Targets};

/// The route's targets, which must be known, and none of them twice.
pub(super) fn names(names: Vec<String>, at: &Path, targets: &Targets, report: &mut Report) -> Vec<String> {
    if names.is_empty() && !report.is_broken(at) {
        report.fault(at, "names no target", "name one, or take the key away: answers go to the log then");
    }
    let is_list = report.is_list(at);
    for (n, name) in names.iter().enumerate() {
        let at = if is_list { at.index(n) } else { at.clone() };
        if names[..n].contains(name) {
            report.fault(&at, format!("`{name}` is named twice"), "one delivery a target");
        } else if !targets.contains_key(name) && !report.is_broken(&Path::new(&["targets", name])) {
            unknown(name, &at, targets, report);
        }
    }
    names
}

fn unknown(name: &str, at: &Path, targets: &Targets, report: &mut Report) {
    if let Err(errors) = Target::builtin(name)
        && Kind::named(name).is_some()
    {
        let missing: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let message = format!("`{name}` needs an entry under `targets`: {}", missing.join(", "));
        return report.fault(at, message, format!("write targets.{name}"));
    }
    let kinds = targets::kinds().iter().map(|kind| kind.name).filter(|name| Target::builtin(name).is_ok());
    let mut known: Vec<&str> = targets.keys().map(String::as_str).chain(kinds).collect();
    known.sort_unstable();
    known.dedup();
    report.fault(at, format!("no target is called `{name}`"), did_you_mean(name, &known));
}

/// What the route gives its targets, as far as that can be judged before there is an event.
pub(super) fn values(names: &[String], extra: &Value, at: &Path, targets: &Targets, report: &mut Report) {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut seen = Vec::new();
    for target in names.iter().filter_map(|name| targets.get(name)) {
        for error in target.check_route_values(&all, extra) {
            // Two targets of one kind say the same of a value that both get.
            if !seen.contains(&error) {
                seen.push(error.clone());
                target::note(error, at, report);
            }
        }
    }
}

/// Each target with its part of `deliver_extra`.
pub(super) fn split(names: Vec<String>, extra: &Value) -> Vec<RouteDelivery> {
    let none = Map::new();
    let extra = extra.as_object().unwrap_or(&none);
    let all = names.clone();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    names
        .into_iter()
        .map(|target| {
            let own = targets::values_for(&target, &all, extra);
            RouteDelivery { target, extra: TemplateTree::parse(&own.into()) }
        })
        .collect()
}
