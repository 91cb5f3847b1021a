//! Summarizes a run in one row, from its files.

use assay_model::{RunSummary, TrialOutcome, TrialRecord};
use assay_stats::means::geometric;

use crate::Result;
use crate::store::reader::RunReader;

/// Summarizes a run. Counts refer to the latest attempt of each trial that has a record; a trial
/// that was interrupted before it had one is not counted.
pub(crate) fn summarize(run: &RunReader, records: &[TrialRecord]) -> Result<RunSummary> {
    let plan = run.plan()?;
    let of_baseline: Vec<&TrialRecord> =
        records.iter().filter(|r| r.treatment == plan.baseline && r.counts()).collect();
    let values: Vec<f64> = of_baseline.iter().filter_map(|r| r.metric(&plan.metric)).collect();
    let reported = || {
        let mut metrics = of_baseline.iter().flat_map(|r| &r.metrics);
        metrics.find(|m| m.name == plan.metric).map(|m| m.unit.clone())
    };
    let unit = plan.workload.metric(&plan.metric).map(|m| m.unit.clone()).or_else(reported);
    let completed = records.iter().filter(|r| r.outcome == TrialOutcome::Completed).count() as u32;
    let identity = run.identity();
    Ok(RunSummary {
        id: identity.id.clone(),
        experiment: identity.experiment.clone(),
        workload: identity.workload.clone(),
        tags: identity.tags.clone(),
        added_tags: Vec::new(),
        note: String::new(),
        host: identity.host.clone(),
        started_at: identity.started_at.clone(),
        state: run.state(),
        treatments: plan.treatments.len() as u32,
        completed,
        failed: records.len() as u32 - completed,
        planned: plan.trials.len() as u32,
        metric: plan.metric.clone(),
        unit: unit.unwrap_or_default(),
        value: geometric(&values).filter(|_| !is_percentile(&of_baseline, &plan.metric)),
    })
}

/// True if the metric is a percentile of a histogram; a mean of percentiles over trials is
/// meaningless.
fn is_percentile(records: &[&TrialRecord], metric: &str) -> bool {
    let mut of_trials = records.iter().flat_map(|r| r.histograms.values());
    of_trials.any(|h| h.at.is_none() && h.percentiles.contains_key(metric))
}
