//! An address to listen on.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;

/// Names of this machine's own loopback address. No others count: whether `127.0.0.2` or a name from the hosts file can be
/// reached from outside is not for this list to guess.
const LOOPBACK: [&str; 5] = ["127.0.0.1", "localhost", "::1", "ip6-localhost", "ip6-loopback"];

/// Where one of the two servers listens. [`fmt::Display`] gives `127.0.0.1:8644`, `[::1]:8644`, or `*:8644` for every
/// interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Name or address, an IPv6 one without brackets; `None` is every interface, IPv4 and IPv6.
    pub host: Option<String>,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Certificate and key when it speaks HTTPS.
    pub tls: Option<Tls>,
}

/// PEM files for HTTPS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate and its chain.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl Listen {
    /// Whether only this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        self.host.as_deref().is_some_and(|host| LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(host)))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.as_deref() {
            None => write!(f, "*:{}", self.port),
            Some(host) if host.parse::<Ipv6Addr>().is_ok() => write!(f, "[{host}]:{}", self.port),
            Some(host) => write!(f, "{host}:{}", self.port),
        }
    }
}

/// The host as it was written, without white space and brackets; `None` for every interface. The error is what is wrong.
pub(crate) fn host(written: Option<&str>) -> Result<Option<String>, &'static str> {
    let host = written.unwrap_or_default().trim();
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if inner.contains(':') && inner.parse::<Ipv6Addr>().is_err() {
        return Err("holds more than a host: the port has a key of its own, and no scheme belongs here");
    }
    if inner.contains(|c: char| c.is_whitespace() || c.is_control() || "/[]@".contains(c)) {
        return Err("is not a host name or address");
    }
    Ok((!inner.is_empty()).then(|| inner.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(host: Option<&str>) -> Listen {
        Listen { host: super::host(host).unwrap(), port: 80, tls: None }
    }

    #[test]
    fn loopback_is_five_names_and_nothing_else() {
        for host in ["127.0.0.1", "localhost", " LocalHost ", "::1", "[::1]", "ip6-localhost", "IP6-loopback"] {
            assert!(listen(Some(host)).is_loopback(), "{host}");
        }
        for host in [None, Some(""), Some("0.0.0.0"), Some("::"), Some("127.0.0.2"), Some("localhost.example.com")] {
            assert!(!listen(host).is_loopback(), "{host:?}");
        }
    }

    #[test]
    fn addresses_are_shown_as_they_are_dialled() {
        let shown = [Some("127.0.0.1"), Some("::1"), Some("[::1]"), Some("h.example"), Some(""), None];
        let shown = shown.map(|host| listen(host).to_string());
        assert_eq!(shown, ["127.0.0.1:80", "[::1]:80", "[::1]:80", "h.example:80", "*:80", "*:80"]);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        assert!(host(Some("127.0.0.1:8644")).unwrap_err().contains("the port has a key"));
        assert!(host(Some("http://a")).is_err());
        assert!(host(Some("a b")).is_err());
        assert!(host(Some("[::1")).is_err());
    }
}
