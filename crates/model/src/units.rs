//! Parsing and formatting of quantities: sizes and durations as people write them, and numbers as
//! assay prints them. SI prefixes are powers of 1000 (kB, MB), IEC prefixes powers of 1024 (KiB,
//! MiB). Pages, posts and terminal share these functions, so that they agree to the digit.

use std::time::Duration;

use crate::Scalar;

/// A size or duration that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The text is not a number followed by a unit.
    #[error("`{text}` is not a {what}; write a number and a unit, such as {example}")]
    Malformed {
        /// Text as written by the user.
        text: String,
        /// Expected quantity (`size`, `duration`).
        what: &'static str,
        /// Example of a valid text.
        example: &'static str,
    },
    /// The unit is not known.
    #[error("`{text}` has the unit `{unit}`, which is not a {what}; use {known}")]
    Unit {
        /// Text as written by the user.
        text: String,
        /// Unit as written by the user.
        unit: String,
        /// Expected quantity (`size`, `duration`).
        what: &'static str,
        /// List of the valid units.
        known: &'static str,
    },
}

const BYTE_UNITS: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

const TIME_UNITS: [(&str, f64); 8] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
];

/// Returns the seconds of one unit of time (`ms`, `h`); `None` for another unit.
pub fn seconds_of(unit: &str) -> Option<f64> {
    TIME_UNITS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds)
}

/// Returns the factor from a unit of time to seconds, and `s`; 1 and the unit for another unit.
pub fn in_seconds(unit: &str) -> (f64, &str) {
    seconds_of(unit).map_or((1.0, unit), |seconds| (seconds, "s"))
}

fn split(text: &str) -> Option<(f64, &str)> {
    let t = text.trim();
    let end = t
        .char_indices()
        .find(|(i, c)| {
            !(c.is_ascii_digit()
                || *c == '.'
                || *c == '_'
                || (*c == 'e' && t[i + 1..].starts_with(|d: char| d.is_ascii_digit())))
        })
        .map_or(t.len(), |(i, _)| i);
    let number: f64 = t[..end].replace('_', "").parse().ok()?;
    number.is_finite().then_some((number, t[end..].trim()))
}

/// Parses a size in bytes: `100 MiB`, `4kB`, `512` (bytes). Returns whole bytes.
///
/// # Errors
/// Not a number and a unit, a unit that is not a size, or not a whole number of bytes below 2^63.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let malformed =
        || UnitError::Malformed { text: text.to_owned(), what: "size", example: "`100 MiB`" };
    let (number, unit) = split(text).ok_or_else(malformed)?;
    let factor = if unit.is_empty() {
        1.0
    } else {
        BYTE_UNITS.iter().find(|(u, _)| *u == unit).map(|(_, f)| *f).ok_or_else(|| {
            UnitError::Unit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                what: "size",
                known: "B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024)",
            }
        })?
    };
    let bytes = number * factor;
    if bytes.fract().abs() > 1e-6 || bytes >= 9.2e18 { Err(malformed()) } else { Ok(bytes as u64) }
}

/// Parses a duration: `500 ms`, `2 min`, `1.5` (seconds).
///
/// # Errors
/// Not a number and a unit, or a unit that is not a time.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let malformed =
        || UnitError::Malformed { text: text.to_owned(), what: "duration", example: "`5 s`" };
    let (number, unit) = split(text).ok_or_else(malformed)?;
    let factor = if unit.is_empty() {
        1.0
    } else {
        seconds_of(unit).ok_or_else(|| UnitError::Unit {
            text: text.to_owned(),
            unit: unit.to_owned(),
            what: "duration",
            known: "ns, us, ms, s, min, h, d",
        })?
    };
    Duration::try_from_secs_f64(number * factor).map_err(|_| malformed())
}

/// Returns the bytes of a level or parameter: a text as for [`parse_bytes`], or an integer.
///
/// # Errors
/// As for [`parse_bytes`]; a negative number or a boolean is malformed.
pub fn bytes_of(value: &Scalar) -> Result<u64, UnitError> {
    match value {
        Scalar::Int(i) if *i >= 0 => Ok(*i as u64),
        other => parse_bytes(&other.to_text()),
    }
}

/// Returns the duration of a level or parameter: a text as for [`parse_duration`], or seconds.
///
/// # Errors
/// As for [`parse_duration`]; a negative number or a boolean is malformed.
pub fn duration_of(value: &Scalar) -> Result<Duration, UnitError> {
    parse_duration(&value.to_text())
}

/// Formats a size with the largest IEC prefix that divides it, else as plain bytes: `100 MiB`, `4
/// KiB`, `102400 B`.
pub fn format_bytes(bytes: u64) -> String {
    for (unit, factor) in
        [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} B")
}

