//! One line about a run, from its files.

use std::collections::BTreeMap;

use assay_model::{LedgerEvent, Outcome, RunSummary};

use crate::Result;
use crate::reader::RunReader;

/// Sums a run up. Counts are of the latest attempt at each trial that has a record; a trial that was
/// cut off without one is counted nowhere.
pub(crate) fn of(run: &RunReader) -> Result<RunSummary> {
    let plan = run.plan()?;
    let mut outcomes: BTreeMap<u32, (u32, Outcome)> = BTreeMap::new();
    for entry in run.ledger() {
        if let LedgerEvent::TrialEnded { number, attempt, outcome, .. } = entry.event {
            let latest = outcomes.entry(number).or_insert((attempt, outcome));
            if attempt >= latest.0 {
                *latest = (attempt, outcome);
            }
        }
    }
    let completed = outcomes.values().filter(|(_, o)| *o == Outcome::Completed).count() as u32;
    let of_baseline = plan.trials.iter().filter(|t| t.treatment == plan.baseline && !t.warmup);
    let mut values = Vec::new();
    let mut unit = plan.workload.metric(&plan.metric).map(|m| m.unit.clone());
    for trial in of_baseline {
        let Some((attempt, Outcome::Completed)) = outcomes.get(&trial.number) else { continue };
        let record = run.record(trial.number, *attempt)?;
        values.extend(record.metric(&plan.metric));
        if unit.is_none() {
            unit = record.metrics.iter().find(|m| m.name == plan.metric).map(|m| m.unit.clone());
        }
    }
    let identity = run.identity();
    Ok(RunSummary {
        id: identity.id.clone(),
        experiment: identity.experiment.clone(),
        workload: identity.workload.clone(),
        tags: identity.tags.clone(),
        host: identity.host.clone(),
        started_at: identity.started_at.clone(),
        state: run.state(),
        treatments: plan.treatments.len() as u32,
        completed,
        failed: outcomes.len() as u32 - completed,
        planned: plan.trials.len() as u32,
        metric: plan.metric.clone(),
        unit: unit.unwrap_or_default(),
        value: geometric_mean(&values),
    })
}

/// exp of the mean of the logs; `None` without values, or when one is not positive.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !(v.is_finite() && *v > 0.0)) {
        return None;
    }
    Some((values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::geometric_mean;

    #[test]
    fn a_mean_of_nothing_is_nothing() {
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
    }
}
