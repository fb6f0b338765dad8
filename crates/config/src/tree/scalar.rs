//! What a scalar without quotes is: YAML 1.2's core schema, <https://yaml.org/spec/1.2.2/#103-core-schema>.

use serde_json::Number;

use super::Value;

/// The value of a plain scalar: nothing, true or false, a number, else a text.
///
/// Only what JSON calls a number is one; `yes`, `no`, `on` and `off` are texts, as in YAML 1.2.
pub(crate) fn typed(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Truth(true),
        "false" | "False" | "FALSE" => Value::Truth(false),
        _ => number(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number),
    }
}

/// A number as JSON writes it. Whatever would come out differently (`+49`, `0x1F`, `1e5`) may be a phone number, an address
/// or a token, and a text keeps every character of it.
fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number: Number = digits.starts_with(|c: char| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit() {
        for text in ["0", "-0", "-12", "0.5", "1.50", "123456789012345678901234567890"] {
            assert!(matches!(typed(text), Value::Number(number) if number.to_string() == text), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_is_a_text() {
        let texts = "007 1_000 0x1F 0o17 +5 .5 5. 1e5 12E345 1.2.3 - + 30s .inf yes off -x";
        for text in texts.split(' ').chain(["1 ", " 1"]) {
            assert_eq!(typed(text), Value::Text(text.into()), "{text}");
        }
    }

    #[test]
    fn nothing_and_truth() {
        assert_eq!(["", "~", "null"].map(typed), [Value::Null, Value::Null, Value::Null]);
        assert_eq!([typed("true"), typed("FALSE")], [Value::Truth(true), Value::Truth(false)]);
    }
}
