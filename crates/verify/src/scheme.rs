//! The primitives a signature scheme is put together from.
//!
//! A row reads like the table it was taken from: `hmac("x-slack-signature").prefix("v0=").signed("v0:{timestamp}:{body}")`.

use std::borrow::Cow;
use std::time::Duration;

/// Text of a row: a literal in the table of providers, owned when it comes from a route's `options`.
pub type Text = Cow<'static, str>;

/// How far a sender's clock may be off where a provider names no limit of its own.
pub const DEFAULT_TOLERANCE: Duration = Duration::from_mins(5);

/// How a request proves where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    /// A keyed digest over what was sent.
    Hmac(Hmac),
    /// The secret itself, sent along.
    Token(Token),
    /// No proof at all.
    Open,
}

/// A keyed digest (RFC 2104) in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hmac {
    /// The header that holds the signature, in lower case.
    pub header: Text,
    /// How signatures stand in that header.
    pub parse: Parse,
    /// How a digest is written.
    pub encoding: Encoding,
    /// The hash function.
    pub algorithm: Algorithm,
    /// How the secret becomes the key.
    pub key: KeyForm,
    /// What is signed: literal text with `{body}`, `{timestamp}` (as sent) and `{header:name}`.
    pub signed: Text,
    /// When it was sent, for schemes that limit how old a request may be.
    pub timestamp: Option<Timestamp>,
    /// Headers that must be there with exactly this value.
    pub require: Vec<(Text, Text)>,
}

/// How signatures stand in their header. Only one of several has to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parse {
    /// The header is the signature.
    Raw,
    /// This text, then the signature.
    Prefix(Text),
    /// The signature, with or without this text before it.
    OptionalPrefix(Text),
    /// Signatures with a separator between them, each after the prefix; other items are left alone.
    List {
        /// What stands between two items.
        separator: Text,
        /// What a signature begins with; may be empty.
        prefix: Text,
    },
    /// Named values such as `t=1,v1=ab`; the other names are fields, one of which may be the timestamp.
    KeyValue {
        /// What stands between two items.
        separator: Text,
        /// What stands between a name and its value.
        equals: Text,
        /// The name of signatures.
        signature: Text,
    },
    /// `v1,<signature>` items with spaces between them; other versions are left alone.
    StandardWebhooks,
}

/// How a digest is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal, in either case.
    Hex,
    /// Canonical base64 with padding.
    Base64,
    /// Canonical base64 in the alphabet for URLs, with or without padding.
    Base64Url,
}

/// The hash function below the HMAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// 16 bytes; only for senders that offer nothing better.
    Md5,
    /// 20 bytes; only for senders that offer nothing better.
    Sha1,
    /// 32 bytes.
    Sha256,
    /// 48 bytes.
    Sha384,
    /// 64 bytes.
    Sha512,
}

/// How the text of a secret becomes a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyForm {
    /// Its bytes.
    Raw,
    /// Base64 when it begins with this prefix, else its bytes.
    Base64After(Text),
    /// Base64, after this prefix when it has one; the prefix may be empty.
    Base64(Text),
    /// Hexadecimal.
    Hex,
}

/// When a request was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timestamp {
    /// Where it stands. A body that holds one decides, else the first of the other places.
    pub places: Vec<TimestampPlace>,
    /// What it counts.
    pub unit: Unit,
    /// How far it may be from now, in either direction; exactly that far passes.
    pub tolerance: Duration,
}

/// Where a timestamp stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimestampPlace {
    /// A header, in lower case.
    Header(Text),
    /// A field of the signature header, see [`Parse::KeyValue`].
    Field(Text),
    /// A dotted path into a JSON body; read only after the signature over the body has passed.
    Body(Text),
}

/// What a timestamp counts since 1970. Never guessed from its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
}

/// A header that carries the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The header, in lower case.
    pub header: Text,
    /// How the secret stands in it.
    pub form: TokenForm,
}

/// How a secret stands in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenForm {
    /// The value is the secret.
    Plain,
    /// `Bearer <secret>` (RFC 6750), the word in any case.
    Bearer,
    /// `Basic <base64 of user:password>` (RFC 7617), the word in any case; the secret is `user:password`.
    Basic,
}

/// HMAC-SHA256 over the body, in hex, alone in `header`: what most providers do. The methods say what is different.
pub(crate) fn hmac(header: impl Into<Text>) -> Hmac {
    Hmac {
        header: header.into(),
        parse: Parse::Raw,
        encoding: Encoding::Hex,
        algorithm: Algorithm::Sha256,
        key: KeyForm::Raw,
        signed: "{body}".into(),
        timestamp: None,
        require: Vec::new(),
    }
}

/// The secret itself in `header`.
pub(crate) fn token(header: impl Into<Text>, form: TokenForm) -> Token {
    Token { header: header.into(), form }
}

impl Hmac {
    pub(crate) fn prefix(self, prefix: impl Into<Text>) -> Hmac {
        Hmac { parse: Parse::Prefix(prefix.into()), ..self }
    }

    pub(crate) fn parse(self, parse: Parse) -> Hmac {
        Hmac { parse, ..self }
    }

    pub(crate) fn base64(self) -> Hmac {
        Hmac { encoding: Encoding::Base64, ..self }
    }

    pub(crate) fn key(self, key: KeyForm) -> Hmac {
        Hmac { key, ..self }
    }

    pub(crate) fn signed(self, template: impl Into<Text>) -> Hmac {
        Hmac { signed: template.into(), ..self }
    }

    pub(crate) fn timestamp(self, timestamp: Timestamp) -> Hmac {
        Hmac { timestamp: Some(timestamp), ..self }
    }
}

impl Timestamp {
    /// Seconds in one of these places, within the default tolerance.
    pub(crate) fn seconds(places: impl Into<Vec<TimestampPlace>>) -> Timestamp {
        Timestamp { places: places.into(), unit: Unit::Seconds, tolerance: DEFAULT_TOLERANCE }
    }

    /// Milliseconds in one of these places, within the default tolerance.
    pub(crate) fn millis(places: impl Into<Vec<TimestampPlace>>) -> Timestamp {
        Timestamp { unit: Unit::Millis, ..Timestamp::seconds(places) }
    }

    /// With the provider's own tolerance.
    pub(crate) fn within(self, tolerance: Duration) -> Timestamp {
        Timestamp { tolerance, ..self }
    }
}

impl From<Hmac> for Scheme {
    fn from(hmac: Hmac) -> Scheme {
        Scheme::Hmac(hmac)
    }
}

impl From<Token> for Scheme {
    fn from(token: Token) -> Scheme {
        Scheme::Token(token)
    }
}
