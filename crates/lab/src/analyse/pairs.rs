//! Extracts the values of a metric from records, by treatment and by block.

use std::collections::BTreeMap;

use assay_model::{Plan, Treatment, TrialRecord};
use assay_stats::summary::{logs, mean};

/// Returns the values of one treatment in the order of measurement; `None` if a trial lacks the
/// metric.
pub(crate) fn values(records: &[TrialRecord], treatment: u32, metric: &str) -> Vec<Option<f64>> {
    records
        .iter()
        .filter(|r| r.treatment == treatment && r.counts())
        .map(|r| r.metric(metric))
        .collect()
}

/// Pairs the values of baseline and treatment by block, using only blocks in which both have a
/// trial that counts. If each revision was built several times, pairs them by build, with the
/// geometric mean of a build's trials.
pub(crate) fn pairs(
    records: &[TrialRecord],
    baseline: u32,
    treatment: u32,
    metric: &str,
) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let of = |id: u32| -> BTreeMap<u32, Option<f64>> {
        let mut units: BTreeMap<u32, Vec<Option<f64>>> = BTreeMap::new();
        for r in records.iter().filter(|r| r.treatment == id && r.counts()) {
            units.entry(r.build.unwrap_or(r.block)).or_default().push(r.metric(metric));
        }
        units.into_iter().map(|(unit, values)| (unit, of_unit(&values))).collect()
    };
    let base = of(baseline);
    let other = of(treatment);
    base.iter().filter_map(|(block, a)| other.get(block).map(|b| (*a, *b))).unzip()
}

/// Summarizes the trials of one block or one build: the geometric mean, or the arithmetic mean if
/// one value is not positive.
fn of_unit(values: &[Option<f64>]) -> Option<f64> {
    if let [only] = values {
        return *only;
    }
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    match logs(&known) {
        Some(logs) => mean(&logs).map(f64::exp),
        None => mean(&known),
    }
}

/// Returns true if the plan never has the two treatments in the same block (`design.group_by`), so
/// that they cannot be paired.
pub(crate) fn apart(plan: &Plan, baseline: u32, treatment: u32) -> bool {
    let blocks = |id: u32| plan.trials.iter().filter(move |t| t.treatment == id).map(|t| t.block);
    !blocks(baseline).any(|a| blocks(treatment).any(|b| a == b))
}

/// Returns the treatment that `treatment` is compared with: the plan's baseline. In a suite, where
/// treatments run different members, it is the one that runs the same member at the baseline's
/// other levels. `None` if the treatment is itself a baseline or if no treatment does the same
/// work.
pub(crate) fn counterpart(plan: &Plan, treatment: &Treatment) -> Option<u32> {
    let Some(suite) = &plan.workload.suite else {
        return (treatment.id != plan.baseline).then_some(plan.baseline);
    };
    let baseline = plan.treatment(plan.baseline)?;
    let wanted = |t: &&Treatment| {
        t.params.get(&suite.member) == treatment.params.get(&suite.member)
            && t.levels.iter().all(|(k, v)| *k == suite.member || baseline.levels.get(k) == Some(v))
    };
    plan.treatments.iter().find(wanted).map(|t| t.id).filter(|id| *id != treatment.id)
}
