//! Converts units of other programs to assay's base units: seconds, bytes, per second.

use assay_model::{Better, MetricKind, MetricSpec};

/// Returns the length of a unit of time in seconds; `None` if the unit is unknown.
pub(in crate::readers) fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-12,
        "ns" | "nsec" | "nanoseconds" => 1e-9,
        // The micro sign and the Greek letter, which look alike.
        "us" | "µs" | "μs" | "usec" | "microseconds" => 1e-6,
        "ms" | "msec" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    })
}

/// Returns a value in another unit. Dividing by a power of ten is exact where multiplying by its
/// inverse is not: 3161 ns are 3.161e-6 s.
pub(in crate::readers) fn scaled(value: f64, factor: f64) -> f64 {
    if factor < 1.0 { value / (1.0 / factor).round() } else { value * factor }
}

/// Converts a value to assay's unit: `12 ns/op` becomes 1.2e-8 s, `3 ops/ms` becomes `3000 ops/s`.
/// An unknown unit is kept.
pub(in crate::readers) fn base(value: f64, unit: &str) -> (f64, String) {
    let unit = unit.trim();
    if let Some((above, below)) = unit.split_once('/') {
        if let Some(factor) = seconds(below) {
            return (value / factor, format!("{above}/s"));
        }
        if let Some(factor) = seconds(above).filter(|_| below == "op") {
            return (scaled(value, factor), "s".to_owned());
        }
    }
    match seconds(unit) {
        Some(factor) => (scaled(value, factor), "s".to_owned()),
        None => (value, unit.to_owned()),
    }
}

/// Returns the factor of a unit and its base unit: `us/iter` is 1e-6 `s/iter`, `MB/s` is 1e6 `B/s`.
/// Units with the same base measure the same quantity.
pub(in crate::readers) fn multiple(unit: &str) -> (f64, String) {
    let (above, below) =
        unit.trim().split_once('/').map_or((unit.trim(), None), |(a, b)| (a, Some(b)));
    let size = |unit: &str| assay_model::units::parse_bytes(&format!("1 {unit}")).ok();
    let known = |unit: &str| match (seconds(unit), size(unit)) {
        (Some(factor), _) => (factor, "s".to_owned()),
        (_, Some(bytes)) if !unit.is_empty() => (bytes as f64, "B".to_owned()),
        _ => (1.0, unit.to_owned()),
    };
    let (factor, base) = known(above);
    match below.map(known) {
        None => (factor, base),
        Some((by, below)) => (factor / by, format!("{base}/{below}")),
    }
}

/// Returns the factor of a unit of time, size or rate and its base unit; `None` for other words.
pub fn base_unit(unit: &str) -> Option<(f64, String)> {
    let (factor, base) = multiple(unit);
    let known = matches!(base.split('/').next(), Some("s" | "B")) && !unit.is_empty();
    (known || base.ends_with("/s")).then_some((factor, base))
}

/// Makes the specification of a metric that a tool measured.
pub(in crate::readers) fn metric(name: &str, unit: &str, better: Better, help: &str) -> MetricSpec {
    MetricSpec {
        name: name.to_owned(),
        unit: unit.to_owned(),
        better,
        kind: MetricKind::Measured,
        help: help.to_owned(),
        merge: None,
        counted: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_quantity_have_one_base() {
        for (a, b, ratio) in [
            ("ns/iter", "us/iter", 1e-3),
            ("ms", "µs", 1e3),
            ("MB/s", "kB/sec", 1e3),
            ("MiB/s", "B/min", 1_048_576.0 * 60.0),
            ("counts", "counts", 1.0),
            ("", "", 1.0),
        ] {
            let ((a_factor, a_base), (b_factor, b_base)) = (multiple(a), multiple(b));
            assert_eq!(a_base, b_base, "{a} {b}");
            assert!((a_factor / b_factor / ratio - 1.0).abs() < 1e-12, "{a} {b}");
        }
        for (a, b) in [("ns/iter", "ns/op"), ("ops/s", "s/op"), ("B", "s"), ("counts", "count")] {
            assert_ne!(multiple(a).1, multiple(b).1);
        }
    }

    #[test]
    fn times_and_rates() {
        let near = |unit: &str, factor: f64, base_unit: &str| {
            let (value, unit) = base(3.0, unit);
            assert!((value / (3.0 * factor) - 1.0).abs() < 1e-12, "{value} {unit}");
            assert_eq!(unit, base_unit);
        };
        near("ns", 1e-9, "s");
        near("us", 1e-6, "s");
        near("ms", 1e-3, "s");
        near("s", 1.0, "s");
        near("ns/op", 1e-9, "s");
        near("ops/ms", 1e3, "ops/s");
        near("ops/ns", 1e9, "ops/s");
        near("ops/min", 1.0 / 60.0, "ops/s");
        near("B/op", 1.0, "B/op");
        near("MB/sec", 1.0, "MB/s");
        near("counts", 1.0, "counts");
    }
}
