//! Searches for the commits that made steps. Computes the probability of each commit after the good
//! end, and of "none of them". Each look is a block: one trial of the good end and of some commits,
//! in random order, as logarithms of the metric, signed so that a greater value is worse. The state
//! of the machine, which a block shares, is removed by subtracting the block's mean.
//!
//! The model of a trial is in `model.rs`: steps of either sign, as many as the trials support. The
//! next commits divide the remaining probability into equal parts (Horstein, IEEE Trans. Inf.
//! Theory 9 (1963) 136; Waeber, Frazier and Henderson, SIAM J. Control Optim. 51 (2013) 2261, with
//! one commit per look). With noise as large as the step, a block of the good end and three commits
//! yields a quarter more information per trial than a block of two.

mod model;
mod sums;

use crate::comparison::estimate::Estimate;
use crate::comparison::rank::shift_interval;
use model::EXPECTED;
use serde::{Deserialize, Serialize};

/// Probability from which a commit counts as one that made a step.
pub const ENOUGH: f64 = 0.95;
/// Probability that "none of them" needs. It is higher, because its prior is a third and a few
/// blocks that happen to agree would reach the other threshold.
pub const ENOUGH_NONE: f64 = 0.99;
/// Expected number of pairs of steps that cancel each other between measured commits, below which a
/// search for all steps ends. Then all of 60 commits have a trial, and three of four of 1,000.
const FEW_PAIRS: f64 = 0.001;
/// A commit whose next trial would yield less than this share of the information of its first trial
/// gives way to others.
const SPENT: f64 = 0.1;
/// Minimum number of trials on each side of a step, because a machine that is slow for a while
/// makes two consecutive trials alike.
const LEAST_OF_A_SIDE: f64 = 4.0;
/// Level of the rank test between the sides of a step. Four trials need twelve on the other side.
const LEVEL_OF_SIDES: f64 = 0.995;
/// Minimum number of trials beyond one per block, on which the noise estimate rests, for the answer
/// "none of them".
const LEAST_FOR_NONE: usize = 24;

/// Steps that a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchScope {
    /// One step for the worse.
    First,
    /// Every step, for the worse or the better.
    All,
}

/// One block of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialBlock {
    /// Pairs (commit, ln(metric)), where a greater value is worse. Commit 0 is the good end, 1 the
    /// first after it, `commits` the bad end. Failed trials are left out.
    pub trials: Vec<(usize, f64)>,
}

/// State of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Number of commits after the good end, including the bad end.
    pub commits: usize,
    /// Smallest step that matters, as a log ratio.
    pub margin: f64,
    /// Steps that the search looks for.
    pub scope: SearchScope,
    /// Blocks measured so far, in order.
    pub blocks: Vec<TrialBlock>,
    /// Commits that cannot be measured because they do not build.
    pub skipped: Vec<usize>,
}

/// Probabilities after the looks so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// Probability that a commit made a step that the search looks for, at index commit − 1.
    /// Several may be certain.
    pub commits: Vec<f64>,
    /// Probability that no commit made such a step.
    pub none: f64,
    /// Variance between builds as a share of the variance of one trial's noise.
    pub builds: f64,
}

/// A commit that made a step: `last`. The commits before it, from `first` on, cannot be measured
/// and may have made the step instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundStep {
    /// First commit that may have made the step.
    pub first: usize,
    /// Last commit that may have made the step.
    pub last: usize,
}

impl Search {
    /// Starts a search among `commits` commits after the good end for steps of at least `margin` (a
    /// ratio's difference from 1, such as 0.02).
    pub fn new(commits: usize, margin: f64, scope: SearchScope) -> Self {
        let margin = (1.0 + margin.max(1e-4)).ln();
        Search { commits, margin, scope, blocks: Vec::new(), skipped: Vec::new() }
    }

    fn usable(&self) -> Vec<Vec<(usize, f64)>> {
        let usable = |t: &&(usize, f64)| t.0 <= self.commits && t.1.is_finite();
        self.blocks.iter().map(|b| b.trials.iter().filter(usable).copied().collect()).collect()
    }

    /// Computes the posterior after the looks so far.
    pub fn posterior(&self) -> Posterior {
        model::fit(&self.usable(), self.commits, self.margin, self.scope)
    }

