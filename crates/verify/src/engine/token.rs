//! The judge of secrets that are sent along.

use crate::engine::digest::{any_equal, sha256};
use crate::request::Request;
use crate::scheme::{Encoding, Token, TokenForm};
use crate::secret::Secret;
use crate::settings::SettingsError;
use crate::verdict::Refused;

/// A header and the secrets that it may hold.
pub(super) struct TokenLock {
    scheme: Token,
    digests: Vec<[u8; 32]>,
    /// A secret without the `:` that Basic authentication needs.
    no_password: bool,
}

impl TokenLock {
    pub(super) fn new(scheme: &Token, secrets: &[Secret]) -> TokenLock {
        TokenLock {
            scheme: scheme.clone(),
            digests: secrets.iter().map(|secret| sha256(secret.expose().as_bytes())).collect(),
            no_password: secrets.iter().any(|secret| !secret.expose().contains(':')),
        }
    }

    pub(super) fn all_secrets_fit(&self) -> Result<(), SettingsError> {
        if self.scheme.form == TokenForm::Basic && self.no_password {
            return Err(SettingsError::BadSecret {
                why: "must be `user:password` for Basic authentication".to_owned(),
            });
        }
        Ok(())
    }

    pub(super) fn check(&self, request: &Request<'_>) -> Result<(), Refused> {
        let header = &self.scheme.header;
        let presented = self
            .scheme
            .form
            .read(request.required(header)?)
            .ok_or_else(|| Refused::new(format!("header {header} {}", self.scheme.form.complaint())))?;
        if any_equal(&self.digests, &[sha256(&presented)]) {
            Ok(())
        } else {
            Err(Refused::new(format!("header {header} holds no secret of the route")))
        }
    }
}

impl TokenForm {
    /// The secret that a header presents, when it is written as it should be.
    fn read(self, value: &str) -> Option<Vec<u8>> {
        let after = |word: &str| {
            let (scheme, rest) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case(word).then_some(rest.trim())
        };
        match self {
            TokenForm::Plain => Some(value.as_bytes().to_vec()),
            TokenForm::Bearer => after("bearer").map(|token| token.as_bytes().to_vec()),
            TokenForm::Basic => Encoding::Base64.decode(after("basic")?),
        }
    }

    fn complaint(self) -> &'static str {
        match self {
            TokenForm::Plain => "is empty",
            TokenForm::Bearer => "is not `Bearer` and a token",
            TokenForm::Basic => "is not `Basic` and base64",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_a_token_is_case_blind_and_the_token_is_trimmed() {
        for value in ["Bearer abc", "bearer abc", "BEARER   abc  "] {
            assert_eq!(TokenForm::Bearer.read(value).as_deref(), Some(b"abc".as_slice()), "{value}");
        }
        for value in ["abc", "Bearer", "Basic abc", "Bearerabc", ""] {
            assert_eq!(TokenForm::Bearer.read(value), None, "{value}");
        }
        assert_eq!(TokenForm::Basic.read("basic dTpw").as_deref(), Some(b"u:p".as_slice()));
        assert_eq!(TokenForm::Basic.read("Basic dTpw="), None);
        assert_eq!(TokenForm::Plain.read("Bearer abc").as_deref(), Some(b"Bearer abc".as_slice()));
    }
}
