//! The search for the commits that made steps: the probability of each commit after the good end, and of
//! "none of them". Each look is a block: one trial of the good end and of some commits, in random order,
//! as logarithms of the metric, signed so that worse is greater. What a block shares (the machine's state)
//! is taken out by its mean.
//!
//! The model of a trial is in `model.rs`: steps of either sign, as many as the trials speak for. The next commits cut
//! what is not known yet into equal parts (Horstein, IEEE Trans. Inf. Theory 9 (1963) 136; Waeber, Frazier and
//! Henderson, SIAM J. Control Optim. 51 (2013) 2261, with one commit a look). With noise as large as the step, a
//! block of the good end and three commits tells a quarter more a trial than one of two.

mod model;
mod sums;

use assay_stats::estimate::Estimate;
use model::EXPECTED;
use serde::{Deserialize, Serialize};

/// A commit has made a step when it has so much of the probability.
pub const ENOUGH: f64 = 0.95;
/// "None of them" needs so much: it is a third of the prior, and a few blocks that happen to agree would do.
pub const ENOUGH_NONE: f64 = 0.99;
/// A commit whose trial would yield less than this share of the information of its first one gives
/// way to others.
const SPENT: f64 = 0.1;
/// Trials of each side of a step: a machine that is slower for a while makes two in a row alike.
const LEAST_OF_A_SIDE: f64 = 4.0;
/// Trials beyond one a block that the noise estimate stands on before "none of them" is an answer.
const LEAST_FOR_NONE: usize = 24;

/// The steps that a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// One for the worse.
    First,
    /// Every one, for the worse or the better.
    All,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// (commit, ln(metric)), worse greater; commit 0 is the good end, 1 the first after it, `commits` the
    /// bad end. A trial that failed is left out.
    pub trials: Vec<(usize, f64)>,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Commits after the good end, the bad end included.
    pub commits: usize,
    /// The smallest step that matters, as a log ratio.
    pub margin: f64,
    /// The steps that it searches for.
    pub scope: Scope,
    /// What was seen, in order.
    pub blocks: Vec<Block>,
    /// Commits that cannot be measured (they do not build).
    pub skipped: Vec<usize>,
}

/// What is known after the looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The probability that a commit made a step that the search is for, at index commit − 1. Several may be certain.
    pub commits: Vec<f64>,
    /// The probability that no commit did.
    pub none: f64,
    /// What builds differ by for themselves: a variance as a share of that of one trial's noise.
    pub builds: f64,
}

/// A commit that made a step: the last one; the others from the first on cannot be measured and may have made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The first that it may be.
    pub first: usize,
    /// The last that it may be.
    pub last: usize,
}

impl Search {
    /// A search among `commits` commits after the good end for steps of at least `margin` (a ratio's
    /// difference to 1, such as 0.02).
    pub fn new(commits: usize, margin: f64, scope: Scope) -> Self {
        let margin = (1.0 + margin.max(1e-4)).ln();
        Search { commits, margin, scope, blocks: Vec::new(), skipped: Vec::new() }
    }

    fn usable(&self) -> Vec<Vec<(usize, f64)>> {
        let usable = |t: &&(usize, f64)| t.0 <= self.commits && t.1.is_finite();
        self.blocks.iter().map(|b| b.trials.iter().filter(usable).copied().collect()).collect()
    }

    /// The posterior after the looks so far.
    pub fn posterior(&self) -> Posterior {
        model::fit(&self.usable(), self.commits, self.margin, self.scope)
    }

    /// The ln(ratio) between measured commits, whatever the steps: the sum of the coefficients times their levels.
    /// `None`: too few trials, or one of them was not measured.
    pub fn difference(&self, contrast: &[(usize, f64)]) -> Option<Estimate> {
        model::difference(&self.usable(), self.margin, contrast)
    }

    /// The steps that have enough of the probability, in order. Trials cannot distinguish skipped commits from the
    /// next one that can be measured.
    fn likely(&self, p: &Posterior) -> Vec<Step> {
        let measurable = (1..=self.commits).filter(|k| !self.skipped.contains(k));
        let mut ends: Vec<usize> = [0].into_iter().chain(measurable).collect();
        ends.push(self.commits);
        ends.dedup();
        let mut steps: Vec<Step> =
            ends.windows(2).map(|e| Step { first: e[0] + 1, last: e[1] }).collect();
        steps.retain(|s| p.commits[s.first - 1..s.last].iter().sum::<f64>() >= ENOUGH);
        steps
    }

