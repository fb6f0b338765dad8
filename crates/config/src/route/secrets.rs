//! Who may ring a route.

use verify::{Secret, Settings, SettingsError, Verifier};

use super::Surroundings;
use crate::credential;
use crate::path::Path;
use crate::raw;
use crate::report::Report;

/// The route's secrets and the key they come from.
struct Found {
    secrets: Vec<Secret>,
    at: Path,
}

/// The verifier and the secrets it was made with; what is wrong is in the report.
pub(super) fn verifier(
    raw: &raw::Route,
    at: &Path,
    around: &Surroundings<'_>,
    report: &mut Report,
) -> Option<(Verifier, Vec<Secret>)> {
    let is_open = raw.source == "none";
    let found = find(raw, at, around, report);
    let is_unsure = ["source", "options"].iter().any(|key| report.is_broken(&at.key(key)));
    let Found { secrets, at: secret_at } = match found {
        Some(found) if !is_unsure => found,
        _ => return None,
    };
    let secrets = if is_open { Vec::new() } else { secrets };
    let settings = Settings {
        source: raw.source.clone(),
        secrets: secrets.clone(),
        tolerance: raw.tolerance.map(|tolerance| tolerance.0),
        options: raw.options.clone(),
    };
    let verifier = match Verifier::new(&settings) {
        Ok(verifier) => verifier,
        Err(error) => {
            refused(error, at, &secret_at, report);
            return None;
        }
    };
    if !verifier.is_open() {
        warn_of_short(&secrets, at, &secret_at, report);
        return Some((verifier, secrets));
    }
    if !around.listen.is_loopback() && !report.is_broken(&Path::new(&["server", "host"])) {
        let message = "takes requests from anybody, and server.host is not a loopback address";
        let at = if is_open { at.key("source") } else { secret_at };
        report.fault(&at, message, "give the route a secret, or set server.host to 127.0.0.1");
    }
    Some((verifier, Vec::new()))
}

/// The secrets that hold for the route, and where they are written. `None` when that is wrong, which is noted.
fn find(raw: &raw::Route, at: &Path, around: &Surroundings<'_>, report: &mut Report) -> Option<Found> {
    let (one, several) = (at.key("secret"), at.key("secrets"));
    if report.is_broken(&one) || report.is_broken(&several) {
        return None;
    }
    match (report.has(&one), report.has(&several)) {
        (true, true) => {
            report.fault(&several, "stands beside `secret`", "put all of them into `secrets`");
            None
        }
        (true, false) => {
            let secret = raw.secret.as_deref().filter(|secret| !secret.trim().is_empty());
            if secret.is_none() {
                report.fault(&one, "written but empty", "give it a value, or take the key away to use server.secret");
            }
            let secret = credential::written(secret?, &one, report)?;
            Some(Found { secrets: vec![Secret::new(secret)], at: one })
        }
        (false, true) => list(raw.secrets.as_deref().unwrap_or_default(), several, report),
        (false, false) if report.is_broken(&Path::new(&["server", "secret"])) => None,
        (false, false) => {
            let secrets = around.defaults.secret.iter().cloned().collect();
            Some(Found { secrets, at: Path::new(&["server", "secret"]) })
        }
    }
}

fn list(secrets: &[String], at: Path, report: &mut Report) -> Option<Found> {
    let empty = secrets.iter().position(|secret| secret.trim().is_empty());
    if let Some(n) = empty {
        report.fault(&at.index(n), "empty", "give it a value, or take it away");
    } else if secrets.is_empty() {
        report.fault(&at, "written but empty", "give it a value, or take the key away to use server.secret");
    } else {
        let all = secrets.iter().enumerate().map(|(n, secret)| credential::written(secret, &at.index(n), report));
        // Every one is judged before the first that is wrong decides.
        let all: Vec<Option<&str>> = all.collect();
        let secrets = all.into_iter().map(|secret| secret.map(Secret::new)).collect::<Option<_>>()?;
        return Some(Found { secrets, at });
    }
    None
}

/// Says at the right key why the verifier could not be made.
fn refused(error: SettingsError, route: &Path, secret: &Path, report: &mut Report) {
    let is_own = secret.is_within(route);
    match error {
        SettingsError::UnknownSource { name, nearest } => {
            let help = match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`doorbell sources` lists them".to_owned(),
            };
            report.fault(&route.key("source"), format!("no source is called `{name}`"), help);
        }
        SettingsError::BadOption { key, why } => report.fault(&route.key("options").key(&key), why, ""),
        SettingsError::BadSecret { why } if is_own => report.fault(secret, why, ""),
        SettingsError::BadSecret { why } => report.fault(route, format!("server.secret does not fit: {why}"), ""),
        SettingsError::EmptySecret if is_own => report.fault(secret, "empty", "give it a value"),
        SettingsError::EmptySecret => {
            let name = route.to_string();
            report.fault(route, "has no secret", format!("set {name}.secret or server.secret"));
        }
    }
}

fn warn_of_short(secrets: &[Secret], route: &Path, at: &Path, report: &mut Report) {
    if at.is_within(route) && secrets.iter().any(|secret| credential::is_short(secret.expose())) {
        let message = credential::short("whoever sees one signature can find it by trial");
        report.warn(at, message, credential::A_GOOD_ONE);
    }
}
