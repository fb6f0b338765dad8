//! One engine for all rows: a gate is a source with its secrets made ready.

mod digest;
mod hmac;
mod key;
mod open;
mod parse;
pub(crate) mod signed;
mod timestamp;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use self::digest::sha256_hex;
pub(crate) use self::key::of_secret;

use crate::request::Request;
use crate::scheme::Scheme;
use crate::settings::{Settings, SettingsError};
use crate::source::Source;
use crate::verdict::Refused;

use self::hmac::HmacLock;
use self::token::TokenLock;

/// A source and what its requests have to open.
pub(crate) struct Gate {
    pub(crate) source: Source,
    lock: Lock,
}

enum Lock {
    Hmac(Box<HmacLock>),
    Token(TokenLock),
    Open,
}

impl Gate {
    /// A gate without a lock, whatever the source's scheme.
    pub(crate) fn open(source: Source) -> Gate {
        Gate { source, lock: Lock::Open }
    }

    /// A gate that all secrets of the route must fit.
    pub(crate) fn locked(source: Source, settings: &Settings) -> Result<Gate, SettingsError> {
        let gate = Gate::lenient(source, settings)?;
        match &gate.lock {
            Lock::Hmac(lock) => lock.all_secrets_fit()?,
            Lock::Token(lock) => lock.all_secrets_fit()?,
            Lock::Open => {}
        }
        Ok(gate)
    }

    /// A gate of several with the same secrets: those that do not fit this one are for another.
    pub(crate) fn lenient(source: Source, settings: &Settings) -> Result<Gate, SettingsError> {
        let lock = match &source.scheme {
            Scheme::Hmac(scheme) => Lock::Hmac(Box::new(HmacLock::new(scheme, settings)?)),
            Scheme::Token(scheme) => Lock::Token(TokenLock::new(scheme, &settings.secrets)),
            Scheme::Open => Lock::Open,
        };
        Ok(Gate { source, lock })
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.lock, Lock::Open)
    }

    pub(crate) fn check(&self, request: &Request<'_>, now_ms: i64) -> Result<(), Refused> {
        match &self.lock {
            Lock::Hmac(lock) => lock.check(request, now_ms),
            Lock::Token(lock) => lock.check(request),
            Lock::Open => open::check(request),
        }
    }
}
