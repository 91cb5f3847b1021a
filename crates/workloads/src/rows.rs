//! Rows of the data by which workloads describe themselves: parameters and metrics, each in a line.

use assay_model::{Better, Kind, MetricSpec, ParamSpec, ParamType, Scalar};

/// A parameter with a default.
pub(crate) fn param(
    name: &str,
    ty: ParamType,
    default: impl Into<Scalar>,
    help: &str,
) -> ParamSpec {
    ParamSpec { name: name.into(), ty, default: Some(default.into()), help: help.into() }
}

/// One of these words.
pub(crate) fn choice(of: &[&str]) -> ParamType {
    ParamType::Choice { of: of.iter().map(|&w| w.to_owned()).collect() }
}

/// A whole number from `min` to `max`.
pub(crate) fn int(min: i64, max: i64) -> ParamType {
    ParamType::Int { min, max }
}

/// A metric.
pub(crate) fn metric(name: &str, unit: &str, better: Better, kind: Kind, help: &str) -> MetricSpec {
    MetricSpec {
        name: name.into(),
        unit: unit.into(),
        better,
        kind,
        help: help.into(),
        merge: None,
    }
}
