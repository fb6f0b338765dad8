//! What a scalar without quotes is: YAML 1.2's core schema, <https://yaml.org/spec/1.2.2/#103-core-schema>.

use serde_json::Number;

use super::Value;

/// The value of a plain scalar: nothing, true or false, a number, else a text.
///
/// Stricter than the core schema where it would lose what was written: a number with leading zeros (`007`) and the float
/// words (`.inf`, `.nan`) stay texts. `yes`, `no`, `on` and `off` are texts, as in YAML 1.2.
pub(crate) fn typed(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Truth(true),
        "false" | "False" | "FALSE" => Value::Truth(false),
        _ => number(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let radix = |prefix, radix| text.strip_prefix(prefix).map(|digits| (digits, radix));
    if let Some((digits, radix)) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        let digits = digits.starts_with(|c: char| c.is_digit(radix)).then_some(digits)?;
        return u64::from_str_radix(digits, radix).ok().map(Number::from);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let zero = if digits.starts_with('.') { "0" } else { "" };
    let begins = digits.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    // JSON's grammar is the rest of YAML's, without leading zeros.
    begins.then(|| format!("{sign}{zero}{digits}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit() {
        for (text, json) in [
            ("0", "0"),
            ("-12", "-12"),
            ("+5", "5"),
            ("0x1F", "31"),
            ("0o17", "15"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1.50", "1.50"),
            ("1e3", "1e3"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(typed(text), Value::Number(json.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_is_a_text() {
        for text in ["007", "1_000", "0x", "0x-1", "1.2.3", "..5", "-", "+", "1 ", "30s", ".inf", "-.inf", "yes", "off"] {
            assert_eq!(typed(text), Value::Text(text.into()), "{text}");
        }
    }

    #[test]
    fn nothing_and_truth() {
        assert_eq!(["", "~", "null"].map(typed), [Value::Null, Value::Null, Value::Null]);
        assert_eq!([typed("true"), typed("FALSE")], [Value::Truth(true), Value::Truth(false)]);
    }
}
