//! A row with what a route's `options` change about it.

use serde_json::{Map, Value};

use crate::engine::signed::{Piece, Template};
use crate::options::{Options, bad};
use crate::scheme::{Algorithm, Encoding, Hmac, KeyForm, Parse, Scheme, Timestamp, TimestampPlace, Unit};
use crate::settings::SettingsError;
use crate::source::{Source, header};

const ALGORITHMS: [(&str, Algorithm); 5] = [
    ("md5", Algorithm::Md5),
    ("sha1", Algorithm::Sha1),
    ("sha256", Algorithm::Sha256),
    ("sha384", Algorithm::Sha384),
    ("sha512", Algorithm::Sha512),
];
const ENCODINGS: [(&str, Encoding); 3] =
    [("hex", Encoding::Hex), ("base64", Encoding::Base64), ("base64url", Encoding::Base64Url)];
const UNITS: [(&str, Unit); 2] = [("s", Unit::Seconds), ("ms", Unit::Millis)];

/// How a route says that its secret is written.
#[derive(Clone, Copy)]
enum Written {
    Raw,
    Base64,
    Hex,
}

const WRITTEN: [(&str, Written); 3] = [("raw", Written::Raw), ("base64", Written::Base64), ("hex", Written::Hex)];

/// `row`, changed by `options`. Which options a row takes is part of the row; what they do is the same everywhere.
pub(crate) fn apply(row: &Source, options: &Map<String, Value>) -> Result<Source, SettingsError> {
    let options = Options::of(row, options)?;
    let mut source = row.clone();
    match &mut source.scheme {
        Scheme::Hmac(hmac) => change_hmac(hmac, &options)?,
        Scheme::Token(token) => replace(&mut token.header, options.header("header")?.map(Into::into)),
        Scheme::Open => {}
    }
    source.event.splice(0..0, options.header("event_header")?.map(header));
    source.delivery.splice(0..0, options.header("id_header")?.map(header));
    Ok(source)
}

fn change_hmac(hmac: &mut Hmac, options: &Options<'_>) -> Result<(), SettingsError> {
    replace(&mut hmac.header, options.header("header")?.map(Into::into));
    replace(&mut hmac.algorithm, options.choice("algorithm", &ALGORITHMS)?);
    replace(&mut hmac.encoding, options.choice("encoding", &ENCODINGS)?);
    replace(&mut hmac.parse, options.text("prefix")?.map(|prefix| Parse::Prefix(prefix.to_owned().into())));
    if let Some(written) = options.choice("secret_encoding", &WRITTEN)? {
        hmac.key = key_form(&hmac.key, written);
    }
    change_timestamp(hmac, options)?;
    replace(&mut hmac.signed, options.text("signed")?.map(|template| template.to_owned().into()));
    if options.has("signed") { check_template(hmac) } else { Ok(()) }
}

fn change_timestamp(hmac: &mut Hmac, options: &Options<'_>) -> Result<(), SettingsError> {
    let unit = options.choice("timestamp_unit", &UNITS)?;
    match (options.header("timestamp_header")?, unit) {
        (Some(name), unit) => {
            let place = TimestampPlace::Header(name.into());
            let unit = unit.unwrap_or(Unit::Seconds);
            hmac.timestamp = Some(Timestamp { unit, ..Timestamp::seconds([place]) });
            hmac.signed = "{timestamp}.{body}".into();
            Ok(())
        }
        (None, Some(_)) => Err(bad("timestamp_unit", "says how to read `timestamp_header`, which is not set")),
        (None, None) => Ok(()),
    }
}

/// The template must be readable, sign something, and treat the timestamp as what it is.
fn check_template(hmac: &Hmac) -> Result<(), SettingsError> {
    let template = Template::parse(&hmac.signed).map_err(|why| bad("signed", why))?;
    let signs = |piece: &Piece| template.pieces().contains(piece);
    if template.pieces().iter().all(|piece| matches!(piece, Piece::Literal(_))) {
        return Err(bad("signed", "signs nothing of the request: it needs `{body}`"));
    }
    let signs_by_name = |timestamp: &Timestamp| {
        let header = |place: &TimestampPlace| match place {
            TimestampPlace::Header(name) => Some(Piece::Header(name.to_string())),
            TimestampPlace::Field(_) | TimestampPlace::Body(_) => None,
        };
        timestamp.places.iter().filter_map(header).any(|piece| signs(&piece))
    };
    match &hmac.timestamp {
        None if signs(&Piece::Timestamp) => Err(bad("signed", "uses `{timestamp}`: set `timestamp_header` too")),
        Some(timestamp) if !signs(&Piece::Timestamp) && !signs_by_name(timestamp) => {
            Err(bad("signed", "leaves out `{timestamp}`: an unsigned timestamp can be set to anything by anyone"))
        }
        _ => Ok(()),
    }
}

/// A form with a prefix keeps it: a `whsec_` that is left in place would not be base64.
fn key_form(usual: &KeyForm, written: Written) -> KeyForm {
    match (written, usual) {
        (Written::Raw, _) => KeyForm::Raw,
        (Written::Base64, KeyForm::Base64After(prefix) | KeyForm::Base64(prefix)) => KeyForm::Base64(prefix.clone()),
        (Written::Base64, KeyForm::Raw | KeyForm::Hex) => KeyForm::Base64("".into()),
        (Written::Hex, _) => KeyForm::Hex,
    }
}

fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
