//! Routes, checked and compiled.

mod checks;
mod deliver;
mod filters;
mod secrets;

use std::collections::BTreeSet;
use std::path::Path as FilePath;
use std::time::Duration;

use rules::events::EventList;
use rules::filter::Filter;
use rules::retry::Backoff;
use rules::template::Template;
use rules::template::tree::TemplateTree;
use verify::{Secret, Verifier};

use crate::listen::Listen;
use crate::path::Path;
use crate::raw;
use crate::report::Report;
use crate::server::{Defaults, above_zero, bytes};
use crate::target::Targets;

/// The longest wait before a retry.
const LONGEST_BACKOFF: Duration = Duration::from_mins(30);

/// A route: which events wake which agent, and where the answer goes.
#[derive(Debug)]
pub struct Route {
    /// Its name under `routes`: the last part of its URL.
    pub name: String,
    /// `default`, or the profile under whose prefix it answers.
    pub profile: String,
    /// Whether it takes requests at all.
    pub enabled: bool,
    /// Judges its requests.
    pub verifier: Verifier,
    /// The secrets that the verifier was made with; needed to mask headers. Empty when the route is open.
    pub secrets: Vec<Secret>,
    /// Which event types are wanted.
    pub events: EventList,
    /// What must hold of them.
    pub filters: Filter,
    /// What the agent is asked; `None`: the default prompt with the payload.
    pub prompt: Option<Template>,
    /// A key of [`crate::Config::agents`].
    pub agent: String,
    /// Where answers go; at least one, none of them twice.
    pub deliver: Vec<RouteDelivery>,
    /// For how long after its success an event's key is taken.
    pub dedupe_window: Duration,
    /// Takes the place of the delivery id.
    pub dedupe_key: Option<Template>,
    /// Events with the same value run one at a time.
    pub serial_by: Option<Template>,
    /// Runs in flight at a time; `None`: no limit but the agent's. Above zero.
    pub max_concurrent: Option<u32>,
    /// How often an event runs again after a failed run.
    pub max_retries: u32,
    /// The waits before that.
    pub backoff: Backoff,
    /// Events a minute; 0 is without limit.
    pub rate_limit: u32,
    /// The largest body, also after decompression. Above zero.
    pub max_body_bytes: usize,
    /// How long a run may take; `None`: the agent's own timeout. Above zero.
    pub timeout: Option<Duration>,
    /// Larger runs first.
    pub priority: i64,
    /// For people.
    pub description: String,
    /// Whether runs may ring it.
    pub accept_from_agents: bool,
}

/// One target of a route, with the values of `deliver_extra` that are meant for it.
#[derive(Debug)]
pub struct RouteDelivery {
    /// A key of [`crate::Config::targets`].
    pub target: String,
    /// Its values, to be filled from the event: apart for each target, so that one that cannot be filled costs no other.
    pub extra: TemplateTree,
}

/// What routes may refer to.
pub(crate) struct Surroundings<'a> {
    pub(crate) home: &'a FilePath,
    pub(crate) listen: &'a Listen,
    pub(crate) defaults: &'a Defaults,
    pub(crate) agents: &'a BTreeSet<String>,
    pub(crate) default_agent: &'a str,
    pub(crate) targets: &'a Targets,
    /// How long an event can be known that was answered or ended by hand.
    pub(crate) known_for: Duration,
}

/// Checks a route. What is wrong is in the report; `None` when there is something that no route can be made without.
pub(crate) fn resolve(name: &str, raw: raw::Route, around: &Surroundings<'_>, report: &mut Report) -> Option<Route> {
    let at = Path::new(&["routes", name]);
    checks::name(name, &at, report);
    checks::profile(&raw.profile, &at.key("profile"), report);
    let door = secrets::verifier(&raw, &at, around, report);
    let filters = filters::filter(&raw.filters, &at.key("filters"), around.home, report);
    let agent = checks::agent(raw.agent.as_deref(), &at, around, report);
    let deliver = deliver::names(raw.deliver.0, &at.key("deliver"), around.targets, report);
    let extra = raw.deliver_extra.into();
    deliver::values(&deliver, &extra, &at.key("deliver_extra"), around.targets, report);
    if raw.max_concurrent == Some(0) {
        report.fault(
            &at.key("max_concurrent"),
            "0 would never run anything",
            "give 1 or more; to hold events, pause the route",
        );
    }
    let timeout = raw.timeout.map(|timeout| above_zero(timeout, &at.key("timeout"), report));
    let max_body = raw.max_body_bytes.map(|size| bytes(size, &at.key("max_body_bytes"), report));
    if raw.dedupe_window.0 > around.known_for {
        let message = "longer than store.retention keeps events: a copy that comes after that would run again";
        report.fault(&at.key("dedupe_window"), message, "shorten it, or keep succeeded and cancelled events longer");
    }
    if raw.retry_backoff.0 > LONGEST_BACKOFF {
        report.fault(&at.key("retry_backoff"), "longer than 30m, the longest wait there is", "give 30m or less");
    }
    let dedupe_key = checks::template(raw.dedupe_key.as_deref(), &at.key("dedupe_key"), report);
    let serial_by = checks::template(raw.serial_by.as_deref(), &at.key("serial_by"), report);
    let (verifier, secrets) = door?;
    let filters = filters?;
    Some(Route {
        name: name.to_owned(),
        profile: raw.profile,
        enabled: raw.enabled,
        verifier,
        secrets,
        events: EventList::new(raw.events),
        filters,
        prompt: raw.prompt.filter(|prompt| !prompt.is_empty()).map(|prompt| Template::parse(&prompt)),
        agent,
        deliver: deliver::split(deliver, &extra),
        dedupe_window: raw.dedupe_window.0,
        dedupe_key,
        serial_by,
        max_concurrent: raw.max_concurrent,
        max_retries: raw.max_retries,
        backoff: Backoff { first: raw.retry_backoff.0, cap: LONGEST_BACKOFF },
        rate_limit: raw.rate_limit.unwrap_or(around.defaults.rate_limit),
        max_body_bytes: max_body.unwrap_or(around.defaults.max_body_bytes),
        timeout,
        priority: raw.priority,
        description: raw.description,
        accept_from_agents: raw.accept_from_agents,
    })
}