/// Formats a duration for a person: `1.23 ms`, `4.56 s`, `3 min 12 s`, `2 h 05 min`.
pub fn format_duration(duration: Duration) -> String {
    let s = duration.as_secs_f64();
    if s < 60.0 {
        return format_value(s, "s");
    }
    let whole = s.round() as u64;
    if whole < 3600 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
    }
}

/// Characters that join the digits of a number in some locale or language. Readers of program
/// output accept none of them except the decimal point.
pub const DIGIT_JOINTS: &str = ",._'’٫٬\u{a0}\u{2009}\u{202f}";

/// Formats `value` with `digits` significant digits; an integer part with more digits is rounded to
/// `digits`. Below 1e-15 and from 1e18 on, the form has an exponent.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if is_extreme(value) {
        return format!("{value:.*e}", digits.clamp(1, 6) - 1);
    }
    let decimals = digits as i32 - digits_before_point(value);
    if decimals >= 0 {
        format!("{value:.*}", decimals as usize)
    } else {
        let scale = 10f64.powi(-decimals);
        format!("{:.0}", (value / scale).round() * scale)
    }
}

/// True for a value that is written with an exponent.
fn is_extreme(value: f64) -> bool {
    value != 0.0 && value.is_finite() && !(1e-15..1e18).contains(&value.abs())
}

/// Formats a value with its unit for a person: four significant digits, with an SI prefix where the
/// unit takes one: `5.542 GB/s`, `1.234 ms`, `352.0 kops/s`, `97.50 %`.
pub fn format_value(value: f64, unit: &str) -> String {
    format_value_digits(value, unit, 4)
}

/// Like [`format_value`], with a chosen number of significant digits.
pub fn format_value_digits(value: f64, unit: &str, digits: usize) -> String {
    format_value_as(value, unit, digits, None)
}

/// Like [`format_value_digits`], with the prefix that suits `reference`, or by default `value`.
pub fn format_value_as(value: f64, unit: &str, digits: usize, reference: Option<f64>) -> String {
    let (factor, prefixed) = scale_of(reference.unwrap_or(value), unit);
    let number = significant(value / factor, digits);
    if prefixed.is_empty() { number } else { format!("{number} {prefixed}") }
}

/// Returns the value whose SI prefix suits all values of a table or sentence: the smallest, if all
/// lie within a factor of 1000.
pub fn common_reference(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().map(f64::abs).collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (*values.first()?, *values.last()?);
    (low > 0.0 && high / low < 1000.0).then_some(low)
}

