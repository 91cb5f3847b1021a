//! Estimates the duration of a plan and its detectable difference from an earlier run of the same
//! experiment.

use std::time::Duration;

use assay_archive::{Archive, Search};
use assay_model::{Plan, TrialRecord};
use assay_stats::comparison::power::{detectable_paired, detectable_unpaired};

use crate::pairs::{counterpart, pairs};

/// Statistical power at which the detectable difference is given.
pub const POWER: f64 = 0.8;
/// Noise levels of single trials for which the detectable difference is given in any case.
pub const SAMPLE_NOISE: [f64; 3] = [0.01, 0.02, 0.05];

/// Expected duration, noise and detectable difference of a plan.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema, Default)]
pub struct Estimate {
    /// Number of blocks without warm-up.
    pub blocks: u32,
    /// Mean duration of one trial in seconds; `null` if unknown.
    pub trial_s: Option<f64>,
    /// Expected duration of the plan in seconds.
    pub total_s: Option<f64>,
    /// Standard deviation of the log ratio between treatments within a block, or for one treatment
    /// the standard deviation of the logs of its trials; `null` if unknown.
    pub noise: Option<f64>,
    /// Smallest ratio above 1 whose interval excludes 1 in 80 of 100 repeats, at that noise. For
    /// one treatment, the ratio to another run with as many trials.
    pub detectable: Option<f64>,
    /// The same for single trials with a noise of 1 %, 2 % and 5 % (standard deviation of their
    /// logs) that share nothing within a block: `[noise, detectable]`.
    pub detectable_at: Vec<(f64, Option<f64>)>,
    /// Source of the figures, as a sentence.
    pub basis: String,
}

impl Estimate {
    /// Returns the expected duration of the plan, if known.
    pub fn total(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.total_s?).ok()
    }
}

/// Estimates a plan. With an archive, uses the newest run of the same experiment and workload in
/// it.
pub fn estimate(archive: Option<&Archive>, name: &str, plan: &Plan, confidence: f64) -> Estimate {
    let counted = plan.trials.iter().filter(|t| !t.warmup).count();
    let blocks = (counted / plan.treatments.len().max(1)) as u32;
    let alone = plan.treatments.len() <= 1;
    let seen = if alone { detectable_unpaired } else { detectable_paired };
    let detectable = |noise: f64| seen(noise, blocks as usize, confidence, POWER);
    // The difference of two independent trials varies more than one trial, by a factor of the
    // square root of 2.
    let of_trials = |noise: f64| if alone { noise } else { noise * std::f64::consts::SQRT_2 };
    let mut estimate = Estimate {
        blocks,
        detectable_at: SAMPLE_NOISE.map(|n| (n, detectable(of_trials(n)))).to_vec(),
        basis: "unknown: the archive has no earlier run of this experiment".into(),
        ..Estimate::default()
    };
    let Some((id, earlier, records)) = archive.and_then(|a| newest(a, name, plan)) else {
        return estimate;
    };
    let times: Vec<f64> = records
        .iter()
        .filter_map(|r| Some((r.end_ns.checked_sub(r.start_ns)?) as f64 * 1e-9))
        .collect();
    estimate.trial_s = assay_stats::summary::mean(&times);
    estimate.total_s = estimate.trial_s.map(|t| t * plan.trials.len() as f64);
    estimate.noise = noise(&earlier, &records);
    estimate.detectable = estimate.noise.and_then(detectable);
    estimate.basis = format!("estimated from run {id} ({} trials)", records.len());
    estimate
}

fn newest(archive: &Archive, name: &str, plan: &Plan) -> Option<(String, Plan, Vec<TrialRecord>)> {
    let filter = Search {
        experiment: Some(name.to_owned()),
        workload: Some(plan.workload.name.clone()),
        limit: Some(5),
        ..Search::default()
    };
    archive.list(&filter).ok()?.into_iter().find_map(|run| {
        let reader = archive.run(&run.id).ok()?;
        let records = reader.records().ok()?;
        let done: Vec<TrialRecord> = records.into_iter().filter(TrialRecord::counts).collect();
        if done.is_empty() {
            return None;
        }
        Some((run.id.to_string(), reader.plan().ok()?, done))
    })
}

/// Returns the largest standard deviation of the log ratios to the baseline; for one treatment that
/// of the logs of its values.
fn noise(plan: &Plan, records: &[TrialRecord]) -> Option<f64> {
    let sd = |logs: &[f64]| assay_stats::summary::variance(logs).map(f64::sqrt);
    let others: Vec<(u32, u32)> =
        plan.treatments.iter().filter_map(|t| Some((counterpart(plan, t)?, t.id))).collect();
    if others.is_empty() {
        let values = crate::pairs::values(records, plan.baseline, &plan.metric);
        let logs: Vec<f64> =
            values.into_iter().flatten().map(f64::ln).filter(|l| l.is_finite()).collect();
        return sd(&logs);
    }
    others
        .iter()
        .filter_map(|(baseline, id)| {
            let (base, other) = pairs(records, *baseline, *id, &plan.metric);
            let logs: Vec<f64> = base
                .iter()
                .zip(&other)
                .filter_map(|(a, b)| Some(((*b)? / (*a)?).ln()))
                .filter(|l| l.is_finite())
                .collect();
            sd(&logs)
        })
        .reduce(f64::max)
}
