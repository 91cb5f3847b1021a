//! Looks at fixed points: a run stops as soon as the answer is clear, without the false alarms that
//! frequent looks would cause. After 6, 9, 13, 19, 28 and 42 blocks every test is made at a nominal
//! α of 0.0142, the constant limit of Pocock (Biometrika 64 (1977) 191) for six looks and 5 %
//! overall. Pocock's limit is derived for equally spaced looks at normal data; for these looks and
//! Student's t a simulation gives 4 to 6 % (`docs/internals/statistics.md`).
//!
//! An interval reported after such a stop has the level 1 − 0.0142 ([`CONFIDENCE`]), not 0.95. A
//! run with looks is compared by `compare` with that confidence, at whichever look it ended.

use assay_model::{Better, Comparison, Verdict};

use crate::comparison::compare::{CompareInput, Samples, compare};

/// Numbers of blocks after which the data are tested.
pub const LOOKS: [usize; 6] = [6, 9, 13, 19, 28, 42];
/// Nominal two-sided α of each look, for 5 % over all six.
pub const NOMINAL_ALPHA: f64 = 0.0142;
/// Confidence level of every interval of a run with looks.
pub const CONFIDENCE: f64 = 1.0 - NOMINAL_ALPHA;

/// Input of a look.
#[derive(Debug, Clone, Copy)]
pub struct LookInput<'a> {
    /// (baseline, treatment) of each finished block, in order; `None` for a trial without a value.
    pub pairs: &'a [(Option<f64>, Option<f64>)],
    /// Direction in which the metric is better.
    pub better: Better,
    /// Differences up to this fraction do not matter.
    pub margin: Option<f64>,
    /// True if `better` and `worse` require a difference beyond the margin.
    pub gate: bool,
}

/// Decision after a block.
#[derive(Debug, Clone, PartialEq)]
pub enum StopDecision {
    /// The run goes on.
    Continue {
        /// Reason as a sentence.
        sentence: String,
    },
    /// The answer is clear, or the looks are used up.
    Stop {
        /// Verdict at the adjusted level.
        verdict: Verdict,
        /// Reason as a sentence.
        sentence: String,
    },
}

/// Returns the first look after `blocks` finished blocks; `None` after the last.
pub fn next_look(blocks: usize) -> Option<usize> {
    LOOKS.into_iter().find(|n| *n > blocks)
}

/// Decides whether to go on after the blocks in `input`. Only the numbers of blocks in [`LOOKS`]
/// are looks; at any other number the decision is to continue without a test. At a look the run
/// stops if the verdict is better, worse, equivalent or invalid, or if it is the last look. With
/// several treatments against one baseline, stop when the decision for every one of them is to
/// stop.
pub fn look(input: &LookInput<'_>) -> StopDecision {
    let blocks = input.pairs.len();
    let last = LOOKS[LOOKS.len() - 1];
    if blocks < last && !LOOKS.contains(&blocks) {
        let next = next_look(blocks).unwrap_or(last);
        return StopDecision::Continue {
            sentence: format!("block {blocks}; next look after {next}"),
        };
    }
    let c: Comparison = compare(&CompareInput {
        metric: "",
        unit: "",
        better: input.better,
        baseline: 0,
        treatment: 1,
        samples: Samples::Paired(input.pairs),
        confidence: CONFIDENCE,
        margin: input.margin,
        gate: input.gate,
    });
    let found = format!("after {blocks} blocks: {}, {}", c.verdict.name(), c.reason);
    match (c.verdict, next_look(blocks)) {
        (Verdict::Inconclusive, Some(next)) => {
            StopDecision::Continue { sentence: format!("{found}; next look after {next}") }
        }
        (Verdict::Inconclusive, None) => StopDecision::Stop {
            verdict: c.verdict,
            sentence: format!("{found}; that was the last look"),
        },
        (verdict, _) => StopDecision::Stop { verdict, sentence: found },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(n: usize, ratio: f64) -> Vec<(Option<f64>, Option<f64>)> {
        let wave = [0.999, 1.002, 1.0, 0.998, 1.001, 1.003];
        (0..n).map(|i| (Some(wave[i % 6]), Some(ratio * wave[(i * 5 + 2) % 6]))).collect()
    }

    fn at(pairs: &[(Option<f64>, Option<f64>)], margin: Option<f64>) -> StopDecision {
        look(&LookInput { pairs, better: Better::Lower, margin, gate: false })
    }

    #[test]
    fn looks_only_at_the_fixed_points() {
        for n in [0, 1, 5, 7, 8, 10, 41] {
            let StopDecision::Continue { sentence } = at(&pairs(n, 2.0), None) else {
                panic!("a look at {n} blocks")
            };
            assert!(sentence.contains(&next_look(n).unwrap().to_string()), "{sentence}");
        }
        assert_eq!((next_look(6), next_look(42)), (Some(9), None));
    }

    #[test]
    fn stops_when_clear_and_at_the_end() {
        assert!(matches!(
            at(&pairs(6, 1.2), None),
            StopDecision::Stop { verdict: Verdict::Worse, .. }
        ));
        assert!(matches!(
            at(&pairs(6, 0.8), None),
            StopDecision::Stop { verdict: Verdict::Better, .. }
        ));
        assert!(matches!(at(&pairs(6, 1.0), None), StopDecision::Continue { .. }));
        assert!(matches!(
            at(&pairs(9, 1.0), Some(0.02)),
            StopDecision::Stop { verdict: Verdict::Equivalent, .. }
        ));
        let end = at(&pairs(42, 1.0), None);
        assert!(
            matches!(end, StopDecision::Stop { verdict: Verdict::Inconclusive, .. }),
            "{end:?}"
        );
        let bad = vec![(Some(1.0), Some(-1.0)); 6];
        assert!(matches!(at(&bad, None), StopDecision::Stop { verdict: Verdict::Invalid, .. }));
    }
}
