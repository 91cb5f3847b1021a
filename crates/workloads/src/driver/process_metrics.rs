//! Metrics of every program: the resources that the kernel accounted to it.

use assay_model::{MetricSpec, MetricValue, ResourceUse};

use crate::declare::metrics;

/// Returns the specifications of the metrics; the first, `elapsed`, is the primary one.
pub(crate) fn specs() -> Vec<MetricSpec> {
    metrics! {
        /// wall time from just before the start of the program to its end
        "elapsed", "s", Lower, Measured;
        /// CPU time in user mode, of the program and the children that it waited for
        "user", "s", Lower, Measured, summed;
        /// CPU time in the kernel, of the program and the children that it waited for
        "system", "s", Lower, Measured, summed;
        /// largest resident set size of any single process of the program
        "peak_memory", "B", Lower, Measured, counted;
    }
}

/// Returns the value of a metric in its unit, or `None` if there is no such metric or its value is
/// unavailable.
pub(crate) fn value(name: &str, resources: &ResourceUse) -> Option<f64> {
    match name {
        "elapsed" => Some(resources.wall_s),
        "user" => Some(resources.user_s),
        "system" => Some(resources.system_s),
        "peak_memory" => resources.peak_memory_bytes.map(|b| b as f64),
        _ => None,
    }
}

/// Returns the values of all metrics.
pub(crate) fn values(resources: &ResourceUse) -> Vec<MetricValue> {
    let value = |row: MetricSpec| MetricValue {
        counted: row.counted,
        value: value(&row.name, resources),
        ..MetricValue::new(row.name, None, row.unit, row.better, row.kind)
    };
    specs().into_iter().map(value).collect()
}
