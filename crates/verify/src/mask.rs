//! Headers that are secrets, made unreadable before anything is stored.

use crate::secret::Secret;
use crate::source::Source;

/// Headers that are credentials whoever sends them.
const CREDENTIALS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Replaces by `***` the values of credential headers, of the header that is the source's secret, and of any other
/// header whose value is one of `secrets`.
pub fn mask(source: &Source, secrets: &[Secret], headers: &mut [(String, String)]) {
    for (name, value) in headers {
        let is_secret = secrets.iter().any(|secret| !secret.is_blank() && secret.expose().trim() == value.trim());
        if is_secret || CREDENTIALS.contains(&name.as_str()) || source.secret_header() == Some(name) {
            "***".clone_into(value);
        }
    }
}