    /// Estimates a contrast of ln(metric) between measured commits, whatever the steps: the sum of
    /// coefficients times levels, each given as (commit, coefficient). `None` if there are too few
    /// trials or a commit was not measured.
    pub fn difference(&self, contrast: &[(usize, f64)]) -> Option<Estimate> {
        model::difference(&self.usable(), self.margin, contrast)
    }

    /// Returns the steps with enough probability, in order. Trials cannot distinguish skipped
    /// commits from the next one that can be measured.
    fn likely(&self, p: &Posterior) -> Vec<FoundStep> {
        let measurable = (1..=self.commits).filter(|k| !self.skipped.contains(k));
        let mut ends: Vec<usize> = [0].into_iter().chain(measurable).collect();
        ends.push(self.commits);
        ends.dedup();
        let mut steps: Vec<FoundStep> =
            ends.windows(2).map(|e| FoundStep { first: e[0] + 1, last: e[1] }).collect();
        steps.retain(|s| p.commits[s.first - 1..s.last].iter().sum::<f64>() >= ENOUGH);
        steps
    }

    /// Returns the steps with enough probability whose sides have enough trials and differ. These
    /// are the known steps.
    pub fn steps(&self, p: &Posterior) -> Vec<FoundStep> {
        let counts = self.counts();
        let likely = self.likely(p);
        let enough = |s: &FoundStep| counts[s.first - 1].min(counts[s.last]) >= LEAST_OF_A_SIDE;
        likely.iter().filter(|s| enough(s) && self.differ(s, &likely)).copied().collect()
    }

    /// True if the trials between a step and its neighbours among `steps` differ by their ranks.
    /// The model has one noise for all commits; that of a program that became much faster is
    /// greater, in proportion.
    fn differ(&self, step: &FoundStep, steps: &[FoundStep]) -> bool {
        let from = steps.iter().map(|s| s.last).filter(|last| *last < step.first).max();
        let to = steps.iter().map(|s| s.first).filter(|first| *first > step.last).min();
        let within = from.unwrap_or(0)..to.unwrap_or(self.commits + 1);
        let mut sides = [Vec::new(), Vec::new()];
        for block in self.usable() {
            let good = block.iter().find(|t| t.0 == 0).map_or(f64::NAN, |t| t.1);
            for (k, value) in block.iter().filter(|t| within.contains(&t.0) && good.is_finite()) {
                sides[usize::from(*k >= step.last)].push(value - good);
            }
        }
        shift_interval(&sides[0], &sides[1], LEVEL_OF_SIDES).is_some_and(|s| s.low * s.high > 0.0)
    }

