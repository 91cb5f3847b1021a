//! Weighted sums of squares that remain of the trials under a set of steps.

use super::model::DEGREES;

/// A trial: its block and the block's first trial, its commit's place among those measured, and its
/// value.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    pub block: usize,
    pub first: usize,
    pub place: usize,
    pub value: f64,
}

/// Returns the deviations of the values from their blocks' weighted means, and the weight of each
/// block.
pub(super) fn centered(
    trials: &[Trial],
    weights: &[f64],
    value: impl Fn(&Trial) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let blocks = trials.last().map_or(0, |t| t.block + 1);
    let (mut all, mut sums) = (vec![0.0; blocks], vec![0.0; blocks]);
    for (t, w) in trials.iter().zip(weights) {
        all[t.block] += w;
        sums[t.block] += w * value(t);
    }
    (trials.iter().map(|t| value(t) - sums[t.block] / all[t.block]).collect(), all)
}

/// Weighted sums over trials, with the mean of each block removed.
pub(super) struct BlockSums {
    pub weights: Vec<f64>,
    /// Matrix of cross terms between commits, row by row: trials of commits i and k in the same
    /// block contribute to entry (i, k).
    between: Vec<f64>,
    values: Vec<f64>,
    pub square: f64,
    /// −½ Σ ln(weight of a block).
    blocks: f64,
}

/// Cholesky factor of a symmetric matrix.
pub(super) struct Factor {
    n: usize,
    lower: Vec<f64>,
}

impl Factor {
    pub fn new(n: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                let own = of(i, j) - dot;
                lower[i * n + j] =
                    if i == j { own.max(1e-12).sqrt() } else { own / lower[j * n + j] };
            }
        }
        Factor { n, lower }
    }

    /// Returns half of the logarithm of the determinant.
    pub fn half_log(&self) -> f64 {
        (0..self.n).map(|i| self.lower[i * self.n + i].ln()).sum()
    }

    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (n, l) = (self.n, &self.lower);
        let mut x = right.to_vec();
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
            x[i] = (x[i] - dot) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
            x[i] = (x[i] - dot) / l[i * n + i];
        }
        x
    }

    /// Returns the quadratic form x·A⁻¹x.
    pub fn inverse_square(&self, x: &[f64]) -> f64 {
        dot(x, &self.solve(x))
    }

    /// Returns the square roots of the diagonal of the inverse.
    pub fn deviations(&self) -> Vec<f64> {
        let unit = |i| (0..self.n).map(|k| f64::from(u8::from(k == i))).collect::<Vec<f64>>();
        (0..self.n).map(|i| self.inverse_square(&unit(i)).sqrt()).collect()
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Squares that remain under the steps with the best-fitting sizes.
pub(super) struct StepFit {
    pub squares: f64,
    pub sizes: Vec<f64>,
    /// Cholesky factor of the precision matrix of the sizes, in units of the precision of the
    /// noise.
    pub precision: Factor,
    /// Half the log determinant for the commits' build deviations.
    pub half_log: f64,
    /// Level of each measured commit: the sum of the steps up to it and its build deviation.
    pub levels: Vec<f64>,
}

impl BlockSums {
    pub fn new(trials: &[Trial], places: usize, weights: Vec<f64>) -> Self {
        let n = places;
        let (away, of_block) = centered(trials, &weights, |t| t.value);
        let (mut between, mut values, mut square) = (vec![0.0; n * n], vec![0.0; n], 0.0);
        for ((t, w), away) in trials.iter().zip(&weights).zip(away) {
            values[t.place] += w * away;
            square += w * away * away;
            between[t.place * n + t.place] += w;
            // The trials of a block are consecutive.
            let same = trials[t.first..].iter().zip(&weights[t.first..]);
            for (o, v) in same.take_while(|(o, _)| o.block == t.block) {
                between[t.place * n + o.place] -= w * v / of_block[t.block];
            }
        }
        let blocks = -0.5 * of_block.iter().map(|w| w.ln()).sum::<f64>();
        BlockSums { weights, between, values, square, blocks }
    }

    /// Returns the term shared by all sizes and scales: the weights of the blocks, and the
    /// constants of the touching normal distributions.
    pub fn same(&self) -> f64 {
        let touch = |w: &f64| {
            let x = (DEGREES + 1.0) / w - DEGREES;
            0.5 * w * x - 0.5 * (DEGREES + 1.0) * (1.0 + x / DEGREES).ln()
        };
        self.blocks + self.weights.iter().map(touch).sum::<f64>()
    }

    /// Computes the remaining squares for build deviations of `tau` and noise of `sigma`. Each step
    /// is just before one of the places `steps`.
    pub fn left(&self, steps: &[usize], tau: f64, sigma: f64) -> StepFit {
        let n = self.values.len();
        let lambda = (tau / sigma).powi(2);
        let factor =
            Factor::new(n, |i, j| lambda * self.between[i * n + j] + f64::from(u8::from(i == j)));
        let scaled = |x: &[f64]| factor.solve(x).iter().map(|v| lambda * v).collect::<Vec<f64>>();
        let own = scaled(&self.values);
        let sum_after = |s: usize, i: usize| self.between[i * n + s..(i + 1) * n].iter().sum();
        let after: Vec<Vec<f64>> =
            steps.iter().map(|s| (0..n).map(|i| sum_after(*s, i)).collect()).collect();
        let taken: Vec<Vec<f64>> = after.iter().map(|a| scaled(a)).collect();
        let past = |of: &[f64], s: usize| of[s..].iter().sum::<f64>();
        let b: Vec<f64> =
            steps.iter().zip(&after).map(|(s, a)| past(&self.values, *s) - dot(a, &own)).collect();
        let precision =
            Factor::new(steps.len(), |i, j| past(&after[i], steps[j]) - dot(&after[i], &taken[j]));
        let sizes = precision.solve(&b);
        let squares = self.square - dot(&self.values, &own) - dot(&b, &sizes);
        let mut levels = own;
        for ((s, size), taken) in steps.iter().zip(&sizes).zip(&taken) {
            for (place, level) in levels.iter_mut().enumerate() {
                *level += size * (f64::from(u8::from(place >= *s)) - taken[place]);
            }
        }
        StepFit { squares, sizes, precision, half_log: factor.half_log(), levels }
    }
}
