//! Which sites may call: a browser carries its owner's access to every page that it shows.
//!
//! Two attacks are meant. Another site's page lets the browser call us (cross-site request forgery); its `Origin` or
//! `Sec-Fetch-Site` gives it away. And a page whose name is made to point at this machine (DNS rebinding) looks like our
//! own by these, but not by its `Host`; that one matters where no token is asked for.

use axum::http::{HeaderMap, HeaderName, header};

use crate::problem::{Kind, Problem};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Names of this machine, which no other machine can take.
const THIS_MACHINE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The address that the console is served on.
#[derive(Debug)]
pub(crate) struct Own {
    /// `http://127.0.0.1:8645`.
    pub(crate) url: String,
    pub(crate) https: bool,
    host: String,
    pub(crate) port: String,
}

impl Own {
    pub(crate) fn new(url: impl Into<String>) -> Own {
        let mut url = url.into();
        url.truncate(url.trim_end_matches('/').len());
        let (scheme, authority) = url.split_once("://").unwrap_or(("http", &url));
        let (host, port) = split(authority).unwrap_or((authority, None));
        let (https, host, port) = (scheme == "https", host.to_owned(), port.unwrap_or_default().to_owned());
        Own { url, https, host, port }
    }

    /// Refuses a `Host` that is not one of this machine's names or the host that we are bound to. The port may be any: a
    /// tunnel may have another one, and a page cannot choose a name by it.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let refuse = |detail: &str| Err(Problem::new(Kind::ForeignHost, detail));
        let Some(host) = only(headers, &header::HOST) else {
            return refuse("the request has not exactly one Host header");
        };
        let known =
            |name: &str| THIS_MACHINE.iter().chain([&self.host.as_str()]).any(|own| own.eq_ignore_ascii_case(name));
        match split(host) {
            Some((name, _)) if known(name) => Ok(()),
            _ => refuse(
                "without a token only names of this machine are answered, such as localhost; set admin.token to use others",
            ),
        }
    }

    /// Refuses what a browser says another site has begun.
    pub(crate) fn check_site(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let fetch_site = headers.get_all(SEC_FETCH_SITE).iter();
        if !fetch_site.into_iter().all(|site| site == "same-origin" || site == "none") {
            return Err(Problem::new(Kind::ForeignOrigin, "Sec-Fetch-Site says that a page of another site asks"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
        if origins.peek().is_none() {
            return Ok(());
        }
        let host = only(headers, &header::HOST);
        let ours = |origin: &str| host.is_some_and(|host| self.is_same(origin, host));
        if origins.all(|origin| origin.to_str().is_ok_and(ours)) {
            return Ok(());
        }
        let detail =
            "the Origin is not the Host that was asked; a proxy in front must pass the Host header on as it came";
        Err(Problem::new(Kind::ForeignOrigin, detail))
    }

    /// Whether an `Origin` names the host of a `Host` header. A proxy may speak HTTPS in front of us, so that over plain HTTP
    /// both schemes are ours; over HTTPS only that is.
    fn is_same(&self, origin: &str, host: &str) -> bool {
        let default_port = match origin.split_once("://") {
            Some(("https", _)) => ":443",
            Some(("http", _)) if !self.https => ":80",
            _ => return false,
        };
        let bare = |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
        origin.split_once("://").is_some_and(|(_, authority)| bare(authority) == bare(host))
    }
}

/// A header that stands there exactly once, as text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Host and port of an authority; an IPv6 address keeps its brackets. `None` when it is none.
fn split(authority: &str) -> Option<(&str, Option<&str>)> {
    let at = if authority.starts_with('[') {
        authority.find(']')? + 1
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, rest) = authority.split_at(at);
    match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|digit| digit.is_ascii_digit()) => Some((host, Some(port))),
        Some(_) => None,
        None => rest.is_empty().then_some((host, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        let own = Own::new("http://192.0.2.7:8645");
        let check = |host: &str| own.check_host(&headers(&[("host", host)])).is_ok();
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8645", "[::1]:8645", "[::1]", "192.0.2.7:8645"] {
            assert!(check(host), "{host}");
        }
        let foreign =
            ["evil.example", "localhost.evil.example:8645", "evil.example:8645", "127.0.0.1.evil.example", "[::1"];
        for host in foreign.into_iter().chain(["", "localhost:8645@evil.example", "[::1]x", "::1", "localhost:8645:1"])
        {
            assert!(!check(host), "{host}");
        }
        assert!(own.check_host(&HeaderMap::new()).is_err());
        assert!(own.check_host(&headers(&[("host", "localhost"), ("host", "evil.example")])).is_err());
    }

    #[test]
    fn an_origin_is_ours_when_it_is_the_host() {
        let own = Own::new("http://127.0.0.1:8645");
        let check = |origin: &str, host: &str| own.check_site(&headers(&[("origin", origin), ("host", host)])).is_ok();
        assert!(check("http://127.0.0.1:8645", "127.0.0.1:8645"));
        assert!(check("http://LocalHost:8645", "localhost:8645"));
        assert!(check("https://admin.example", "admin.example"), "a proxy speaks HTTPS in front");
        assert!(check("https://admin.example", "admin.example:443"));
        for origin in [
            "null",
            "http://127.0.0.1:8644",
            "http://evil.example",
            "http://127.0.0.1:8645.evil.example",
            "",
            "127.0.0.1:8645",
        ] {
            assert!(!check(origin, "127.0.0.1:8645"), "{origin}");
        }
        assert!(!check("ftp://127.0.0.1:8645", "127.0.0.1:8645"));
        assert!(own.check_site(&headers(&[("origin", "http://127.0.0.1:8645")])).is_err(), "no Host to compare with");
        assert!(own.check_site(&headers(&[("host", "127.0.0.1:8645")])).is_ok(), "a client that is no browser");
        let https = Own::new("https://127.0.0.1:8645");
        let insecure = headers(&[("origin", "http://127.0.0.1:8645"), ("host", "127.0.0.1:8645")]);
        assert!(https.check_site(&insecure).is_err());
    }

    #[test]
    fn the_browsers_word_about_the_site_counts() {
        let own = Own::new("http://127.0.0.1:8645");
        let check = |site: &str| own.check_site(&headers(&[("sec-fetch-site", site)])).is_ok();
        assert!(check("same-origin") && check("none"));
        assert!(!check("cross-site") && !check("same-site") && !check("something-new"));
    }
}
