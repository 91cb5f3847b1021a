//! The search for the commit that made a step: a posterior over the commits after the good end, and
//! "none of them". Each look is a block: one trial of the good end and of some commits, in random order,
//! as logarithms of the metric, signed so that worse is greater. What a block shares (the machine's state)
//! is taken out by its mean.
//!
//! The model of a trial is in `model.rs`. The next commits cut the posterior into equal parts
//! (Horstein, IEEE Trans. Inf. Theory 9 (1963) 136; Waeber, Frazier and Henderson, SIAM J. Control Optim. 51
//! (2013) 2261, with one commit a look). With noise as large as the step, a block of the good end and three
//! commits tells a quarter more a trial than one of two.

mod model;

use serde::{Deserialize, Serialize};

/// A search ends when one answer has so much of the posterior.
pub const ENOUGH: f64 = 0.95;
/// "None of them" needs so much: it is half of the prior, and a few blocks that happen to agree would do.
pub const ENOUGH_NONE: f64 = 0.99;
/// A commit whose trial would yield less than this share of the information of its first one gives
/// way to others.
const SPENT: f64 = 0.1;
/// Trials beyond one a block that the noise estimate stands on before a search may end.
const LEAST_VALUES: usize = 8;
/// The same for "none of them".
const LEAST_FOR_NONE: usize = 24;

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
    /// What was seen, in order.
    pub blocks: Vec<Block>,
    /// Commits that cannot be measured (they do not build).
    pub skipped: Vec<usize>,
}

/// What is known after the looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The probability of each commit 1..=commits, at index commit − 1.
    pub commits: Vec<f64>,
    /// The probability that no commit made a step.
    pub none: f64,
    /// The step's size as a log ratio, averaged over the posterior; 0 when none is likely.
    pub size: f64,
    /// What builds differ by for themselves: a variance as a share of that of one trial's noise.
    pub builds: f64,
}

/// The end of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// This one; a range when commits inside it could not be measured: the first and the last of them.
    Commit {
        /// The first that it may be.
        first: usize,
        /// The last that it may be.
        last: usize,
    },
    /// No commit made a step of the margin or more.
    None,
}

impl Search {
    /// A search among `commits` commits after the good end for a step of at least `margin` (a ratio's
    /// difference to 1, such as 0.02).
    pub fn new(commits: usize, margin: f64) -> Self {
        let margin = (1.0 + margin.max(1e-4)).ln();
        Search { commits, margin, blocks: Vec::new(), skipped: Vec::new() }
    }

    /// The posterior after the looks so far.
    pub fn posterior(&self) -> Posterior {
        let usable = |t: &&(usize, f64)| t.0 <= self.commits && t.1.is_finite();
        let blocks: Vec<Vec<(usize, f64)>> =
            self.blocks.iter().map(|b| b.trials.iter().filter(usable).copied().collect()).collect();
        let fit = model::fit(&blocks, self.commits, self.margin);
        let total = fit.none + fit.commits.iter().sum::<f64>();
        Posterior {
            commits: fit.commits.iter().map(|w| w / total).collect(),
            none: fit.none / total,
            size: fit.size / total,
            builds: fit.builds,
        }
    }

    /// Commits that trials can distinguish: each ends with one that can be measured, and holds the
    /// skipped ones before it. (first, last) of each.
    fn groups(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let mut first = 1;
        for k in 1..=self.commits {
            if !self.skipped.contains(&k) {
                out.push((first, k));
                first = k + 1;
            }
        }
        if first <= self.commits {
            out.push((first, self.commits));
        }
        out
    }

    /// The answer, once one has [`ENOUGH`] of the posterior.
    pub fn answer(&self) -> Option<Answer> {
        let values: usize = self.blocks.iter().map(|b| b.trials.len().saturating_sub(1)).sum();
        if values < LEAST_VALUES {
            return None;
        }
        let p = self.posterior();
        if p.none >= ENOUGH_NONE && values >= LEAST_FOR_NONE {
            return Some(Answer::None);
        }
        self.groups()
            .into_iter()
            .find(|(a, b)| p.commits[a - 1..*b].iter().sum::<f64>() >= ENOUGH)
            .map(|(first, last)| Answer::Commit { first, last })
    }

    /// The commits of the next block beside the good end, at most `wanted`, in order: those that cut the
    /// posterior into equal parts; empty when nothing can be measured. What a build has for itself no trial
    /// takes away, so a commit that was measured often gives way to its neighbours.
    pub fn next(&self, wanted: usize) -> Vec<usize> {
        let p = self.posterior();
        let mut counts = vec![0.0; self.commits + 1];
        for (k, _) in self.blocks.iter().flat_map(|b| &b.trials).filter(|t| t.0 <= self.commits) {
            counts[*k] += 1.0;
        }
        // What is known of a commit's level after n trials, where builds' own differences are not.
        let known = |n: f64| n / (1.0 + p.builds * n);
        let spent = |k: usize| known(counts[k] + 1.0) - known(counts[k]) < SPENT * known(1.0);
        let mut before = 0.0;
        // Worse at k: the step was made at k or before.
        let worse: Vec<(usize, f64)> = p
            .commits
            .iter()
            .enumerate()
            .map(|(i, w)| {
                before += w;
                (i + 1, before)
            })
            .filter(|(k, _)| !self.skipped.contains(k))
            .collect();
        let mut out = Vec::new();
        for i in 1..=wanted {
            let target = (1.0 - p.none) * i as f64 / (wanted + 1) as f64
                + p.none * if i == wanted { 1.0 } else { 0.0 };
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