    /// Counts the trials of each commit, the good end first.
    fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.commits + 1];
        self.usable().iter().flatten().for_each(|t| counts[t.0] += 1.0);
        counts
    }

    /// Counts the commits without a trial that could have one. Steps that cancel each other among
    /// them leave no trace.
    pub fn unmeasured(&self) -> usize {
        let counts = self.counts();
        (1..=self.commits).filter(|k| counts[*k] == 0.0 && !self.skipped.contains(k)).count()
    }

    /// Returns the steps that answer the search, empty if nothing is found; `None` if the search
    /// must continue.
    pub fn answer(&self, p: &Posterior) -> Option<Vec<FoundStep>> {
        let steps = self.steps(p);
        let rest = match self.scope {
            SearchScope::First if !steps.is_empty() => return Some(steps[..1].to_vec()),
            SearchScope::First => (1.0 - p.none) / (1.0 - ENOUGH_NONE),
            SearchScope::All => {
                let [steps, pairs] = self.unknown(p).map(|of| of.iter().sum::<f64>());
                (steps / (1.0 - ENOUGH)).max(pairs / FEW_PAIRS)
            }
        };
        let values: usize = self.blocks.iter().map(|b| b.trials.len().saturating_sub(1)).sum();
        (rest <= 1.0 && values >= LEAST_FOR_NONE).then_some(steps)
    }

    /// Returns the expected number of steps at each commit, at index commit − 1, apart from the
    /// known steps; and, in a search for all steps, the expected number of pairs between measured
    /// commits that cancel each other.
    fn unknown(&self, p: &Posterior) -> [Vec<f64>; 2] {
        let mut out = p.commits.clone();
        let mut undone = vec![0.0; self.commits];
        for k in (1..=self.commits).rev().take_while(|k| self.skipped.contains(k)) {
            out[k - 1] = 0.0;
        }
        if self.scope == SearchScope::First {
            return [out, undone];
        }
        for step in self.steps(p) {
            out[step.first - 1..step.last].fill(0.0);
        }
        let counts = self.counts();
        let measured: Vec<usize> = (0..=self.commits).filter(|k| counts[*k] > 0.0).collect();
        // Assume the worst case: the second of two steps between measured commits always cancels
        // the first.
        let each = (EXPECTED / self.commits as f64).powi(2);
        for ends in measured.windows(2) {
            let within = (ends[0] + 1..ends[1]).filter(|k| !self.skipped.contains(k));
            let pairs_a_commit = (within.clone().count() + 1) as f64 / 2.0;
            within.for_each(|k| undone[k - 1] = pairs_a_commit * each);
        }
        [out, undone]
    }

    /// Returns the commits of the next block in addition to the good end, at most `wanted`, in
    /// order: those that divide the remaining probability into equal parts. Empty if nothing can be
    /// measured. More trials do not remove a build's own deviation, so a commit that was measured
    /// often gives way to its neighbours.
    pub fn next(&self, p: &Posterior, wanted: usize) -> Vec<usize> {
        let counts = self.counts();
        // Information about a commit's level after n trials, without the deviation of its build.
        let known = |n: f64| n / (1.0 + p.builds * n);
        let spent = |k: usize| known(counts[k] + 1.0) - known(counts[k]) < SPENT * known(1.0);
        let [mut steps, undone] = self.unknown(p);
        if steps.iter().sum::<f64>() <= 1.0 - ENOUGH && undone.iter().any(|pairs| *pairs > 0.0) {
            steps.fill(0.0);
        }
        let sums = [&steps, &undone].map(|of| of.iter().sum::<f64>());
        let all = (sums[0] + sums[1]).max(f64::MIN_POSITIVE);
        let usable = |k: &usize| *k > 0 && !self.skipped.contains(k);
        // The remaining difference between the ends is known only if both were measured. The bad
        // end is the most informative about the existence of a step, but shows nothing about steps
        // that cancel each other.
        let end = (1..=self.commits).rev().find(usable);
        let mut out: Vec<usize> = end.filter(|k| counts[*k] == 0.0).into_iter().collect();
        let likely = self.likely(p);
        let sides =
            likely.iter().flat_map(|s| [s.first - 1, s.last].map(|k| (k, self.differ(s, &likely))));
        let few = |side: &(usize, bool)| !side.1 || counts[side.0] < LEAST_OF_A_SIDE;
        out.extend(sides.filter(few).map(|side| side.0).filter(usable));
        out.sort_unstable();
        out.dedup();
        out.truncate(wanted);
        let none = if self.scope == SearchScope::First && out.is_empty() { p.none } else { 0.0 };
        // More trials of measured commits yield nothing about the commits between them.
        let candidate = |k: &usize| usable(k) && (counts[*k] == 0.0 || sums[1] <= sums[0]);
        let mut before = 0.0;
        // Probability that commit k is worse, because the step is at k or before. The small term
        // added to each commit separates those of zero probability.
        let worse: Vec<(usize, f64)> = steps
            .iter()
            .zip(&undone)
            .zip(1..)
            .map(|((step, pair), k)| {
                let w = step + pair;
                before += (1.0 - none) * w / all + 1e-6 / self.commits as f64;
                (k, before)
            })
            .filter(|(k, _)| candidate(k))
            .collect();
        let wanted = wanted.saturating_sub(out.len());
        for i in 1..=wanted {
            let target = (1.0 - none) * i as f64 / (wanted + 1) as f64
                + none * if i == wanted { 1.0 } else { 0.0 };
            let away = |k: &(usize, f64)| (spent(k.0), (k.1 - target).abs());
            let near = worse.iter().filter(|(k, _)| !out.contains(k)).min_by(|a, b| {
                let (a, b) = (away(a), away(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            });
            out.extend(near.map(|n| n.0));
        }
        out.sort_unstable();
        out
    }

    /// Adds the trials of a block.
    pub fn see(&mut self, trials: Vec<(usize, f64)>) {
        self.blocks.push(TrialBlock { trials });
    }

    /// Marks a commit that cannot be measured.
    pub fn skip(&mut self, commit: usize) {
        if !self.skipped.contains(&commit) {
            self.skipped.push(commit);
        }
    }
}
