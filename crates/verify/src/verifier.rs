//! A route's verification, made ready once and used for every request.

use std::fmt;

use crate::auto::{self, AUTO};
use crate::configured;
use crate::engine::Gate;
use crate::request::Request;
use crate::secret::{INSECURE_NO_AUTH, Secret};
use crate::settings::{Settings, SettingsError};
use crate::source::{nearest, source};
use crate::verdict::{Refused, Verified};

/// Judges the requests of one route.
pub struct Verifier {
    name: String,
    gates: Gates,
}

enum Gates {
    One(Box<Gate>),
    /// In the order in which `auto` looks for them.
    Auto(Vec<Gate>),
}

impl Verifier {
    /// Makes ready what `settings` describe.
    ///
    /// # Errors
    /// An unknown source, an option or a secret that cannot work, or no secret where one is needed.
    pub fn new(settings: &Settings) -> Result<Verifier, SettingsError> {
        let gates = if settings.source == AUTO { choice(settings)? } else { Gates::One(Box::new(named(settings)?)) };
        Ok(Verifier { name: settings.source.clone(), gates })
    }

    /// Says whether `request` is to be believed.
    ///
    /// `now_ms` is the time in Unix milliseconds. The signature is judged over the bytes as received, in constant time
    /// and before anything of the body is parsed; the clock is judged last.
    ///
    /// # Errors
    /// [`Refused`] with the reason for the operator's log. A scheme that was chosen by its header is the only one that
    /// is tried.
    pub fn verify(&self, request: &Request<'_>, now_ms: i64) -> Result<Verified<'_>, Refused> {
        let gate = match &self.gates {
            Gates::One(gate) => gate,
            Gates::Auto(gates) => auto::choose(gates, request)?,
        };
        gate.check(request, now_ms)?;
        Ok(Verified { source: &gate.source, deprecated: gate.source.deprecated })
    }

    /// Whether requests have to prove something; the opposite of [`Verifier::is_open`].
    pub fn needs_secret(&self) -> bool {
        !self.is_open()
    }

    /// Whether anyone is believed: source `none`, or the secret `INSECURE_NO_AUTH`. Only for loopback addresses.
    pub fn is_open(&self) -> bool {
        matches!(&self.gates, Gates::One(gate) if gate.is_open())
    }

    /// The source as configured: `auto` stays `auto`.
    pub fn source_name(&self) -> &str {
        &self.name
    }
}

/// Shows the source only: all else is made of secrets.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("source", &self.name).finish_non_exhaustive()
    }
}

fn named(settings: &Settings) -> Result<Gate, SettingsError> {
    let row = source(&settings.source).ok_or_else(|| SettingsError::UnknownSource {
        name: settings.source.clone(),
        nearest: nearest(&settings.source),
    })?;
    let source = configured::apply(row, &settings.options)?;
    // An open route keeps its provider's names for events and deliveries: trying a route out is what it is for.
    if !source.needs_secret() || without_authentication(&settings.secrets)? {
        return Ok(Gate::open(source));
    }
    Gate::locked(source, settings)
}

fn choice(settings: &Settings) -> Result<Gates, SettingsError> {
    let rows = auto::configured(&settings.options)?;
    if without_authentication(&settings.secrets)? {
        return named(&Settings::of("none")).map(|gate| Gates::One(Box::new(gate)));
    }
    let gates = rows.into_iter().map(|source| Gate::lenient(source, settings));
    gates.collect::<Result<_, _>>().map(Gates::Auto)
}

/// Whether the route is meant to be open.
fn without_authentication(secrets: &[Secret]) -> Result<bool, SettingsError> {
    if secrets.is_empty() || secrets.iter().any(Secret::is_blank) {
        return Err(SettingsError::EmptySecret);
    }
    match (secrets.len(), secrets.iter().any(|secret| secret.expose() == INSECURE_NO_AUTH)) {
        (_, false) => Ok(false),
        (1, true) => Ok(true),
        _ => Err(SettingsError::BadSecret {
            why: format!("{INSECURE_NO_AUTH} stands beside other secrets, where anyone could sign with it; remove it"),
        }),
    }
}
