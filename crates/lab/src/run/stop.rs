//! Stopping rules of a run: after a fixed number of blocks, after as many short blocks as fill a
//! second, or at a look at the results that finds the answer clear.

use assay_model::{Design, Experiment, Plan, Stop, TrialRecord};
use assay_stats::comparison::sequential::{self, LookInput, StopDecision};

use crate::pairs::{counterpart, pairs};
use crate::plan::margin;
use crate::plan::schedule::{DEFAULT_BLOCKS, MAX_TRIALS};

/// Measured time in seconds per treatment that an open number of blocks fills.
const FILL_S: f64 = 1.0;
/// Upper limit of an open number of blocks.
const MAX_OPEN_BLOCKS: u32 = 1000;

/// Stopping rule of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopRule {
    /// Stop after this number of blocks.
    Fixed(u32),
    /// Fix the number of blocks after the first counted block, from its duration.
    Open,
    /// Look at the results after fixed numbers of blocks.
    Looks,
}

/// Returns the stopping rule of this experiment as a sentence.
pub fn stop_rule(experiment: &Experiment) -> String {
    StopRule::from_experiment(experiment).sentence(experiment)
}

impl StopRule {
    pub fn from_experiment(experiment: &Experiment) -> Self {
        match (experiment.design.stop, experiment.design.blocks) {
            (Stop::Clear, _) => StopRule::Looks,
            (Stop::Fixed, Some(blocks)) => StopRule::Fixed(blocks),
            (Stop::Fixed, None) => StopRule::Open,
        }
    }

    /// Formats the rule as a sentence for the ledger and the page.
    pub fn sentence(self, experiment: &Experiment) -> String {
        let design = &experiment.design;
        let caps = format!(
            "; no trial starts after {}, and there are at most {} trials",
            design.max_time, design.max_trials
        );
        let rule = match self {
            StopRule::Fixed(blocks) => format!("stop after {blocks} blocks"),
            StopRule::Open => format!(
                "stop after as many blocks as fill {FILL_S} s per treatment, judged by the time \
                (not the result) of the first block, at least {DEFAULT_BLOCKS} and at most \
                {MAX_OPEN_BLOCKS}"
            ),
            StopRule::Looks => format!(
                "stop at the first of the looks at {:?} blocks at which every comparison is clear \
                at the nominal alpha of {} (Pocock)",
                sequential::LOOKS,
                sequential::NOMINAL_ALPHA
            ),
        };
        format!("{rule}{caps}")
    }
}

/// Returns the number of blocks that fill the time, from the mean duration of one trial.
pub(crate) fn open_blocks(mean_trial_s: f64, treatments: usize, design: &Design) -> u32 {
    let wanted = (FILL_S / mean_trial_s.max(1e-6)).ceil().min(f64::from(MAX_OPEN_BLOCKS)) as u32;
    let trials = design.max_trials.min(MAX_TRIALS);
    let each = trials / u32::try_from(treatments).unwrap_or(u32::MAX).max(1);
    let most = each.saturating_sub(design.all_warmup_blocks()).max(1);
    wanted.clamp(DEFAULT_BLOCKS, MAX_OPEN_BLOCKS).min(most)
}

/// Looks at the results if `blocks` is one of the planned looks. Returns `Some((stop, decision))`.
pub(crate) fn look(
    experiment: &Experiment,
    plan: &Plan,
    records: &[TrialRecord],
    blocks: u32,
) -> Option<(bool, String)> {
    if !sequential::LOOKS.contains(&(blocks as usize)) {
        return None;
    }
    let own = experiment.compare.rule(&plan.metric).and_then(|rule| rule.better);
    let better = own.or_else(|| plan.workload.metric(&plan.metric).map(|m| m.better))?;
    let margin = margin(experiment, &plan.metric);
    let mut sentences = Vec::new();
    let mut all_clear = true;
    for treatment in &plan.treatments {
        let Some(baseline) = counterpart(plan, treatment) else { continue };
        let (base, other) = pairs(records, baseline, treatment.id, &plan.metric);
        let pairs: Vec<(Option<f64>, Option<f64>)> = base.into_iter().zip(other).collect();
        let gate = experiment.compare.gate;
        let sentence = match sequential::look(&LookInput { pairs: &pairs, better, margin, gate }) {
            StopDecision::Continue { sentence } => {
                all_clear = false;
                sentence
            }
            StopDecision::Stop { sentence, .. } => sentence,
        };
        sentences.push(format!("{}: {sentence}", treatment.label()));
    }
    if sentences.is_empty() {
        return Some((true, "there is nothing to compare".to_owned()));
    }
    Some((all_clear, sentences.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_blocks_fill_a_second() {
        let design =
            |max_trials, warmup_blocks| Design { max_trials, warmup_blocks, ..Design::default() };
        assert_eq!(open_blocks(0.02, 2, &design(10_000, 0)), 50);
        assert_eq!(open_blocks(60.0, 2, &design(10_000, 0)), 10);
        assert_eq!(open_blocks(0.000_5, 1, &design(10_000, 0)), 1000);
        assert_eq!(open_blocks(0.000_5, 4, &design(100, 0)), 25);
        assert_eq!(open_blocks(0.000_5, 4, &design(100, 5)), 20, "warm-up blocks are trials too");
        assert_eq!(open_blocks(0.0, 1, &design(3, 0)), 3);
        assert_eq!(open_blocks(0.0, 1000, &design(u32::MAX, 0)), 100);
    }
}
