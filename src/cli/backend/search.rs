//! Where the gateway of a home is: what it has said itself comes before what the file says, which may have changed since
//! it was started, or be broken.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context as _;
use config::{Admin, Config, Listen};
use gateway::egress::api_client::ApiClient;
use rustix::fs::{FlockOperation, flock};

use super::api::Api;
use crate::cli::context::Context;

/// Looks for the gateway of a home.
pub(super) struct Search<'c> {
    context: &'c Context,
    /// What the configuration says of it; `None` when that cannot be read.
    admin: Option<Admin>,
}

impl<'c> Search<'c> {
    pub(super) fn new(config: Option<&Config>, context: &'c Context) -> Search<'c> {
        Search { context, admin: config.map(|config| config.admin.clone()) }
    }

    /// The gateway, when one answers. The error is that of the first address whose gateway cannot be asked.
    pub(super) async fn run(&self) -> anyhow::Result<Option<Api>> {
        let client = ApiClient::new()?;
        let mut failed = None;
        for url in self.addresses() {
            let (token, token_place) = self.token()?;
            let api = Api::new(client.clone(), url, token, token_place);
            match api.is_there().await {
                Ok(true) => return Ok(Some(api)),
                Ok(false) => {}
                // A certificate, say, that is good for the name in the file and not for the address that is listened on.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Where a gateway is expected, for people.
    pub(super) fn place(&self) -> String {
        self.configured().or_else(|| self.said()).unwrap_or_else(|| "an address that is not known".to_owned())
    }

    fn addresses(&self) -> Vec<String> {
        let mut addresses: Vec<String> = self.said().into_iter().chain(self.configured()).collect();
        addresses.dedup();
        addresses
    }

    /// What the gateway has said at its start. A crash leaves the file behind, with an address that may be somebody else's
    /// by now, who is not to see the token: without an owner of the home it says nothing.
    fn said(&self) -> Option<String> {
        let home = &self.context.place.home;
        let text = std::fs::read_to_string(crate::serve::admin_url_file(home)).ok().filter(|_| has_owner(home))?;
        Some(text.trim().to_owned()).filter(|url| !url.is_empty())
    }

    /// Where the file puts it; with port 0 only the gateway knows.
    fn configured(&self) -> Option<String> {
        self.admin.as_ref().map(|admin| &admin.listen).filter(|listen| listen.port != 0).map(url)
    }

    /// The token of commands, and where it stands. A gateway makes it at its first start; a command never does.
    fn token(&self) -> anyhow::Result<(Option<String>, String)> {
        let place = &self.context.place;
        if let Some(token) = self.admin.as_ref().and_then(|admin| admin.token.as_ref()) {
            let place = format!("admin.token of {}", place.config_file.display());
            return Ok((Some(token.expose().to_owned()), place));
        }
        let is_open = self.admin.as_ref().is_some_and(|admin| admin.open);
        let path = place.home.join("admin.token");
        let place = path.display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok((Some(text.trim().to_owned()).filter(|token| !token.is_empty()), place)),
            Err(error) if error.kind() == ErrorKind::NotFound || is_open => Ok((None, place)),
            Err(error) => Err(error).with_context(|| format!("cannot read the token of the gateway in {place}")),
        }
    }
}

/// Whether a gateway, or a command for a moment, has the lock of a home. A lock that cannot be looked at counts as held.
fn has_owner(home: &Path) -> bool {
    match File::open(home.join("doorbell.lock")) {
        Ok(file) => flock(&file, FlockOperation::NonBlockingLockShared).is_err(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Where the gateway of this machine is reached that listens there.
fn url(listen: &Listen) -> String {
    let scheme = if listen.tls.is_some() { "https" } else { "http" };
    let host = match listen.host.as_deref() {
        None | Some("0.0.0.0") => Some("127.0.0.1".to_owned()),
        Some("::") => Some("::1".to_owned()),
        Some(host) => Some(host.to_owned()),
    };
    // Shown the way it is dialled: IPv6 in brackets.
    format!("{scheme}://{}", Listen { host, port: listen.port, tls: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(host: Option<&str>) -> Listen {
        Listen { host: host.map(str::to_owned), port: 8645, tls: None }
    }

    #[test]
    fn a_gateway_on_every_interface_is_asked_over_loopback() {
        let urls =
            [None, Some("0.0.0.0"), Some("::"), Some("10.0.0.7"), Some("localhost")].map(|host| url(&listen(host)));
        let wanted =
            ["127.0.0.1", "127.0.0.1", "[::1]", "10.0.0.7", "localhost"].map(|host| format!("http://{host}:8645"));
        assert_eq!(urls, wanted);
    }
}
