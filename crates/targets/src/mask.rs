//! Keeping credentials out of texts that people see.

use url::Url;

/// Shorter values are more likely ordinary words than secrets, and masking them would tear texts apart.
const SHORTEST: usize = 8;

/// Texts that must not be seen, and what is shown in their place.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Mask {
    /// Longest first, so that a part never hides the whole.
    hidden: Vec<(String, String)>,
}

impl Mask {
    /// Hides a credential, however short.
    pub(crate) fn secret(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.hide(text, "***");
        }
    }

    /// Hides a value that may be a credential, unless it is short.
    pub(crate) fn value(&mut self, text: &str) {
        if text.len() >= SHORTEST {
            self.hide(text, "***");
        }
    }

    /// Hides all of an address but where it leads: user, path and query may each be a credential.
    pub(crate) fn url(&mut self, text: &str) {
        let shown = shown(text);
        self.hide(text, &shown);
        let Ok(mut url) = Url::parse(text) else { return };
        self.secret(url.password().unwrap_or_default());
        for (_, value) in url.query_pairs() {
            self.value(&value);
        }
        for part in [url.query().unwrap_or_default(), url.path()] {
            self.value(part);
        }
        self.hide(url.as_str(), &shown);
        // An HTTP client moves user and password into a header and shows the rest.
        if url.set_username("").is_ok() && url.set_password(None).is_ok() {
            self.hide(url.as_str(), &shown);
        }
    }

    fn hide(&mut self, text: &str, instead: &str) {
        self.hidden.push((text.to_owned(), instead.to_owned()));
        self.hidden.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        self.hidden.dedup();
    }

    /// `text` without what is hidden.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.hidden.iter().fold(text.to_owned(), |text, (hidden, instead)| text.replace(hidden.as_str(), instead))
    }
}

/// Where an address leads, without user, path and query: `https://example.test:8443/…`.
pub(crate) fn shown(url: &str) -> String {
    match Url::parse(url) {
        Ok(parsed) => {
            let host = parsed.host_str().unwrap_or_default();
            let port = parsed.port().map(|port| format!(":{port}")).unwrap_or_default();
            let more = if parsed.path() == "/" && parsed.query().is_none() { "/" } else { "/…" };
            format!("{}://{host}{port}{more}", parsed.scheme())
        }
        Err(_) => "***".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_where_it_leads_and_no_more() {
        assert_eq!(shown("https://u:p@example.test:8443/services/T0?key=k"), "https://example.test:8443/…");
        assert_eq!(shown("http://127.0.0.1:9/"), "http://127.0.0.1:9/");
        assert_eq!(shown("not a url"), "***");
    }

    #[test]
    fn no_part_of_an_address_that_may_be_a_credential_stays() {
        let mut mask = Mask::default();
        mask.url("https://user:pw@example.test/services/T0/B1?key=longsecret");
        for text in [
            "for https://user:pw@example.test/services/T0/B1?key=longsecret: no",
            "for https://example.test/services/T0/B1?key=longsecret: no",
        ] {
            assert_eq!(mask.apply(text), "for https://example.test/…: no");
        }
        assert_eq!(mask.apply("path /services/T0/B1, longsecret, pw"), "path ***, ***, ***");
    }

    #[test]
    fn short_values_stay_and_secrets_do_not() {
        let mut mask = Mask::default();
        mask.value("yes");
        mask.secret("s3");
        mask.secret("");
        assert_eq!(mask.apply("yes s3"), "yes ***");
    }
}
