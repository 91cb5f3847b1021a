//! Exact numbers: decimal texts as rationals, and their rounding.

use num_rational::BigRational;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero, pow};

/// A rational number of any size.
pub type Exact = BigRational;

/// Largest power of ten that a text may contain; no double is larger.
const MAX_EXPONENT: i32 = 400;

/// Parses a decimal text: an optional sign, digits with at most one point, an optional exponent.
pub fn parse(text: &str) -> Option<Exact> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let both = format!("{whole}{fraction}");
    if both.is_empty() || !both.bytes().all(|b| b.is_ascii_digit()) || both.len() > 1000 {
        return None;
    }
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    if exponent.abs() > MAX_EXPONENT + 1000 {
        return None;
    }
    let value = Exact::from_integer(both.parse().ok()?) * ten_to(exponent);
    Some(if negative { -value } else { value })
}

/// Returns the number that the shortest decimal text of `value` states: 0.1 is one tenth.
pub fn from_f64(value: f64) -> Option<Exact> {
    if value.is_finite() { parse(&format!("{value:e}")) } else { None }
}

/// Returns an integer as an exact number.
pub fn from_integer(value: i64) -> Exact {
    Exact::from_i64(value).unwrap_or_else(Exact::zero)
}

/// Returns the nearest double.
pub fn to_f64(value: &Exact) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

pub fn ten_to(exponent: i32) -> Exact {
    let power = pow(from_integer(10), exponent.unsigned_abs() as usize);
    if exponent < 0 { Exact::one() / power } else { power }
}

/// Formats a number with a fixed number of decimals, rounding half away from zero.
pub fn fixed(value: &Exact, decimals: u32) -> String {
    let scaled = (value * ten_to(decimals.cast_signed())).round();
    let digits = scaled.abs().to_integer().to_string();
    let sign = if scaled.is_negative() { "-" } else { "" };
    if decimals == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = decimals as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals as usize);
    format!("{sign}{whole}.{fraction}")
}

/// Formats a number for reading: exactly if it has up to six decimals, else with six significant
/// digits.
pub fn shown(value: &Exact) -> String {
    if let Some(decimals) = (0..=6).find(|d| (value * ten_to(*d)).is_integer()) {
        return fixed(value, decimals.cast_unsigned());
    }
    let magnitude = to_f64(&value.abs()).log10().floor();
    let decimals = if magnitude.is_finite() { (5.0 - magnitude).clamp(0.0, 300.0) } else { 0.0 };
    let text = fixed(value, decimals as u32);
    let text = if text.contains('.') { text.trim_end_matches('0') } else { &text };
    text.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly_and_nothing_else_is() {
        let tenth = from_integer(1) / from_integer(10);
        assert_eq!(parse("0.1"), Some(tenth.clone()));
        assert_eq!(from_f64(0.1), Some(tenth));
        assert_eq!(parse("-2.5e3"), Some(from_integer(-2500)));
        assert_eq!(parse(".5").map(|v| fixed(&v, 1)), Some("0.5".to_owned()));
        for text in ["", ".", "1.2.3", "1,2", "NaN", "inf", "1e999999", "0x10", "1 2", "--1"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(from_f64(f64::NAN), None);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (text, decimals, wanted) in
            [("2.5", 0, "3"), ("-0.25", 1, "-0.3"), ("26423.875", 0, "26424"), ("0.04", 1, "0.0")]
        {
            assert_eq!(fixed(&parse(text).unwrap(), decimals), wanted, "{text}");
        }
        assert_eq!(shown(&(from_integer(1) / from_integer(3))), "0.333333");
        assert_eq!(shown(&(from_integer(4_000_001) / from_integer(3))), "1333334");
        assert_eq!(shown(&from_integer(-7)), "-7");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[-+0-9.eE]{0,12}", value in proptest::num::f64::ANY) {
            let _ = parse(&text).map(|v| shown(&v));
            if let Some(v) = from_f64(value) {
                assert_eq!(to_f64(&v), value);
                let _ = shown(&v);
            }
        }
    }
}
