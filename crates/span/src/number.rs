//! The number at the beginning of a text such as `1.5h`.

use serde_json::{Number, Value};

/// Ten to the twentieth, the smallest place that [`part_of`] looks at.
const TWENTY: u128 = 100_000_000_000_000_000_000;

/// Splits `1.5h` into `1.5` and `h`; the unit is trimmed and may be empty.
///
/// `None` when the text does not begin with a plain decimal number: no sign, no exponent, digits on both sides of the dot.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let plain = match number.split_once('.') {
        Some((whole, fraction)) => !whole.is_empty() && !fraction.is_empty() && !fraction.contains('.'),
        None => !number.is_empty(),
    };
    plain.then_some((number, unit.trim()))
}

/// The digits after a decimal dot as a share of `unit`, rounded down: `("5", 60)` is 30.
///
/// `unit` is at most a day in nanoseconds or a tebibyte, so the result fits.
pub(crate) fn part_of(unit: u128, digits: &str) -> u64 {
    let (mut share, mut place) = (0, 1);
    // Twenty digits are beyond every unit's smallest part.
    for digit in digits.bytes().take(20) {
        place *= 10;
        share += unit * u128::from(digit - b'0') * (TWENTY / place);
    }
    u64::try_from(share / TWENTY).unwrap_or(u64::MAX)
}

/// What a configuration file may hold where a length or a size is wanted.
pub(crate) enum Written {
    /// A number without unit.
    Number(Number),
    /// A text.
    Text(String),
    /// Anything else, as it would be shown in an error.
    Other(String),
}

impl From<Value> for Written {
    fn from(value: Value) -> Self {
        match value {
            Value::Number(number) => Written::Number(number),
            Value::String(text) => Written::Text(text),
            Value::Null => Written::Other("null".to_owned()),
            Value::Bool(truth) => Written::Other(truth.to_string()),
            Value::Array(_) => Written::Other("a list".to_owned()),
            Value::Object(_) => Written::Other("a mapping".to_owned()),
        }
    }
}
