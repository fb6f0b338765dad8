//! The environment of a run: nothing of the gateway's but what is named, then what was added, then Doorbell's facts.

use std::collections::BTreeMap;

/// What is inherited unless `inherit_env` says otherwise; `*` at the end stands for any rest.
pub const INHERITED: [&str; 8] = ["PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "SSL_CERT_*"];

/// The names that Doorbell sets itself; `env` cannot set them, nothing inherits them.
pub const FACTS: [&str; 11] = [
    "DOORBELL_RUN_ID",
    "DOORBELL_EVENT_ID",
    "DOORBELL_ROUTE",
    "DOORBELL_EVENT_TYPE",
    "DOORBELL_DELIVERY_ID",
    "DOORBELL_ATTEMPT",
    "DOORBELL_HOP",
    "DOORBELL_SESSION",
    "DOORBELL_HOME",
    "DOORBELL_PROMPT_FILE",
    "TRACEPARENT",
];

/// The part of the gateway's environment that every started program may see by default, sorted by name.
///
/// `environment` is the gateway's own, as (name, value).
pub fn clean_environment(environment: &[(String, String)]) -> Vec<(String, String)> {
    inherited(&INHERITED, environment).into_iter().collect()
}

/// The variables of `environment` whose name one of `names` allows. The names in [`FACTS`] never pass: those of a
/// gateway that was itself started by an agent are another run's.
pub(crate) fn inherited(names: &[impl AsRef<str>], environment: &[(String, String)]) -> BTreeMap<String, String> {
    let allowed = |name: &str| names.iter().any(|pattern| matches(pattern.as_ref(), name));
    let may_pass = |name: &str| is_name(name) && allowed(name) && !FACTS.contains(&name);
    let kept = environment.iter().filter(|(name, _)| may_pass(name));
    kept.map(|(name, value)| (name.clone(), without_nul(value))).collect()
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

/// Whether the system can carry a variable of that name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Whether an entry of `inherit_env` or `wrap_env` is one that can match: a name, or a beginning with `*` after it.
pub(crate) fn is_pattern(pattern: &str) -> bool {
    let name = pattern.strip_suffix('*').unwrap_or(pattern);
    !name.contains(['=', '\0', '*']) && !pattern.trim().is_empty()
}

/// A value that the system can carry: NUL, which would end it early, becomes U+FFFD.
pub(crate) fn without_nul(value: &str) -> String {
    value.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_named_variables_pass() {
        let gateway = pairs(&[
            ("PATH", "/bin"),
            ("LC_TIME", "C"),
            ("SSL_CERT_FILE", "/ca.pem"),
            ("AWS_SECRET_ACCESS_KEY", "leak"),
            ("PATHS", "no"),
            ("DOORBELL_RUN_ID", "another run"),
            ("LC_\0", "broken"),
        ]);
        assert_eq!(
            clean_environment(&gateway),
            pairs(&[("LC_TIME", "C"), ("PATH", "/bin"), ("SSL_CERT_FILE", "/ca.pem")])
        );
    }

    #[test]
    fn a_star_takes_everything_but_the_facts_of_another_run() {
        let gateway = pairs(&[("A", "1"), ("DOORBELL_SESSION", "old"), ("TRACEPARENT", "00-1")]);
        assert_eq!(inherited(&["*"], &gateway).into_iter().collect::<Vec<_>>(), pairs(&[("A", "1")]));
    }

    #[test]
    fn patterns_have_their_star_at_the_end() {
        assert!(["A", "A_*", "*"].into_iter().all(is_pattern));
        assert!(["", " ", "A*B", "**", "A=B", "A\0"].into_iter().all(|bad| !is_pattern(bad)));
    }
}
