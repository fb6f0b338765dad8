//! No authentication, for local senders only.

use crate::request::Request;
use crate::verdict::Refused;

/// A tunnel or proxy on the same machine makes a loopback address public. Its headers give it away; their values say
/// nothing, since anyone can write them.
pub(super) fn check(request: &Request<'_>) -> Result<(), Refused> {
    match request.headers.iter().find(|(name, _)| is_from_a_proxy(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Refused::new(format!(
            "the route has no authentication and the request came through a proxy or tunnel (header {name}); set a secret"
        ))),
    }
}

fn is_from_a_proxy(name: &str) -> bool {
    matches!(name, "forwarded" | "x-real-ip" | "cf-connecting-ip") || name.starts_with("x-forwarded-")
}
