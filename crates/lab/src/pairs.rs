//! Takes the values of a metric out of records, by treatment and by block.

use std::collections::BTreeMap;

use assay_model::TrialRecord;

/// The values of one treatment in the order of measuring; `None` where a trial has none.
pub(crate) fn values(records: &[TrialRecord], treatment: u32, metric: &str) -> Vec<Option<f64>> {
    records
        .iter()
        .filter(|r| r.treatment == treatment && r.counts())
        .map(|r| r.metric(metric))
        .collect()
}

/// Baseline and treatment paired by block: only blocks in which both have a trial that counts.
pub(crate) fn pairs(
    records: &[TrialRecord],
    baseline: u32,
    treatment: u32,
    metric: &str,
) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let of = |id: u32| -> BTreeMap<u32, Option<f64>> {
        records
            .iter()
            .filter(|r| r.treatment == id && r.counts())
            .map(|r| (r.block, r.metric(metric)))
            .collect()
    };
    let base = of(baseline);
    let other = of(treatment);
    base.iter().filter_map(|(block, a)| other.get(block).map(|b| (*a, *b))).unzip()
}
