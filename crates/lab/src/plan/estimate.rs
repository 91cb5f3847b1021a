//! What a plan will cost and what it can see, judged by an earlier run of the same experiment.

use std::time::Duration;

use assay_archive::{Archive, Filter};
use assay_model::{Plan, TrialRecord};
use assay_stats::power::{detectable_paired, detectable_unpaired};

use crate::analyse::pairs::{counterpart, pairs};

/// The power at which the detectable effect is given.
pub const POWER: f64 = 0.8;
/// The noise of single trials for which the detectable effect is given when none is known.
pub const SAMPLE_NOISE: [f64; 3] = [0.01, 0.02, 0.05];

/// What is expected of a plan.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// How many blocks count.
    pub blocks: u32,
    /// How long one trial takes on average, seconds; `null` when nothing is known.
    pub trial_s: Option<f64>,
    /// How long the plan takes, seconds.
    pub total_s: Option<f64>,
    /// The standard deviation of the log ratio between treatments within a block, or with one treatment
    /// that of the logs of its trials; `null` when unknown.
    pub noise: Option<f64>,
    /// The smallest ratio above 1 whose interval excludes 1 in 80 of 100 repeats, at that noise. With
    /// one treatment it is compared with another run of as many trials.
    pub detectable: Option<f64>,
    /// The same where single trials have a noise of 1 %, 2 % and 5 % (the standard deviation of their
    /// logs) and share nothing within a block: `[noise, detectable]`.
    pub detectable_at: Vec<(f64, Option<f64>)>,
    /// Where the figures come from, as a sentence.
    pub basis: String,
}

impl Estimate {
    /// How long the plan takes, if that is known.
    pub fn total(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.total_s?).ok()
    }
}

/// Judges a plan. With an archive, by the newest run of the same experiment and workload in it.
pub fn estimate(archive: Option<&Archive>, name: &str, plan: &Plan, confidence: f64) -> Estimate {
    let counted = plan.trials.iter().filter(|t| !t.warmup).count();
    let blocks = (counted / plan.treatments.len().max(1)) as u32;
    let alone = plan.treatments.len() <= 1;
    let seen = if alone { detectable_unpaired } else { detectable_paired };
    let detectable = |noise: f64| seen(noise, blocks as usize, confidence, POWER);
    // Two independent trials differ by the root of 2 more than one varies.
    let of_trials = |noise: f64| if alone { noise } else { noise * std::f64::consts::SQRT_2 };
    let mut estimate = Estimate {
        blocks,
        trial_s: None,
        total_s: None,
        noise: None,
        detectable: None,
        detectable_at: SAMPLE_NOISE.map(|n| (n, detectable(of_trials(n)))).to_vec(),
        basis: "unknown: the archive has no earlier run of this experiment".into(),
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
    estimate.basis = format!("judged by run {id} ({} trials)", records.len());
    estimate
}

fn newest(archive: &Archive, name: &str, plan: &Plan) -> Option<(String, Plan, Vec<TrialRecord>)> {
    let filter = Filter {
        experiment: Some(name.to_owned()),
        workload: Some(plan.workload.name.clone()),
        limit: Some(5),
        ..Filter::default()
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

/// The largest standard deviation of the log ratios to the baseline; with one treatment, that of the
/// logs of its values.
fn noise(plan: &Plan, records: &[TrialRecord]) -> Option<f64> {
    let sd = |logs: &[f64]| assay_stats::summary::variance(logs).map(f64::sqrt);
    let others: Vec<(u32, u32)> =
        plan.treatments.iter().filter_map(|t| Some((counterpart(plan, t)?, t.id))).collect();
    if others.is_empty() {
        let values = crate::analyse::pairs::values(records, plan.baseline, &plan.metric);
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
