//! Rows of the data by which workloads describe themselves: metrics, each in a line.

use assay_model::{Better, Kind, MetricSpec};

/// A metric.
pub(crate) fn metric(name: &str, unit: &str, better: Better, kind: Kind, help: &str) -> MetricSpec {
    MetricSpec {
        name: name.into(),
        unit: unit.into(),
        better,
        kind,
        help: help.into(),
        merge: None,
        counted: false,
    }
}
