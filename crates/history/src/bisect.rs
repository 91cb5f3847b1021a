//! The search for the commit that made a step: a posterior over the commits after the good end, and
//! "none of them". Each look is a block: one trial of the good end and of some commits, in random order,
//! as logarithms of the metric, signed so that worse is greater. What a block shares (the machine's state)
//! is taken out by its mean.
//!
//! The model: a trial of a commit before the step is b, from the step on b + δ, b the block's own, with
//! normal noise of unknown size (Jeffreys' prior, which leaves (Σ residuals²)^(−N/2) as likelihood); δ has
//! a log-uniform prior from the margin to 64 times it. The next commits cut the posterior into equal parts
//! (Horstein, IEEE Trans. Inf. Theory 9 (1963) 136; Waeber, Frazier and Henderson, SIAM J. Control Optim. 51
//! (2013) 2261, with one commit a look). With noise as large as the step, a block of the good end and three
//! commits tells a quarter more a trial than one of two.

use serde::{Deserialize, Serialize};

use crate::noise::median;

/// Sizes of the step that are considered, as multiples of the margin.
const SIZES: usize = 25;
/// A search ends when one answer has so much of the posterior.
pub const ENOUGH: f64 = 0.95;
/// "None of them" needs so much: it is half of the prior, and a few blocks that happen to agree would do.
pub const ENOUGH_NONE: f64 = 0.99;
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

/// Weights that are not yet shares of 1.
struct Fit {
    none: f64,
    /// By commit, then by size.
    weights: Vec<f64>,
    sizes: Vec<f64>,
}

impl Fit {
    /// The commit and the size with the most weight; a commit beyond all when that is none.
    fn most_likely(&self) -> (usize, f64) {
        let mut best = (self.none, (usize::MAX, 0.0));
        for (i, w) in self.weights.iter().enumerate() {
            if *w > best.0 {
                best = (*w, (i / SIZES + 1, self.sizes[i % SIZES]));
            }
        }
        best.1
    }
}

impl Search {
    /// A search among `commits` commits after the good end for a step of at least `margin` (a ratio's
    /// difference to 1, such as 0.02).
    pub fn new(commits: usize, margin: f64) -> Self {
        let margin = (1.0 + margin.max(1e-4)).ln();
        Search { commits, margin, blocks: Vec::new(), skipped: Vec::new() }
    }

    /// The blocks without wild trials: those far from the best fit whose commit has others that are not.
    /// A step that is seen for the first time is far from any fit, and stays.
    fn kept(&self) -> Vec<Vec<(usize, f64)>> {
        let usable = |t: &&(usize, f64)| t.0 <= self.commits && t.1.is_finite();
        let blocks: Vec<Vec<(usize, f64)>> =
            self.blocks.iter().map(|b| b.trials.iter().filter(usable).copied().collect()).collect();
        let fit = self.fit(&blocks);
        let (step, size) = fit.most_likely();
        let residuals: Vec<Vec<f64>> = blocks
            .iter()
            .map(|block| {
                let left: Vec<f64> =
                    block.iter().map(|(k, v)| v - if *k >= step { size } else { 0.0 }).collect();
                let middle = median(&left);
                left.iter().map(|v| (v - middle).abs()).collect()
            })
            .collect();
        let all: Vec<f64> = residuals.iter().flatten().copied().filter(|r| *r > 0.0).collect();
        if all.len() < LEAST_VALUES {
            return blocks;
        }
        let bound = 8.0 * median(&all);
        let mut near = vec![false; self.commits + 1];
        for (block, residuals) in blocks.iter().zip(&residuals) {
            for ((k, _), r) in block.iter().zip(residuals) {
                near[*k] |= *r <= bound;
            }
        }
        blocks
            .into_iter()
            .zip(residuals)
            .map(|(block, residuals)| {
                let keep =
                    |((k, v), r): ((usize, f64), f64)| (r <= bound || !near[k]).then_some((k, v));
                block.into_iter().zip(residuals).filter_map(keep).collect()
            })
            .collect()
    }

    /// The posterior after the looks so far.
    pub fn posterior(&self) -> Posterior {
        let fit = self.fit(&self.kept());
        let total = fit.none + fit.weights.iter().sum::<f64>();
        let size =
            fit.weights.iter().enumerate().map(|(i, w)| w * fit.sizes[i % SIZES]).sum::<f64>();
        Posterior {
            commits: fit.weights.chunks(SIZES).map(|c| c.iter().sum::<f64>() / total).collect(),
            none: fit.none / total,
            size: size / total,
        }
    }

    /// The weight of every commit and size, and of none.
    fn fit(&self, blocks: &[Vec<(usize, f64)>]) -> Fit {
        let n = self.commits;
        let values: usize = blocks.iter().map(|b| b.len().saturating_sub(1)).sum();
        // Of a step at j: Σ of the centred trials from j on, and Σ of the step's own centred square.
        let (mut sum, mut own) = (vec![0.0; n + 1], vec![0.0; n + 1]);
        let mut square = 0.0;
        for block in blocks {
            let size = block.len() as f64;
            let mean = block.iter().map(|t| t.1).sum::<f64>() / size.max(1.0);
            let mut order: Vec<(usize, f64)> = block.iter().map(|(k, v)| (*k, v - mean)).collect();
            square += order.iter().map(|t| t.1 * t.1).sum::<f64>();
            order.sort_unstable_by_key(|t| std::cmp::Reverse(t.0));
            let (mut i, mut total) = (0, 0.0);
            for j in (1..=n).rev() {
                while i < order.len() && order[i].0 >= j {
                    total += order[i].1;
                    i += 1;
                }
                sum[j] += total;
                own[j] += i as f64 - (i * i) as f64 / size.max(1.0);
            }
        }
        // A floor under the residuals: identical values are no proof of no noise.
        let floor = 1e-12 + values as f64 * (self.margin * 0.02).powi(2);
        let half = values as f64 / 2.0;
        let log = |s: f64| -half * (s.max(0.0) + floor).ln();
        let sizes: Vec<f64> =
            (0..SIZES).map(|i| self.margin * 64f64.powf(i as f64 / (SIZES - 1) as f64)).collect();
        // Half of the prior says none, the rest is shared by commits and sizes.
        let share = (0.5 / (n.max(1) * SIZES) as f64).ln();
        let none = 0.5f64.ln() + log(square);
        let mut all = Vec::with_capacity(n * SIZES);
        for j in 1..=n {
            for d in &sizes {
                all.push(share + log(square - 2.0 * d * sum[j] + d * d * own[j]));
            }
        }
        let most = all.iter().copied().fold(none, f64::max);
        Fit {
            none: (none - most).exp(),
            weights: all.iter().map(|l| (l - most).exp()).collect(),
            sizes,
        }
    }

    /// Commits that can be told apart: each ends with one that can be measured, and holds the skipped
    /// ones before it. (first, last) of each.
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
    /// posterior into equal parts; empty when nothing can be measured.
    pub fn next(&self, wanted: usize) -> Vec<usize> {
        let p = self.posterior();
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
            let near = worse
                .iter()
                .filter(|(k, _)| !out.contains(k))
                .min_by(|a, b| (a.1 - target).abs().total_cmp(&(b.1 - target).abs()));
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