    /// Those of them whose sides have enough trials: they are known.
    pub fn steps(&self, p: &Posterior) -> Vec<Step> {
        let counts = self.counts();
        let mut steps = self.likely(p);
        steps.retain(|s| counts[s.first - 1].min(counts[s.last]) >= LEAST_OF_A_SIDE);
        steps
    }

    /// Trials of each commit, the good end first.
    fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.commits + 1];
        self.usable().iter().flatten().for_each(|t| counts[t.0] += 1.0);
        counts
    }

    /// The steps that answer the search, none when there is none; `None`: it goes on.
    pub fn answer(&self, p: &Posterior) -> Option<Vec<Step>> {
        let steps = self.steps(p);
        let rest = match self.scope {
            Scope::First if !steps.is_empty() => return Some(steps[..1].to_vec()),
            Scope::First => (1.0 - p.none) / (1.0 - ENOUGH_NONE),
            Scope::All => self.unknown(p).concat().iter().sum::<f64>() / (1.0 - ENOUGH),
        };
        let values: usize = self.blocks.iter().map(|b| b.trials.len().saturating_sub(1)).sum();
        (rest <= 1.0 && values >= LEAST_FOR_NONE).then_some(steps)
    }

    /// The expected number of steps at each commit, at index commit − 1, beside those that are known; and, in a search
    /// for all, how many pairs between measured commits that undo one another.
    fn unknown(&self, p: &Posterior) -> [Vec<f64>; 2] {
        let mut out = p.commits.clone();
        let mut undone = vec![0.0; self.commits];
        for k in (1..=self.commits).rev().take_while(|k| self.skipped.contains(k)) {
            out[k - 1] = 0.0;
        }
        if self.scope == Scope::First {
            return [out, undone];
        }
        for step in self.steps(p) {
            out[step.first - 1..step.last].fill(0.0);
        }
        let counts = self.counts();
        let measured: Vec<usize> = (0..=self.commits).filter(|k| counts[*k] > 0.0).collect();
        // As if the second of two steps between measured commits always undid the first, which is the worst case.
        let each = (EXPECTED / self.commits as f64).powi(2);
        for ends in measured.windows(2) {
            let within = (ends[0] + 1..ends[1]).filter(|k| !self.skipped.contains(k));
            let pairs_a_commit = (within.clone().count() + 1) as f64 / 2.0;
            within.for_each(|k| undone[k - 1] = pairs_a_commit * each);
        }
        [out, undone]
    }

    /// The commits of the next block beside the good end, at most `wanted`, in order: those that cut what is
    /// not known into equal parts; empty when nothing can be measured. What a build has for itself no trial
    /// takes away, so a commit that was measured often gives way to its neighbours.
    pub fn next(&self, p: &Posterior, wanted: usize) -> Vec<usize> {
        let counts = self.counts();
        // What is known of a commit's level after n trials, where builds' own differences are not.
        let known = |n: f64| n / (1.0 + p.builds * n);
        let spent = |k: usize| known(counts[k] + 1.0) - known(counts[k]) < SPENT * known(1.0);
        let [steps, undone] = self.unknown(p);
        let sums = [&steps, &undone].map(|of| of.iter().sum::<f64>());
        let all = (sums[0] + sums[1]).max(f64::MIN_POSITIVE);
        let usable = |k: &usize| *k > 0 && !self.skipped.contains(k);
        // What remains of the difference of the ends is known only where both are. The bad end tells most of whether
        // there is a step at all, and nothing of those that undo one another.
        let end = (1..=self.commits).rev().find(usable);
        let mut out: Vec<usize> = end.filter(|k| counts[*k] == 0.0).into_iter().collect();
        let sides = self.likely(p).into_iter().flat_map(|s| [s.first - 1, s.last]);
        out.extend(sides.filter(|k| usable(k) && counts[*k] < LEAST_OF_A_SIDE));
        out.sort_unstable();
        out.dedup();
        out.truncate(wanted);
        let none = if self.scope == Scope::First && out.is_empty() { p.none } else { 0.0 };
        // More trials of measured commits say nothing of what is between them.
        let candidate = |k: &usize| usable(k) && (counts[*k] == 0.0 || sums[1] <= sums[0]);
        let mut before = 0.0;
        // Worse at k: the step was made at k or before. The small part that each has parts those of no probability.
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

    /// Takes a block in.
    pub fn see(&mut self, trials: Vec<(usize, f64)>) {
        self.blocks.push(Block { trials });
    }

    /// A commit that cannot be measured.
    pub fn skip(&mut self, commit: usize) {
        if !self.skipped.contains(&commit) {
            self.skipped.push(commit);
        }
    }
}
