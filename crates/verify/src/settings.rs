//! What a route says about its sender, and what can be wrong with that.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::auto::AUTO;
use crate::secret::Secret;

/// How a route wants its requests verified.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `auto` or the name of a row of [`crate::sources`].
    pub source: String,
    /// Any of them may match, so that a secret can be rotated. A single `INSECURE_NO_AUTH` opens the route.
    pub secrets: Vec<Secret>,
    /// How far the sender's clock may be off; `None` is the scheme's own limit, `Duration::MAX` does not judge the clock.
    pub tolerance: Option<Duration>,
    /// The row's own settings, see [`crate::Source::options`].
    pub options: Map<String, Value>,
}

impl Settings {
    /// Settings of `source` with nothing else said.
    pub fn of(source: impl Into<String>) -> Settings {
        Settings { source: source.into(), secrets: Vec::new(), tolerance: None, options: Map::new() }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::of(AUTO)
    }
}

/// Settings that cannot work. Found when they are read, not when the first request comes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No row has this name.
    #[error("unknown source `{name}`{}", did_you_mean(*nearest))]
    UnknownSource {
        /// As written.
        name: String,
        /// The known name that looks most like it, when one does.
        nearest: Option<&'static str>,
    },
    /// A key of `options` is unknown or has a value that cannot be used.
    #[error("options.{key}: {why}")]
    BadOption {
        /// The key below `options`.
        key: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// A secret has the wrong shape for this source.
    #[error("secret: {why}")]
    BadSecret {
        /// What is wrong and what would be right; never the secret.
        why: String,
    },
    /// There is no secret, or one of them is blank.
    #[error("secret: empty; set one, or INSECURE_NO_AUTH on an address that only this machine can reach")]
    EmptySecret,
}

fn did_you_mean(nearest: Option<&str>) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; `doorbell sources` lists them all".to_owned(),
    }
}
