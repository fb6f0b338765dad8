//! Verification as a route sees it: settings in, requests in, verdicts out.

mod auto;
mod cases;
mod names;
mod options;
mod properties;
mod secrets;
mod signing;
mod vectors;

use std::time::Duration;

use doorbell_verify::{Refused, Request, Secret, Settings, SettingsError, Verifier};
use serde_json::Value;

/// The secret and the clock of the recorded cases.
const SECRET: &str = "test-secret-not-real";
const NOW_S: i64 = 1_790_000_000;

/// Headers as the server hands them over.
fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| (name.to_lowercase(), (*value).to_owned())).collect()
}

/// A route and the request in front of it.
struct Ring<'a> {
    source: &'a str,
    secrets: &'a [&'a str],
    options: Value,
    tolerance: Option<Duration>,
    headers: &'a [(&'a str, &'a str)],
    body: &'a [u8],
    now_s: i64,
}

/// A request to a route with the usual secret at the usual time; change what a test is about with `..`.
fn ring<'a>(source: &'a str, headers: &'a [(&'a str, &'a str)], body: &'a [u8]) -> Ring<'a> {
    Ring { source, secrets: &[SECRET], options: Value::Null, tolerance: None, headers, body, now_s: NOW_S }
}

impl Ring<'_> {
    fn verifier(&self) -> Result<Verifier, SettingsError> {
        Verifier::new(&Settings {
            source: self.source.to_owned(),
            secrets: self.secrets.iter().map(|secret| Secret::new(*secret)).collect(),
            tolerance: self.tolerance,
            options: self.options.as_object().cloned().unwrap_or_default(),
        })
    }

    /// The name of the source that vouched for the request.
    fn verdict(&self) -> Result<String, Refused> {
        let verifier = self.verifier().expect("settings that work");
        let headers = headers(self.headers);
        let request = Request { headers: &headers, body: self.body };
        verifier.verify(&request, self.now_s * 1000).map(|believed| believed.source.name.to_owned())
    }

    fn passes(&self) -> bool {
        self.verdict().is_ok()
    }

    /// Why the request was refused.
    fn reason(&self) -> String {
        self.verdict().expect_err("a request to be refused").reason
    }

    /// What is wrong with the settings.
    fn complaint(&self) -> SettingsError {
        self.verifier().expect_err("settings to be refused")
    }
}
