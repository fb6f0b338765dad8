//! What goes wrong while a value is read: where, what, and what was perhaps meant.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use crate::path::{Path, Step};
use crate::problem::Fault;
use crate::tree::Mark;

/// An error that finds its place on the way up.
#[derive(Debug)]
pub(crate) struct ReadError {
    path: Path,
    pub(crate) at: Option<Mark>,
    message: String,
    help: Option<String>,
}

impl ReadError {
    fn new(message: impl Into<String>, help: Option<String>) -> Self {
        ReadError { path: Path::default(), at: None, message: message.into(), help }
    }

    /// The error, seen from one level up: it happened in `step`, which stands at `at`.
    pub(crate) fn inside(mut self, step: Step, at: Mark) -> Self {
        self.path.put_before(step);
        self.at.get_or_insert(at);
        self
    }

    pub(crate) fn into_fault(self, at: Option<Mark>) -> Fault {
        Fault { path: self.path, at, message: self.message, help: self.help }
    }
}

impl std::error::Error for ReadError {}

impl Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// No message repeats a value: it may be a secret that stands under the wrong key.
impl Error for ReadError {
    fn custom<T: Display>(message: T) -> Self {
        ReadError::new(message.to_string(), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let wanted = wanted(expected);
        let help = match found {
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) | Unexpected::Bool(_)
                if wanted.starts_with("a text") =>
            {
                Some("put it in quotes".to_owned())
            }
            Unexpected::Str("yes" | "no" | "on" | "off") if wanted == "true or false" => {
                Some("write true or false, without quotes".to_owned())
            }
            _ => None,
        };
        ReadError::new(format!("{wanted} is wanted, this is {}", kind(found)), help)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        ReadError::new(format!("{} is wanted", wanted(expected)), None)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        ReadError::new(format!("{} is wanted", wanted(expected)), None)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        ReadError::new(format!("must be one of {}", list(expected)), None)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        ReadError::new("unknown key", Some(did_you_mean(field, expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        ReadError::new(format!("the key `{field}` is missing"), None)
    }
}

/// More names than this are not read but skipped over.
const LISTED: usize = 12;

/// The nearest of the known names, else all of them.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none to choose from".to_owned(),
        None if known.len() > LISTED => "`doorbell schema` describes the known ones".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The name that looks most like `name`, if any looks like it at all.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.map(|known| (strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase()), known));
    scored.filter(|(distance, known)| *distance <= 1 + known.len() / 4).min().map(|(_, known)| known)
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What a type wants, in the words of people who never saw a type.
fn wanted(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a string" | "string" | "str" => "a text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" | "usize" => "a whole number from 0 up".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        _ if text.starts_with("struct ") || text == "a map" => "a map of keys and values".to_owned(),
        _ => text,
    }
}

fn kind(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(true) => "true",
        Unexpected::Bool(false) => "false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Str(_) | Unexpected::Char(_) => "a text",
        Unexpected::Unit | Unexpected::Option => "empty",
        Unexpected::Seq => "a list",
        Unexpected::Map | Unexpected::Enum | Unexpected::StructVariant => "a map",
        _ => "something else",
    }
}
