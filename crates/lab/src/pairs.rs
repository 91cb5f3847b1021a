//! Extracts the values of a metric from records, by treatment and by block.

use std::collections::{BTreeMap, HashMap};

use assay_model::{MetricValue, Plan, Treatment, TrialRecord};
use assay_stats::summary::{logs, mean};

/// Returns the values of one treatment in the order of measurement; `None` if a trial lacks the
/// metric.
pub(crate) fn values(records: &[TrialRecord], treatment: u32, metric: &str) -> Vec<Option<f64>> {
    let of = records.iter().filter(|r| r.treatment == treatment && r.counts());
    of.map(|r| r.metric(metric)).collect()
}

/// Metrics of records by name, so that a suite of thousands of benchmarks is not searched for each
/// of them.
pub(crate) struct MetricIndex<'a> {
    records: &'a [TrialRecord],
    /// Positions of the record and of the metric in it, in the order of the records.
    at: HashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> MetricIndex<'a> {
    pub(crate) fn new(records: &'a [TrialRecord]) -> Self {
        let mut at: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (r, record) in records.iter().enumerate() {
            for (m, metric) in record.metrics.iter().enumerate() {
                let all = at.entry(metric.name.as_str()).or_default();
                // Of equal names the first counts.
                if all.last().is_none_or(|(last, _)| *last != r) {
                    all.push((r, m));
                }
            }
        }
        MetricIndex { records, at }
    }

    pub(crate) fn records(&self) -> &'a [TrialRecord] {
        self.records
    }

    fn value(&self, record: usize, metric: &str) -> Option<f64> {
        let all = self.at.get(metric).map_or(&[][..], Vec::as_slice);
        match all.binary_search_by_key(&record, |(r, _)| *r) {
            Ok(at) => self.records[record].metrics[all[at].1].value,
            // An older record has the metric under its former name.
            Err(_) => self.records[record].metric(metric),
        }
    }

    /// Returns the values that the trials of a treatment have of a metric.
    pub(crate) fn metrics(&self, treatment: u32, metric: &str) -> Vec<&'a MetricValue> {
        let of = self.at.get(metric).into_iter().flatten().map(|(r, m)| (&self.records[*r], *m));
        let counted = of.filter(|(r, _)| r.treatment == treatment && r.counts());
        counted.map(|(r, m)| &r.metrics[m]).collect()
    }

    /// Returns what [`values`] does.
    pub(crate) fn values(&self, treatment: u32, metric: &str) -> Vec<Option<f64>> {
        let of = self.records.iter().enumerate();
        let of = of.filter(|(_, r)| r.treatment == treatment && r.counts());
        of.map(|(i, _)| self.value(i, metric)).collect()
    }

    /// Returns what [`pairs`] does.
    pub(crate) fn pairs(&self, baseline: u32, treatment: u32, metric: &str) -> PairedValues {
        paired(self.records, baseline, treatment, |i, _| self.value(i, metric))
    }
}

/// Values of baseline and treatment of the same blocks.
type PairedValues = (Vec<Option<f64>>, Vec<Option<f64>>);

/// Pairs the values of baseline and treatment by block, using only blocks in which both have a
/// trial that counts. If each revision was built several times, or hosts are replicates, pairs them
/// by build or host, with the geometric mean of its trials.
pub(crate) fn pairs(
    records: &[TrialRecord],
    baseline: u32,
    treatment: u32,
    metric: &str,
) -> PairedValues {
    paired(records, baseline, treatment, |_, record| record.metric(metric))
}

fn paired(
    records: &[TrialRecord],
    baseline: u32,
    treatment: u32,
    value: impl Fn(usize, &TrialRecord) -> Option<f64>,
) -> PairedValues {
    let of = |id: u32| -> BTreeMap<(Option<&str>, u32), Option<f64>> {
        let mut units: BTreeMap<(Option<&str>, u32), Vec<Option<f64>>> = BTreeMap::new();
        for (i, r) in records.iter().enumerate().filter(|(_, r)| r.treatment == id && r.counts()) {
            let unit = match r.host.as_deref() {
                Some(host) => (Some(host), 0),
                None => (None, r.build.unwrap_or(r.block)),
            };
            units.entry(unit).or_default().push(value(i, r));
        }
        units.into_iter().map(|(unit, values)| (unit, of_unit(&values))).collect()
    };
    let base = of(baseline);
    let other = of(treatment);
    base.iter().filter_map(|(block, a)| other.get(block).map(|b| (*a, *b))).unzip()
}

/// Summarizes the trials of one block, build or host: the geometric mean, or the arithmetic mean if
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
