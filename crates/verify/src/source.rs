//! A source: one provider's way of signing and naming its webhooks, as a row of data.

use crate::auto::AUTO;
use crate::providers;
use crate::scheme::{Scheme, Text};

/// One row: everything Doorbell knows about a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The word for `source` in a route.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// How its requests prove where they come from.
    pub scheme: Scheme,
    /// Where it names the kind of event; asked before the places that all sources share.
    pub event: Places,
    /// Where it names the delivery; asked before the headers that all sources share.
    pub delivery: Places,
    /// A header and its value that mark a request which only tests the connection.
    pub ping: Option<(&'static str, &'static str)>,
    /// A scheme that senders should leave.
    pub deprecated: bool,
    /// The keys that a route's `options` may hold.
    pub options: &'static [Setting],
    /// What one should know before using it; may be empty.
    pub note: &'static str,
}

/// Places to look at, the first filled one wins.
pub type Places = Vec<Place>;

/// A place in a request where a name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A header, in lower case.
    Header(Text),
    /// A dotted path into the payload: `type`, `data.object.id`, `events.0.id`.
    Body(Text),
}

/// A key of `options`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static str,
    /// What it means, what it takes and what holds without it.
    pub meaning: &'static str,
}

impl Source {
    /// A row with nothing but its scheme; fill in the rest with `..`.
    pub(crate) fn new(name: &'static str, title: &'static str, scheme: impl Into<Scheme>) -> Source {
        Source {
            name,
            title,
            scheme: scheme.into(),
            event: Vec::new(),
            delivery: Vec::new(),
            ping: None,
            deprecated: false,
            options: &[],
            note: "",
        }
    }

    /// Whether a route with this source must have a secret.
    pub fn needs_secret(&self) -> bool {
        self.scheme != Scheme::Open
    }

    /// Whether a changed body is noticed. Tokens prove who speaks, not what was said.
    pub fn signs_body(&self) -> bool {
        matches!(&self.scheme, Scheme::Hmac(hmac) if hmac.signed.contains("{body}"))
    }

    /// The header that is the secret itself, so that it must never be stored or shown.
    pub fn secret_header(&self) -> Option<&str> {
        match &self.scheme {
            Scheme::Token(token) => Some(&token.header),
            Scheme::Hmac(_) | Scheme::Open => None,
        }
    }
}

/// All sources, in the order in which they are listed. `auto` is no row: it chooses among them ([`crate::auto_order`]).
pub fn sources() -> &'static [Source] {
    providers::rows()
}

/// The row with this name.
pub fn source(name: &str) -> Option<&'static Source> {
    sources().iter().find(|source| source.name == name)
}

/// The name a user most likely meant.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, sources().iter().map(|source| source.name).chain([AUTO]))
}

/// The candidate with the fewest typing errors between it and `word`, if these are at most a third of its letters.
pub(crate) fn nearest_of<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let word = word.to_lowercase();
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A header as a place.
pub(crate) fn header(name: impl Into<Text>) -> Place {
    Place::Header(name.into())
}

/// A path into the payload as a place.
pub(crate) fn body(path: impl Into<Text>) -> Place {
    Place::Body(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for row in sources() {
            assert_eq!(sources().iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
            assert_eq!(source(row.name), Some(row));
            assert!(!row.title.is_empty(), "{}", row.name);
        }
        assert_eq!(source(AUTO), None);
    }

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        assert_eq!(nearest("githib"), Some("github"));
        assert_eq!(nearest("Gitlab"), Some("gitlab"));
        assert_eq!(nearest("standard_webhook"), Some("standard-webhooks"));
        assert_eq!(nearest("atuo"), Some("auto"));
        assert_eq!(nearest("sourdough"), None);
    }

    #[test]
    fn only_schemes_over_the_body_say_that_they_sign_it() {
        let signing: Vec<_> = sources().iter().filter(|row| row.signs_body()).map(|row| row.name).collect();
        let wanted = ["svix", "standard-webhooks", "github", "hermes", "linear", "generic-v1", "generic-v2", "hmac"];
        assert_eq!(signing, wanted);
    }
}
