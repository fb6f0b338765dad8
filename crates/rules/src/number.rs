//! Numbers of a payload, compared by value and exactly: `5` is `5.0`, and no digit is lost to a binary fraction.

use std::cmp::Ordering;

use serde_json::Number;

/// A decimal number: `digits × 10^exponent`, without zeros at either end of `digits`; no digits: zero.
#[derive(Debug, PartialEq, Eq)]
struct Decimal<'a> {
    negative: bool,
    digits: std::borrow::Cow<'a, str>,
    exponent: i64,
}

/// How `a` compares with `b`. `None` when an exponent is beyond anything that a sender can mean.
pub fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    let (a, b) = (a.to_string(), b.to_string());
    let (a, b) = (read(&a)?, read(&b)?);
    Some(match (a.sign(), b.sign()) {
        (one, other) if one != other => one.cmp(&other),
        (-1, _) => b.size(&a),
        _ => a.size(&b),
    })
}

/// Whether both are the same number.
pub fn equal(a: &Number, b: &Number) -> bool {
    compare(a, b) == Some(Ordering::Equal)
}

fn read(text: &str) -> Option<Decimal<'_>> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?.into()),
        None => (text, 0_i64),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places = i64::try_from(fraction.len()).ok()?;
    let all: String = [whole, fraction].concat();
    let kept = all.trim_end_matches('0');
    let zeros = i64::try_from(all.len() - kept.len()).ok()?;
    let digits = kept.trim_start_matches('0').to_owned();
    let exponent = if digits.is_empty() { 0 } else { exponent - places + zeros };
    Some(Decimal { negative, digits: digits.into(), exponent })
}

impl Decimal<'_> {
    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Compares without their signs.
    fn size(&self, other: &Decimal<'_>) -> Ordering {
        // Where the first digit stands decides; then digit by digit, since neither begins or ends with a zero.
        let top = |d: &Decimal<'_>| i64::try_from(d.digits.len()).unwrap_or(i64::MAX).saturating_add(d.exponent);
        let by_top = if self.digits.is_empty() || other.digits.is_empty() {
            self.digits.len().cmp(&other.digits.len())
        } else {
            top(self).cmp(&top(other))
        };
        by_top.then_with(|| self.digits.cmp(&other.digits))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_same_number_has_many_spellings() {
        for (a, b) in
            [("5", "5.0"), ("5", "50e-1"), ("0", "-0.0"), ("1200", "1.2e3"), ("0.05", "5E-2"), ("0", "0e99999")]
        {
            assert!(equal(&number(a), &number(b)), "{a} and {b}");
        }
        assert!(!equal(&number("9007199254740993"), &number("9007199254740992")), "a binary fraction has them as one");
        assert!(!equal(&number("1e400"), &number("1e401")), "and these as infinite");
    }

    #[test]
    fn order_is_that_of_numbers() {
        let ascending = ["-1e400", "-10", "-9.5", "-0.1", "0", "0.09", "0.1", "1", "1.05", "1.1", "9", "10", "1e400"];
        for (at, a) in ascending.iter().enumerate() {
            for (other, b) in ascending.iter().enumerate() {
                assert_eq!(compare(&number(a), &number(b)), Some(at.cmp(&other)), "{a} and {b}");
            }
        }
        assert_eq!(compare(&number("1e99999999999"), &number("1")), None);
    }

    proptest! {
        #[test]
        fn integers_compare_as_integers(a: i64, b: i64) {
            prop_assert_eq!(compare(&a.into(), &b.into()), Some(a.cmp(&b)));
        }

        #[test]
        fn close_ones_too(a in -2000_i32..2000, b in -2000_i32..2000, places in 0..4_usize) {
            let with = |n: i32| number(&format!("{n}e-{places}"));
            prop_assert_eq!(compare(&with(a), &with(b)), Some(a.cmp(&b)));
            let shifted = number(&format!("{:.places$}", f64::from(a) / 10_f64.powi(i32::try_from(places).unwrap())));
            prop_assert!(equal(&with(a), &shifted), "{} and {}", with(a), shifted);
        }
    }
}
