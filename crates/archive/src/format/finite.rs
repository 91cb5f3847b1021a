//! Checks that JSON can represent every number of a record.

use assay_model::TrialRecord;

/// Returns the name of the first value of a record that is not finite, or `None` if all are. JSON
/// would store such a number as null, and a point or a time could then not be read back.
pub(crate) fn first_not_finite(record: &TrialRecord) -> Option<String> {
    let bad = |v: &f64| !v.is_finite();
    if record.resources.is_some_and(|r| [r.wall_s, r.user_s, r.system_s].iter().any(bad)) {
        return Some("use of resources".to_owned());
    }
    let metric = record.metrics.iter().find(|m| m.value.as_ref().is_some_and(bad));
    if let Some(metric) = metric {
        return Some(format!("metric `{}`", metric.name));
    }
    let curve = record.curves.iter().find(|c| c.points.iter().flatten().any(bad));
    curve.map(|curve| format!("curve `{}`", curve.name))
}
