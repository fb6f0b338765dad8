//! A secret that cannot be printed by accident.

use std::fmt;

/// The secret that switches verification off; only for addresses that nobody but this machine can reach.
pub const INSECURE_NO_AUTH: &str = "INSECURE_NO_AUTH";

/// A shared secret as the user wrote it. `Debug` and `Display` print `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text of the secret.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself; for computing with, never for logs or answers.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Nothing but white space: signing with it would be signing with nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_stars() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?} {:?}", vec![&secret]), "*** *** [***]");
        assert_eq!(secret.expose(), "hunter2");
    }
}
