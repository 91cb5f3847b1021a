//! The A/A floor: by how much identical treatments differ on this machine.

use assay_model::{Experiment, FactorLevels, Plan, Scalar, TrialRecord};
use assay_stats::aa::floor;

use crate::pairs::pairs;
use crate::{LabError, read_experiment};

/// How many blocks one comparison of the A/A run has.
pub const BLOCKS_EACH: u32 = 10;

/// What an A/A run found.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AaFloor {
    /// How many comparisons of identical treatments were made.
    pub comparisons: u32,
    /// How many blocks each had.
    pub blocks_each: u32,
    /// The 95th percentile of the ratios (the larger by the smaller), minus 1; `null` when too few
    /// comparisons came out.
    pub floor: Option<f64>,
    /// The largest ratio, minus 1.
    pub worst: Option<f64>,
}

/// The experiment of an A/A run: one command of about 20 ms of CPU time, compared with itself.
///
/// # Errors
/// Never for the built-in text; the type says what reading an experiment can say.
pub fn aa_experiment(comparisons: u32) -> Result<Experiment, LabError> {
    let text = r#"
name = "aa-floor"
title = "By how much do identical treatments differ on this machine?"
workload = "command"
tags = ["aa"]
[params]
command = "sh -c 'i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done'"
[observe]
monitors = []
"#;
    let mut experiment = read_experiment("the A/A experiment", text)?;
    // The arms differ in the value of a variable that nothing reads, of equal length.
    let arms = vec![Scalar::from("a"), Scalar::from("b")];
    experiment.factors.insert("controls.env.ASSAY_ARM".into(), FactorLevels::List(arms));
    // What is too much is refused with the plan.
    let blocks = comparisons.saturating_mul(BLOCKS_EACH);
    experiment.design.blocks = Some(blocks);
    experiment.design.max_trials = blocks.saturating_mul(2);
    Ok(experiment)
}

/// Reads the floor out of the records of an A/A run: blocks are grouped in the order of time, and
/// each group is one comparison.
pub fn aa_floor(plan: &Plan, records: &[TrialRecord]) -> AaFloor {
    let other = plan.treatments.iter().map(|t| t.id).find(|id| *id != plan.baseline);
    let (base, arm) = pairs(records, plan.baseline, other.unwrap_or(plan.baseline), &plan.metric);
    let logs: Vec<f64> = base
        .iter()
        .zip(&arm)
        .filter_map(|(a, b)| Some(((*b)? / (*a)?).ln()))
        .filter(|log| log.is_finite())
        .collect();
    let each = BLOCKS_EACH as usize;
    let ratios: Vec<f64> = logs
        .chunks_exact(each)
        .map(|group| (group.iter().sum::<f64>() / each as f64).exp())
        .collect();
    let worst = ratios
        .iter()
        .map(|r| r.ln().abs())
        .fold(None, |m: Option<f64>, l| Some(m.map_or(l, |m| m.max(l))));
    AaFloor {
        comparisons: ratios.len() as u32,
        blocks_each: BLOCKS_EACH,
        floor: floor(&ratios).map(|f| f.ratio - 1.0),
        worst: worst.map(|w| w.exp() - 1.0),
    }
}