/// Returns the divisor and the prefixed unit that bring `reference` between 1 and 1000 where the
/// unit takes SI prefixes: `(1e9, "GB/s")` for 5.5e9 B/s.
pub fn scale_of(reference: f64, unit: &str) -> (f64, String) {
    if unit == "1" || unit.is_empty() {
        return (1.0, String::new());
    }
    let a = reference.abs();
    let small = [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
    let large = [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // Print `3.8 k/s` and `2 /s`, not `3.8 k1/s`.
    let unit = if unit == "1/s" { "/s" } else { unit };
    let takes_large = matches!(unit, "B" | "J" | "W" | "Hz") || unit.ends_with("/s");
    let takes_small = matches!(unit, "s" | "J" | "W");
    if takes_small && a < 1.0 && a > 0.0 {
        let (f, p) = small.iter().find(|(f, _)| a >= *f).copied().unwrap_or((1e-12, "p"));
        return (f, format!("{p}{unit}"));
    }
    if takes_large && a >= 1000.0 {
        let (f, p) = large.iter().find(|(f, _)| a >= *f).copied().unwrap_or((1.0, ""));
        // A unit that already has a prefix (kB/s, KiB/s) takes none.
        let prefixed = unit.contains("iB") || (unit.starts_with('k') && unit.contains('B'));
        return if prefixed { (1.0, unit.to_owned()) } else { (f, format!("{p}{unit}")) };
    }
    (1.0, unit.to_owned())
}

/// Formats the ends of an interval: `[1.03, 1.07]` under a heading that states its level, and `[95
/// % CI 1.03, 1.07]` elsewhere. Every output writes intervals with this function.
pub fn interval(low: &str, high: &str, level: Option<f64>) -> String {
    let level = level.map_or_else(String::new, |l| format!("{} CI ", percent(l)));
    format!("[{level}{low}, {high}]")
}

/// Formats a fraction in percent with at most two decimals: `95 %`, `99.5 %`.
pub fn percent(fraction: f64) -> String {
    let text = format!("{:.2}", fraction * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats a ratio for a person with its interval: with the decimals that the interval's width
/// supports, at least two, and at most five significant digits of a ratio below 1.
pub fn ratio(ratio: f64, low: f64, high: f64) -> Estimate {
    // The leading zeros of a ratio below 0.1 are not significant digits.
    let zeros = -(digits_before_point(ratio).min(0));
    let decimals = 2 - digits_before_point(high - low);
    let decimals = if high > low { decimals.clamp(2, 5 + zeros) } else { 3 + zeros };
    let text = |v: f64| fixed(v, decimals);
    Estimate { value: text(ratio), low: text(low), high: text(high), unit: String::new() }
}

/// Counts the digits before the decimal point: 1 for 5, 0 for 0.5, -2 for 0.005; 0 for 0 and for
/// values that are not finite.
fn digits_before_point(v: f64) -> i32 {
    if v == 0.0 || !v.is_finite() { 0 } else { v.abs().log10().floor() as i32 + 1 }
}

/// Formats `v` with `decimals` decimals; a nonzero value that would be printed as 0 gets one
/// significant digit instead.
fn fixed(v: f64, decimals: i32) -> String {
    let text = format!("{v:.*}", decimals.clamp(0, 300) as usize);
    let zero = !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let digits = (decimals + digits_before_point(v)).max(1) as usize;
    if (zero && v.is_finite() && v != 0.0) || is_extreme(v) { significant(v, digits) } else { text }
}

/// A value with its interval, printed with one scale and with the decimals that the interval's
/// width supports (two digits of it), so that value and ends are easy to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    pub value: String,
    pub low: String,
    pub high: String,
    /// Unit of all three with its prefix; empty for a plain number.
    pub unit: String,
}

impl Estimate {
    /// Formats the estimate: `5.542 GB/s [5.512, 5.572]`, with the level of the interval if given.
    pub fn text(&self, level: Option<f64>) -> String {
        let Estimate { value, low, high, unit } = self;
        let gap = if unit.is_empty() { "" } else { " " };
        format!("{value}{gap}{unit} {}", interval(low, high, level))
    }
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text(None))
    }
}

/// Formats `value` with the ends of its interval; see [`Estimate`]. `reference` sets the scale: the
/// value itself, or one value for a whole column.
pub fn estimate(value: f64, low: f64, high: f64, unit: &str, reference: f64) -> Estimate {
    let (factor, unit) = scale_of(reference, unit);
    let (value, low, high) = (value / factor, low / factor, high / factor);
    let width = high - low;
    let text = |v: f64| {
        if !(width.is_finite() && width > 0.0) {
            return significant(v, 4);
        }
        // Print two digits of the width, and never fewer than two of the value.
        let digits = if value == 0.0 { width } else { width.min(value.abs()) };
        fixed(v, 2 - digits_before_point(digits))
    };
    Estimate { value: text(value), low: text(low), high: text(high), unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn si_is_not_iec() {
        assert_eq!(parse_bytes("1 MB").unwrap(), 1_000_000);
        assert_eq!(parse_bytes("1MiB").unwrap(), 1_048_576);
        assert_eq!(parse_bytes("102400").unwrap(), 102_400);
        assert_eq!(parse_bytes("1.5 KiB").unwrap(), 1536);
        assert!(parse_bytes("1 Mb").is_err(), "bits are not bytes");
        assert!(parse_bytes("0.3 B").is_err());
        assert!(parse_bytes("-1").is_err());
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("500 ms").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_duration("2min").unwrap(), Duration::from_secs(120));
        assert_eq!(parse_duration("1e3 us").unwrap(), Duration::from_millis(1));
        assert!(parse_duration("5 minutes").is_err());
        assert!(parse_duration("soon").is_err());
        assert_eq!(format_duration(Duration::from_secs(192)), "3 min 12 s");
    }

    #[test]
    fn values_for_people() {
        assert_eq!(format_value(5.542e9, "B/s"), "5.542 GB/s");
        assert_eq!(format_value(0.001_234, "s"), "1.234 ms");
        assert_eq!(format_value(352_000.0, "ops/s"), "352.0 kops/s");
        assert_eq!(format_value(97.5, "%"), "97.50 %");
        assert_eq!(format_value(3840.0, "1/s"), "3.840 k/s");
        assert_eq!(format_value(0.982, "1/s"), "0.9820 /s");
        assert_eq!(format_value(1e-9, "s"), "1.000 ns");
        assert_eq!(format_value(2.5e-11, "s"), "25.00 ps");
        assert_eq!(format_value(1e15, "B"), "1.000 PB");
        assert_eq!(format_value(1234.0, "KiB/s"), "1234 KiB/s");
        assert_eq!(format_value(0.25, "1"), "0.2500");
        assert_eq!(significant(123_456.0, 3), "123000");
        assert_eq!(ratio(1.05123, 1.031, 1.071).to_string(), "1.051 [1.031, 1.071]");
        assert_eq!(ratio(1.07, 0.9, 1.26).text(Some(0.95)), "1.07 [95 % CI 0.90, 1.26]");
        assert_eq!((percent(0.95), percent(0.005)), ("95 %".to_owned(), "0.5 %".to_owned()));
        assert_eq!(format_bytes(104_857_600), "100 MiB");
        assert_eq!(format_bytes(102_400), "100 KiB");
        assert_eq!(format_bytes(4097), "4097 B");
    }

    #[test]
    fn estimates_have_the_digits_of_their_interval() {
        let text = |v, l, h, unit| estimate(v, l, h, unit, v).to_string();
        assert_eq!(text(5.5423e9, 5.512e9, 5.572e9, "B/s"), "5.542 GB/s [5.512, 5.572]");
        assert_eq!(text(0.0123, 0.0103, 0.0143, "s"), "12.3 ms [10.3, 14.3]");
        assert_eq!(
            text(123_456.0, 100_000.0, 150_000.0, "switches"),
            "123456 switches [100000, 150000]"
        );
        assert_eq!(text(1.5, 1.5, 1.5, "1"), "1.500 [1.500, 1.500]");
    }

    #[test]
    fn what_is_not_zero_is_not_written_as_zero() {
        let text = |v, l, h| ratio(v, l, h).to_string();
        assert_eq!(text(1.23e-6, 1.1e-6, 1.37e-6), "0.00000123 [0.00000110, 0.00000137]");
        assert_eq!(text(0.0007, 0.0003, 0.0016), "0.0007 [0.0003, 0.0016]");
        assert_eq!(text(1.5, 0.0001, 18.2), "1.50 [0.0001, 18.20]");
        assert_eq!(text(1e-6, 1e-6, 1e-6), "0.00000100 [0.00000100, 0.00000100]");
        let text = |v, l, h, unit| estimate(v, l, h, unit, v).to_string();
        assert_eq!(text(1.3e-3, 1.1e-5, 15.9e-3, "s"), "1.3 ms [0.01, 15.9]");
        assert_eq!(text(1e-9, 0.9e-9, 1.1e-9, "s"), "1.00 ns [0.90, 1.10]");
        assert_eq!(
            text(2e-12, 1e-12, 3e-12, "1"),
            "0.0000000000020 [0.0000000000010, 0.0000000000030]"
        );
        assert_eq!(text(0.0, -1.0, 1.0, "s"), "0.0 s [-1.0, 1.0]");
    }

    #[test]
    fn extreme_values_have_an_exponent_and_few_digits() {
        for e in -320..=308 {
            let v = format!("1.23456789e{e}").parse::<f64>().unwrap();
            let (low, high) = (v * 0.9, v * 1.1);
            let made = [
                significant(v, 4),
                significant(-v, 6),
                format_value(v, "1"),
                format_value(v, "B/s"),
                format_value(v, "s"),
                ratio(v, low, high).value,
                ratio(v, v, v).value,
                estimate(v, low, high, "1", v).value,
                estimate(v, low, high, "s", v).value,
            ];
            for text in made {
                assert!(text.len() <= 32, "1.23456789e{e}: {text}");
                let read: f64 = text.split(' ').next().unwrap().parse().unwrap();
                assert!(read != 0.0, "1.23456789e{e}: {text}");
            }
        }
        assert_eq!(significant(1e300, 4), "1.000e300");
        assert_eq!(format_value(1.5e-300, "1"), "1.500e-300");
        assert_eq!(
            ratio(1e300, 0.9e300, 1.1e300).to_string(),
            "1.00000e300 [9.00000e299, 1.10000e300]"
        );
        assert_eq!(significant(9.99e17, 4), "999000000000000000");
        assert_eq!(significant(1e-15, 2), "0.0000000000000010");
    }

    proptest::proptest! {
        /// Over 24 decades, value and ends parse back within a tenth of the interval's width or
        /// half of the value, and no nonzero value is printed as zero.
        #[test]
        fn estimates_read_back(
            m in 1.0f64..10.0, e in -12i32..12, below in 0.001f64..0.999, above in 0.001f64..20.0,
        ) {
            let v = m * 10f64.powi(e);
            let (low, high) = (v * (1.0 - below), v * (1.0 + above));
            for made in [ratio(v, low, high), estimate(v, low, high, "1", v)] {
                for (text, truth) in [(&made.value, v), (&made.low, low), (&made.high, high)] {
                    let read: f64 = text.parse().unwrap();
                    proptest::prop_assert!(read > 0.0, "{made} of {v} [{low}, {high}]");
                    let off = (read - truth).abs();
                    proptest::prop_assert!(off <= 0.1 * (high - low) || off <= 0.5 * truth,
                        "{made} of {v}");
                }
            }
        }

        #[test]
        fn never_panics(text in "\\PC{0,20}") {
            let _ = parse_bytes(&text);
            let _ = parse_duration(&text);
        }
    }
}
