//! No authentication, for local senders only.

use crate::request::Request;
use crate::verdict::Refused;

/// A tunnel or proxy on the same machine makes a loopback address public. Its headers give it away; their values say
/// nothing, since anyone can write them.
pub(super) fn check(request: &Request<'_>) -> Result<(), Refused> {
    let refused = |whence: &str, name: &str| {
        Err(Refused::new(format!(
            "the route has no authentication and the request came {whence} (header {name}); set a secret"
        )))
    };
    for (name, value) in request.headers {
        if is_from_a_proxy(name) {
            return refused("through a proxy or tunnel", name);
        }
        if is_from_a_page(name, value) {
            return refused("from a web page in a browser", name);
        }
    }
    Ok(())
}

/// Any page that somebody on this machine looks at can have their browser post to a loopback address. Browsers say so.
fn is_from_a_page(name: &str, value: &str) -> bool {
    name == "origin" || (name == "sec-fetch-site" && value != "none")
}

fn is_from_a_proxy(name: &str) -> bool {
    matches!(name, "forwarded" | "x-real-ip" | "cf-connecting-ip") || name.starts_with("x-forwarded-")
}
