//! Formats numbers for sentences. Each is rounded once, from the raw value.

use assay_model::{Interval, units};

use crate::post::exact;

/// Formats a percentage: whole percents, with more decimals for a small one, so that no difference
/// is shown as 0.
pub(super) fn percent(fraction: f64, decimals: Option<usize>) -> String {
    let value = fraction.abs() * 100.0;
    let digits = decimals
        .unwrap_or_else(|| (0..4).find(|d| value >= 0.5 / 10f64.powi(*d as i32)).unwrap_or(4));
    let text = format!("{value:.digits$}%");
    let nothing = !text.contains(|c: char| ('1'..='9').contains(&c));
    if fraction < 0.0 && !nothing { format!("-{text}") } else { text }
}

/// Formats a ratio: one decimal, two near 1, none from 10 on.
pub(super) fn ratio(value: f64, decimals: Option<usize>) -> String {
    let digits = decimals.unwrap_or(match value {
        v if v >= 9.95 => 0,
        v if (v - 1.0).abs() < 0.095 || v < 0.095 => 2,
        _ => 1,
    });
    format!("{value:.digits$}")
}

/// Formats an interval of fractions: `[95 % CI 3.1%, 7.4%]`.
pub(super) fn percents(interval: Interval, decimals: usize) -> String {
    let end = |x: f64| percent(x, Some(decimals));
    units::interval(&end(interval.low), &end(interval.high), Some(interval.level))
}

/// Returns the number of decimals of a percentage with this interval.
pub(super) fn percent_decimals(interval: Interval) -> usize {
    let width = (interval.high - interval.low) * 100.0;
    if !(width.is_finite() && width > 0.0) {
        return 1;
    }
    (1.0 - width.log10().floor()).clamp(0.0, 3.0) as usize
}

/// Formats a number with `decimals` or, without them, with four significant digits, but never fewer
/// than its whole part has.
pub(super) fn plain(value: f64, decimals: Option<usize>) -> String {
    match decimals {
        Some(digits) => format!("{value:.digits$}"),
        None if value.abs() >= 1000.0 || value.fract() == 0.0 => format!("{:.0}", value.round()),
        None => units::significant(value, 4),
    }
}

/// Formats an ordinal number: `1st`, `2nd`, `13th`.
pub(super) fn ordinal(n: usize) -> String {
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

/// Formats a number with its unit; a bare score and a plain ratio have none.
pub(super) fn with_unit(number: &str, unit: &str) -> String {
    if matches!(unit, "" | "1" | "score") { number.to_owned() } else { format!("{number} {unit}") }
}

/// Returns the factors that convert a value in `from` to one in `to`: multiply by the first, divide
/// by the second. `to` may be `from` with an SI prefix, even if the unit is a benchmark's own.
pub(super) fn factors(from: &str, to: &str) -> Option<[f64; 2]> {
    let si: [(&str, [f64; 2]); 7] = [
        ("k", [1.0, 1e3]),
        ("M", [1.0, 1e6]),
        ("G", [1.0, 1e9]),
        ("T", [1.0, 1e12]),
        ("m", [1e3, 1.0]),
        ("µ", [1e6, 1.0]),
        ("n", [1e9, 1.0]),
    ];
    exact::factors(from, to)
        .or_else(|| si.into_iter().find(|(p, _)| to.strip_prefix(p) == Some(from)).map(|x| x.1))
}

/// Returns true for a unit of time.
pub(super) fn is_time(unit: &str) -> bool {
    assay_claims::unit::parse(unit).dimension == "s"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_once_and_never_to_nothing() {
        assert_eq!(
            [percent(0.0493, None), percent(0.0032, None), percent(1.204, None)],
            ["5%", "0.3%", "120%"]
        );
        assert_eq!([percent(0.5, Some(1)), percent(-0.05, None)], ["50.0%", "-5%"]);
        assert_eq!([percent(-0.001, Some(0)), percent(-0.001, Some(1))], ["0%", "-0.1%"]);
        assert_eq!(
            [ratio(2.648, None), ratio(1.049, None), ratio(13.4, None)],
            ["2.6", "1.05", "13"]
        );
        assert_eq!(
            [plain(422_782.4, None), plain(483.18, None), plain(16.0, None)],
            ["422782", "483.2", "16"]
        );
        assert_eq!(
            [ordinal(1), ordinal(2), ordinal(11), ordinal(23)],
            ["1st", "2nd", "11th", "23rd"]
        );
    }

    #[test]
    fn units_of_one_kind_are_converted() {
        assert_eq!(factors("ops/s", "kops/s"), Some([1.0, 1e3]));
        assert_eq!(factors("B/s", "MiB/s"), Some([1.0, 1_048_576.0]));
        assert_eq!(factors("s", "min"), Some([1.0, 60.0]));
        assert_eq!(factors("bops", "kbops"), Some([1.0, 1e3]));
        assert_eq!(factors("bops", "s"), None);
        assert!(is_time("min") && is_time("s") && !is_time("bops"));
    }
}
