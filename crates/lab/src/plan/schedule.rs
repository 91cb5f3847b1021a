//! Lays out trials in blocks. Each block holds one trial of every treatment, in its own order, so
//! that drift affects all treatments alike. If the design groups by a factor, each of its levels
//! has separate blocks, one level after the other.

use std::collections::HashMap;

use assay_model::{Design, Order, PlannedTrial, Stop, Treatment};
use assay_stats::comparison::sequential::LOOKS;
use assay_stats::rng::Rng;

use crate::error::{PlanError, wrong};

/// Number of blocks of an experiment that does not specify it.
pub const DEFAULT_BLOCKS: u32 = 10;
/// Limit on the trials of any plan, whatever `max_trials` says, because a plan is held in memory,
/// written and sent as a whole.
pub const MAX_TRIALS: u32 = 100_000;

/// Returns the number of counted blocks in a plan of this design.
pub(crate) fn blocks(design: &Design) -> u32 {
    match design.stop {
        Stop::Clear => LOOKS.last().map_or(DEFAULT_BLOCKS, |last| *last as u32),
        Stop::Fixed => design.blocks.unwrap_or(DEFAULT_BLOCKS),
    }
}

/// Computes the number of trials for `blocks` counted blocks without laying them out.
///
/// # Errors
/// `blocks` is 0, or there are more trials than the design or any plan may have.
pub(crate) fn count(design: &Design, treatments: usize, blocks: u32) -> Result<u32, PlanError> {
    if blocks == 0 {
        return Err(wrong(&["design", "blocks"], "0 blocks measure nothing", "use at least 1"));
    }
    let trials = (u128::from(design.all_warmup_blocks()) + u128::from(blocks)) * treatments as u128;
    if trials > u128::from(design.max_trials) && design.stop == Stop::Fixed {
        return Err(wrong(
            &["design", "max_trials"],
            format!("the plan has {trials} trials and max_trials is {}", design.max_trials),
            "raise max_trials, or take fewer blocks or levels",
        ));
    }
    match u32::try_from(trials) {
        Ok(trials) if trials <= MAX_TRIALS => Ok(trials),
        _ => Err(wrong(
            &["design"],
            format!("the plan has {trials} trials; no plan has more than {MAX_TRIALS}"),
            "take fewer blocks or levels, or make several experiments of it",
        )),
    }
}

/// Lays out the trials: the warm-up blocks and then `blocks` counted blocks, for each group. The
/// same seed gives the same order, and more blocks do not change the order of the first ones.
///
/// # Errors
/// The same as [`count`], before anything is laid out.
pub(crate) fn trials(
    design: &Design,
    treatments: &[Treatment],
    seed: u64,
    blocks: u32,
) -> Result<Vec<PlannedTrial>, PlanError> {
    let mut planned = Vec::with_capacity(count(design, treatments.len(), blocks)? as usize);
    let mut random = Rng::new(seed);
    let each = design.all_warmup_blocks() + blocks;
    for (group, treatments) in (0u32..).zip(groups(design.group_by.as_deref(), treatments)) {
        for block in 0..each {
            let mut order = treatments.clone();
            match design.order {
                Order::Random => random.shuffle(&mut order),
                Order::Abba if block % 2 == 1 => order.reverse(),
                Order::Abba | Order::Sequential | Order::Unknown => {}
            }
            for treatment in order {
                planned.push(PlannedTrial {
                    number: planned.len() as u32 + 1,
                    block: group * each + block,
                    treatment,
                    warmup: block < design.all_warmup_blocks(),
                    params: design.warmups.get(block as usize).cloned().unwrap_or_default(),
                    build: None,
                    host: None,
                });
            }
        }
    }
    Ok(planned)
}

/// Groups the ids of treatments by their level of this factor, in the order of the levels.
fn groups(factor: Option<&str>, treatments: &[Treatment]) -> Vec<Vec<u32>> {
    let mut places = HashMap::new();
    let mut found: Vec<Vec<u32>> = Vec::new();
    for treatment in treatments {
        let level = factor.and_then(|f| treatment.levels.get(f)).map(assay_model::Scalar::to_text);
        let place = *places.entry(level).or_insert(found.len());
        if place == found.len() {
            found.push(Vec::new());
        }
        found[place].push(treatment.id);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked_without_overflow_and_before_anything_is_laid_out() {
        let design = |blocks, warmup_blocks, max_trials, stop| Design {
            blocks: Some(blocks),
            warmup_blocks,
            max_trials,
            stop,
            ..Design::default()
        };
        let most = u32::MAX;
        let refused =
            |d: Design, treatments: usize| count(&d, treatments, blocks(&d)).unwrap_err().message;
        assert!(refused(design(most, 0, 10_000, Stop::Fixed), 2).contains("8589934590 trials"));
        assert!(refused(design(most, most, most, Stop::Fixed), 10_000).contains("85899345900000"));
        assert!(refused(design(1, most, most, Stop::Clear), 1).contains("no plan"));
        assert!(refused(design(42, 0, most, Stop::Clear), usize::MAX).contains("no plan"));
        assert!(refused(design(0, 0, 1, Stop::Fixed), 1).contains("0 blocks"));
        let largest = design(MAX_TRIALS, 0, most, Stop::Fixed);
        assert_eq!(count(&largest, 1, blocks(&largest)).unwrap(), MAX_TRIALS);
        assert!(refused(design(MAX_TRIALS, 1, most, Stop::Fixed), 1).contains("no plan"));
    }
}
