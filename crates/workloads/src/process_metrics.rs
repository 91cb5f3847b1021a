//! The metrics that every program has, whatever it does: what the kernel accounted to it.

use assay_model::{Better, Kind, Merge, MetricSpec, MetricValue, ResourceUse};

const ROWS: [(&str, &str, Option<Merge>, &str); 4] = [
    ("elapsed", "s", None, "wall time from just before the start of the program to its end"),
    (
        "user",
        "s",
        Some(Merge::Sum),
        "CPU time in user mode, of the program and the children that it waited for",
    ),
    (
        "system",
        "s",
        Some(Merge::Sum),
        "CPU time in the kernel, of the program and the children that it waited for",
    ),
    ("peak_memory", "B", None, "the largest resident set of any one of its processes"),
];

/// Memory is counted; the rest are times.
fn is_counted(unit: &str) -> bool {
    unit == "B"
}

/// The rows of the metrics; the first, `elapsed`, is the primary one.
pub(crate) fn specs() -> Vec<MetricSpec> {
    ROWS.iter()
        .map(|&(name, unit, merge, help)| MetricSpec {
            name: name.into(),
            unit: unit.into(),
            better: Better::Lower,
            kind: Kind::Measured,
            help: help.into(),
            merge,
            counted: is_counted(unit),
        })
        .collect()
}

/// The value of one of the rows, in its unit; `None` if it is not a row or could not be had.
pub(crate) fn value(name: &str, resources: &ResourceUse) -> Option<f64> {
    match name {
        "elapsed" => Some(resources.wall_s),
        "user" => Some(resources.user_s),
        "system" => Some(resources.system_s),
        "peak_memory" => resources.peak_memory_bytes.map(|b| b as f64),
        _ => None,
    }
}

/// The values of all rows.
pub(crate) fn values(resources: &ResourceUse) -> Vec<MetricValue> {
    ROWS.iter()
        .map(|&(name, unit, ..)| MetricValue {
            counted: is_counted(unit),
            ..MetricValue::new(name, value(name, resources), unit, Better::Lower, Kind::Measured)
        })
        .collect()
}
