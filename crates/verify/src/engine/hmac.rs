//! The judge of keyed digests.

use std::time::Duration;

use crate::engine::digest::any_equal;
use crate::engine::key::{self, Keys};
use crate::engine::parse::Parsed;
use crate::engine::signed::Template;
use crate::request::Request;
use crate::scheme::Hmac;
use crate::settings::{Settings, SettingsError};
use crate::verdict::Refused;

/// A scheme with its keys and its template made ready.
pub(super) struct HmacLock {
    scheme: Hmac,
    signed: Template,
    keys: Keys,
    /// The route's own, when it has one.
    tolerance: Option<Duration>,
}

impl HmacLock {
    pub(super) fn new(scheme: &Hmac, settings: &Settings) -> Result<HmacLock, SettingsError> {
        let signed = Template::parse(&scheme.signed)
            .map_err(|why| SettingsError::BadOption { key: "signed".to_owned(), why })?;
        let keys = key::of_secrets(&scheme.key, &settings.secrets)?;
        Ok(HmacLock { scheme: scheme.clone(), signed, keys, tolerance: settings.tolerance })
    }

    pub(super) fn all_secrets_fit(&self) -> Result<(), SettingsError> {
        match &self.keys.problem {
            Some(why) => Err(SettingsError::BadSecret { why: why.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn check(&self, request: &Request<'_>, now_ms: i64) -> Result<(), Refused> {
        self.check_required_headers(request)?;
        let header = &self.scheme.header;
        let parsed = self
            .scheme
            .parse
            .read(request.required(header)?)
            .map_err(|why| Refused::new(format!("header {header} {why}")))?;
        let sent_at = match &self.scheme.timestamp {
            Some(timestamp) => timestamp.outside_body(request, &parsed)?,
            None => None,
        };
        let signed = self.signed.fill(request, || sent_at.ok_or_else(|| self.no_timestamp()))?;
        self.check_signatures(&parsed, &signed)?;
        match &self.scheme.timestamp {
            Some(timestamp) => timestamp.check(self.tolerance.unwrap_or(timestamp.tolerance), request, sent_at, now_ms),
            None => Ok(()),
        }
    }

    fn check_required_headers(&self, request: &Request<'_>) -> Result<(), Refused> {
        match self.scheme.require.iter().find(|(name, value)| request.at_most_one(name) != Ok(Some(value))) {
            Some((name, value)) => Err(Refused::new(format!("header {name} must be `{value}`"))),
            None => Ok(()),
        }
    }

    fn check_signatures(&self, parsed: &Parsed<'_>, signed: &[&[u8]]) -> Result<(), Refused> {
        let Hmac { header, algorithm, encoding, .. } = &self.scheme;
        let theirs: Vec<_> = parsed
            .signatures
            .iter()
            .filter_map(|text| encoding.decode(text))
            .filter(|digest| digest.len() == algorithm.length())
            .collect();
        if theirs.is_empty() {
            let (algorithm, encoding) = (algorithm.name(), encoding.name());
            return Err(Refused::new(format!("header {header} holds no {algorithm} digest in {encoding}")));
        }
        let ours: Vec<_> = self.keys.usable.iter().map(|key| algorithm.hmac(key, signed)).collect();
        if any_equal(&ours, &theirs) { Ok(()) } else { Err(self.no_match()) }
    }

    fn no_timestamp(&self) -> Refused {
        match &self.scheme.timestamp {
            Some(timestamp) => timestamp.missing(),
            None => Refused::new("the scheme signs a timestamp and does not say where it stands"),
        }
    }

    fn no_match(&self) -> Refused {
        let header = &self.scheme.header;
        Refused::new(match &self.keys.problem {
            Some(why) if self.keys.usable.is_empty() => {
                format!("the signature in header {header} cannot be checked: the secret {why}")
            }
            _ => format!(
                "the signature in header {header} fits no secret of the route: \
                 the secrets differ, or the request was changed on its way"
            ),
        })
    }
}
