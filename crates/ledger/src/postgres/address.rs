//! The database's URL.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use url::form_urlencoded;

use super::link::CONNECT;
use super::tls::Trust;

/// Why a URL cannot be used. It never repeats the URL, which may hold a password.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AddressError {
    /// No URL of a PostgreSQL database.
    #[error("the URL of the database must begin with postgresql:// or postgres://")]
    Scheme,
    /// The driver cannot read it.
    #[error("the URL of the database: {0}")]
    Unreadable(String),
    /// Not one of the modes.
    #[error("the URL of the database: sslmode {0:?} is not known; use disable, prefer, require or verify-full")]
    Mode(String),
    /// The file of `sslrootcert`.
    #[error("the URL of the database: sslrootcert: {0}")]
    Roots(String),
}

/// What a URL says.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) trust: Trust,
}

/// Reads a URL. `sslmode` and `sslrootcert` are ours, the rest is the driver's.
pub(super) fn read(url: &str) -> Result<Address, AddressError> {
    if !url.starts_with("postgresql://") && !url.starts_with("postgres://") {
        return Err(AddressError::Scheme);
    }
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut mode, mut roots) = ("prefer".to_owned(), None);
    let mut others = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let value = || form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned());
        match pair.split('=').next() {
            Some("sslmode") => mode = value().unwrap_or_default(),
            Some("sslrootcert") => roots = value().map(PathBuf::from),
            _ => others.push(pair),
        }
    }
    let rest = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
    let mut config = Config::from_str(&rest).map_err(|e| {
        use std::error::Error as _;
        AddressError::Unreadable(e.source().map_or_else(|| e.to_string(), ToString::to_string))
    })?;
    let (ssl, trust) = match (mode.as_str(), roots) {
        ("disable", _) => (SslMode::Disable, Trust::Anyone),
        ("prefer", _) => (SslMode::Prefer, Trust::Anyone),
        ("require", None) => (SslMode::Require, Trust::Anyone),
        ("require" | "verify-full", Some(file)) => (SslMode::Require, Trust::File(file)),
        ("verify-full", None) => (SslMode::Require, Trust::Machine),
        _ => return Err(AddressError::Mode(mode)),
    };
    config.ssl_mode(ssl);
    if config.get_application_name().is_none() {
        config.application_name("doorbell");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    // A peer that has gone without a word is noticed.
    config.keepalives_idle(Duration::from_secs(10)).tcp_user_timeout(Duration::from_secs(15));
    Ok(Address { config, trust })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_other_clients() {
        let of = |query: &str| {
            read(&format!("postgresql://bell@db.example/ledger{query}")).map(|a| (a.config.get_ssl_mode(), a.trust))
        };
        assert_eq!(of("").unwrap(), (SslMode::Prefer, Trust::Anyone));
        assert_eq!(of("?sslmode=disable").unwrap(), (SslMode::Disable, Trust::Anyone));
        assert_eq!(of("?sslmode=require").unwrap(), (SslMode::Require, Trust::Anyone));
        assert_eq!(of("?sslmode=verify-full").unwrap(), (SslMode::Require, Trust::Machine));
        let file = Trust::File("/etc/a b.pem".into());
        assert_eq!(of("?sslrootcert=%2Fetc%2Fa+b.pem&sslmode=verify-full").unwrap(), (SslMode::Require, file));
        assert_eq!(of("?sslmode=verify-ca").unwrap_err(), AddressError::Mode("verify-ca".into()));
    }

    #[test]
    fn what_the_driver_knows_stays() {
        let config =
            read("postgres://bell:p%40ss@one,two:5433/ledger?application_name=a&sslmode=disable").unwrap().config;
        assert_eq!((config.get_user(), config.get_password()), (Some("bell"), Some(b"p@ss".as_slice())));
        assert_eq!((config.get_hosts().len(), config.get_dbname()), (2, Some("ledger")));
        assert_eq!(config.get_application_name(), Some("a"));
        let bare = read("postgres://bell@one/ledger").unwrap().config;
        assert_eq!((bare.get_application_name(), bare.get_connect_timeout()), (Some("doorbell"), Some(&CONNECT)));
    }

    #[test]
    fn a_refusal_holds_no_password() {
        for url in
            ["mysql://bell:secret@one/x", "postgres://bell:secret@one/x?nonsense=1", "postgres://b:secret@one:port/x"]
        {
            let said = read(url).err().unwrap().to_string();
            assert!(said.contains("URL of the database") && !said.contains("secret"), "{said}");
        }
    }
}
