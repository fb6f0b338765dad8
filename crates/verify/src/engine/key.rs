//! From a secret to a key.

use crate::providers::WHSEC;
use crate::scheme::{Encoding, KeyForm};
use crate::secret::Secret;
use crate::settings::SettingsError;

/// Supabase and some dashboards show a secret with the version of its signatures before it.
const PASTED_WITH_VERSION: &str = "v1,whsec_";

/// The keys that a route's secrets give.
pub(super) struct Keys {
    pub(super) usable: Vec<Vec<u8>>,
    /// Why a secret gives none.
    pub(super) problem: Option<String>,
}

/// Makes keys of `secrets`.
///
/// # Errors
/// A secret that can be right for no scheme.
pub(super) fn of_secrets(form: &KeyForm, secrets: &[Secret]) -> Result<Keys, SettingsError> {
    let decodes_whsec = matches!(form, KeyForm::Base64After(prefix) | KeyForm::Base64(prefix) if prefix == WHSEC);
    if decodes_whsec && secrets.iter().any(|secret| secret.expose().starts_with(PASTED_WITH_VERSION)) {
        return Err(SettingsError::BadSecret {
            why: format!("begins with `{PASTED_WITH_VERSION}`; leave out `v1,` and begin with `{WHSEC}`"),
        });
    }
    let mut keys = Keys { usable: Vec::new(), problem: None };
    for secret in secrets {
        match of_secret(form, secret) {
            Ok(key) => keys.usable.push(key),
            Err(why) => keys.problem = Some(why),
        }
    }
    Ok(keys)
}

/// Makes a key of one secret, or says why that cannot be.
pub(crate) fn of_secret(form: &KeyForm, secret: &Secret) -> Result<Vec<u8>, String> {
    let text = secret.expose();
    let key = match form {
        KeyForm::Raw => Some(text.as_bytes().to_vec()),
        KeyForm::Hex => Encoding::Hex.decode(text),
        KeyForm::Base64(prefix) => Encoding::Base64.decode(text.strip_prefix(&**prefix).unwrap_or(text)),
        KeyForm::Base64After(prefix) => match text.strip_prefix(&**prefix) {
            Some(rest) => Encoding::Base64.decode(rest),
            None => Some(text.as_bytes().to_vec()),
        },
    };
    key.filter(|key| !key.is_empty()).ok_or_else(|| match form {
        KeyForm::Raw => "is empty".to_owned(),
        KeyForm::Hex => "is not hexadecimal, as `secret_encoding` says".to_owned(),
        KeyForm::Base64(_) => "is not base64, as `secret_encoding` says".to_owned(),
        KeyForm::Base64After(prefix) => format!(
            "begins with `{prefix}` but its rest is not base64; copy it again, \
             or set `options.secret_encoding: raw` if the sender signs with the text itself"
        ),
    })
}
