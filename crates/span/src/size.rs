//! A number of bytes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::number::{self, Written};

const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

/// A number of bytes, written `256MiB`, `64KiB`, `1MB`, or as a plain number of bytes.
///
/// `KiB`, `MiB`, `GiB`, `TiB` are powers of 1024, `KB`, `MB`, `GB`, `TB` powers of 1000; case does not matter; fractions
/// are fine (`1.5GiB`). [`fmt::Display`] gives an exact form that reads back as the same size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// A text or value that is not a size; its message says what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Not a number with one of the units.
    #[error("`{0}` is not a size: write 64KiB, 256MiB, 1GB, or a number of bytes")]
    Unreadable(String),
    /// Does not fit into 63 bits.
    #[error("`{0}` is too large a size")]
    TooLarge(String),
}

impl From<Size> for u64 {
    fn from(size: Size) -> Self {
        size.0
    }
}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let unreadable = || SizeError::Unreadable(text.to_owned());
        let (number, name) = number::split(text).ok_or_else(unreadable)?;
        let name = if name.is_empty() { "B" } else { name };
        let unit = UNITS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).ok_or_else(unreadable)?.1;
        let too_large = || SizeError::TooLarge(text.to_owned());
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole = whole.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(too_large)?;
        let bytes = whole.checked_add(number::part_of(unit.into(), fraction)).ok_or_else(too_large)?;
        if i64::try_from(bytes).is_ok() { Ok(Size(bytes)) } else { Err(too_large()) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, unit)| self.0 > 0 && self.0.is_multiple_of(*unit)) {
            Some((name, unit)) if *unit > 1 => write!(f, "{}{name}", self.0 / unit),
            _ => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match Written::from(serde_json::Value::deserialize(deserializer)?) {
            Written::Text(text) => text.parse(),
            Written::Number(number) => number.to_string().parse(),
            Written::Other(what) => Err(SizeError::Unreadable(what)),
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size: `64KiB`, `256MiB`, `1GB`, or a number of bytes.",
            "type": ["string", "number"],
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*([KkMmGgTt][Ii]?)?[Bb]?\s*$",
            "minimum": 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::from_str;

    #[test]
    fn every_unit_is_read() {
        let read = |text: &str| text.parse::<Size>().unwrap_or_else(|e| panic!("{e}")).0;
        let texts = ["1", "1B", "64KiB", "256MiB", "1MB", "2GB", "1.5KiB", "1 mib", "1TiB"];
        let bytes = [1, 1, 65_536, 268_435_456, 1_000_000, 2_000_000_000, 1_536, 1_048_576, 1 << 40];
        assert_eq!(texts.map(read), bytes);
        assert_eq!(from_str::<Size>("1048576").unwrap(), Size(1_048_576));
    }

    #[test]
    fn what_is_refused_says_what_is_accepted() {
        for bad in ["", "MB", "-1", "1K", "1 megabyte", "1.MB", "0x10"] {
            let error = bad.parse::<Size>().expect_err(bad).to_string();
            assert!(error.contains("64KiB, 256MiB"), "{bad}: {error}");
        }
        for bad in ["null", "-1", "[]", "\"big\""] {
            assert!(from_str::<Size>(bad).expect_err(bad).to_string().contains("is not a size"), "{bad}");
        }
        for large in ["9223372036854775808", "99999999TiB"] {
            assert!(matches!(large.parse::<Size>(), Err(SizeError::TooLarge(_))), "{large}");
        }
    }

    #[test]
    fn the_largest_unit_that_fits_is_shown() {
        let show = |bytes| Size(bytes).to_string();
        assert_eq!(
            [0, 1, 1_000, 1_024, 1_500_000, 268_435_456].map(show),
            ["0", "1", "1KB", "1KiB", "1500KB", "256MiB"]
        );
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(bytes in 0..=i64::MAX.unsigned_abs(), shift in 0..63_u32) {
            let size = Size(bytes >> shift << (shift / 2));
            prop_assert_eq!(size.to_string().parse::<Size>(), Ok(size));
            prop_assert_eq!(from_str::<Size>(&serde_json::to_string(&size).unwrap()).unwrap(), size);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = text.parse::<Size>();
        }
    }
}
