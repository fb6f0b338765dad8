//! `source: auto`: the first scheme whose header is there decides, and nothing falls through to a later one.

use serde_json::{Map, Value};

use crate::configured;
use crate::engine::Gate;
use crate::request::Request;
use crate::settings::SettingsError;
use crate::source::{Source, source};
use crate::verdict::Refused;

/// The name of the choice among [`auto_order`].
pub const AUTO: &str = "auto";

/// A source and what gives it away.
struct Candidate {
    source: &'static str,
    sign: Sign,
}

enum Sign {
    /// One of these headers holds something.
    Filled(&'static [&'static str]),
    /// The header is there, even empty: a sender that empties it must not get to choose a weaker scheme.
    Present(&'static str),
}

/// The Standard Webhooks families want something in their headers: GitLab sends `webhook-id` and `webhook-timestamp`
/// with every delivery, so these two say nothing.
static ORDER: [Candidate; 9] = [
    Candidate { source: "svix", sign: Sign::Filled(&["svix-id", "svix-timestamp", "svix-signature"]) },
    Candidate { source: "standard-webhooks", sign: Sign::Filled(&["webhook-signature"]) },
    Candidate { source: "linear", sign: Sign::Present("linear-signature") },
    Candidate { source: "github", sign: Sign::Present("x-hub-signature-256") },
    Candidate { source: "hermes", sign: Sign::Present("x-hermes-signature-256") },
    Candidate { source: "gitlab", sign: Sign::Present("x-gitlab-token") },
    Candidate { source: "generic-v2", sign: Sign::Present("x-webhook-signature-v2") },
    Candidate { source: "generic-v1", sign: Sign::Present("x-webhook-signature") },
    Candidate { source: "bearer", sign: Sign::Present("authorization") },
];

impl Sign {
    fn shows_in(&self, request: &Request<'_>) -> bool {
        match self {
            Sign::Filled(headers) => headers.iter().any(|name| request.values(name).any(|value| !value.is_empty())),
            Sign::Present(header) => request.values(header).next().is_some(),
        }
    }
}

/// The sources that `auto` chooses from, in the order in which it looks for them.
pub fn auto_order() -> impl Iterator<Item = &'static Source> {
    ORDER.iter().map(|candidate| source(candidate.source).expect("a test looks each of them up"))
}

/// The rows of [`auto_order`] with those of the route's options that they take.
pub(crate) fn configured(options: &Map<String, Value>) -> Result<Vec<Source>, SettingsError> {
    let takes = |row: &Source, key: &str| row.options.iter().any(|setting| setting.key == key);
    if let Some(key) = options.keys().find(|key| !auto_order().any(|row| takes(row, key))) {
        let why = "`auto` has only `secret_encoding`; name the route's `source` to set more".to_owned();
        return Err(SettingsError::BadOption { key: key.clone(), why });
    }
    auto_order()
        .map(|row| {
            let own =
                options.iter().filter(|(key, _)| takes(row, key)).map(|(key, value)| (key.clone(), value.clone()));
            configured::apply(row, &own.collect())
        })
        .collect()
}

/// The gate that `request` has to pass; `gates` stand in the order of [`auto_order`].
pub(crate) fn choose<'g>(gates: &'g [Gate], request: &Request<'_>) -> Result<&'g Gate, Refused> {
    let chosen = ORDER.iter().zip(gates).find(|(candidate, _)| candidate.sign.shows_in(request));
    chosen.map(|(_, gate)| gate).ok_or_else(|| {
        Refused::new(
            "no signature that `auto` knows is there; set the route's `source` if the sender signs in another way",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_is_a_source_known_by_its_own_header() {
        let names: Vec<_> = auto_order().map(|source| source.name).collect();
        assert_eq!(names, ORDER.iter().map(|candidate| candidate.source).collect::<Vec<_>>());
    }
}
