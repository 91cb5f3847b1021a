//! Detects changes of the level of a series. Candidates are the best splits of seeded intervals
//! (Kovács, Bühlmann, Li and Munk, "Seeded binary segmentation", Biometrika 110 (2023) 249). Their
//! noise is estimated from differences of neighbours, in which a step appears only once. The
//! weakest candidate is then removed until all that remain reach a limit, with the noise estimated
//! from the residuals around the remaining levels. The limit is calibrated on the whole procedure
//! ([`crate::series::limit`]).

use crate::series::limit::{limit, raised};
use crate::series::noise::{alike, centre, mad, median, residual_alike, trimmed};

/// Minimum number of points on each side of a change.
pub const MIN_SIDE: usize = 3;
/// Minimum length of a series that is analysed.
pub const MIN_POINTS: usize = 2 * MIN_SIDE;
/// Minimum score of a candidate with the noise of differences. It is below every limit.
const CANDIDATE: f64 = 3.0;
/// The points of a side shorter than this must agree, so that a few points whose mean is pulled by
/// one outlier are not a step.
const TOGETHER: usize = 10;
/// Sides with fewer points than this get a lower weight: in bimodal noise, the first or last three
/// of ten points may all be in one mode by chance.
const WHOLE: f64 = 5.0;
/// Distance in standard deviations from the median of the neighbours beyond which a value is an
/// outlier.
const CLIP: f64 = 2.5;
/// A change must exceed this many standard errors of the points' own errors (a two-sided p of
/// 0.001).
const OWN: f64 = 3.3;
/// Minimum length for estimating the autocorrelation. In shorter series it cannot be distinguished
/// from steps, and the limit allows for it.
const CORRELATED: usize = 90;

/// A detected change of level, before its place is refined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DetectedStep {
    /// Index of the first point at the new level.
    pub at: usize,
    /// Difference of the levels in standard errors, reduced for short sides.
    pub score: f64,
}

/// The noise of a series around its levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LevelNoise {
    /// Robust standard deviation of the points around their levels.
    pub sd: f64,
    /// Correlation of neighbouring points (lag 1).
    pub rho: f64,
}

/// Standard deviation of the residuals, and of those below and above the levels if these are
/// larger.
#[derive(Debug, Clone, Copy)]
struct Noise {
    sd: f64,
    below: f64,
    above: f64,
}

/// A series with precomputed values for scoring every split of it.
struct Search<'v> {
    values: &'v [f64],
    /// Standard errors of the values; empty or as long as `values`.
    errors: &'v [Option<f64>],
    /// Minimum size of a change in standard errors of the points' own errors.
    own: f64,
    /// Median of the values.
    middle: f64,
    /// The values without outliers, minus the median.
    clipped: Vec<f64>,
    /// Sums of the clipped values before each index.
    sums: Vec<f64>,
    /// Standard error of the mean by number of points, in standard deviations.
    error_of_mean: Vec<f64>,
    /// Factor on the score of a split by the number of points on its shorter side.
    weight: Vec<f64>,
    /// Standard deviation estimated from differences.
    sd: f64,
    /// Lower limit of the noise, below which it is rounding error.
    least: f64,
}

impl<'v> Search<'v> {
    fn new(values: &'v [f64], errors: &'v [Option<f64>], family: usize) -> Self {
        let n = values.len();
        let least = values.iter().fold(0.0, |most: f64, v| most.max(v.abs())) * 1e-12;
        let rough = trimmed(values, 1).max(least);
        let middle = median(values);
        let mut clipped = clip(values, CLIP * rough);
        let rho = if n < CORRELATED { 0.0 } else { bounded(alike(&clipped), n) };
        // Differences of neighbours have the variance 2γ(1 − ρ).
        let sd = (trimmed(&clipped, 1) / (1.0 - rho).sqrt()).max(least);
        for v in &mut clipped {
            *v -= middle;
        }
        let mut sums = vec![0.0];
        for v in &clipped {
            sums.push(sums[sums.len() - 1] + v);
        }
        let error_of_mean = (0..=n).map(|m| variance_of_mean(rho, m).sqrt()).collect();
        let weight = (0..=n).map(|m| (m as f64 / WHOLE).powf(1.5).min(1.0)).collect();
        let own = own_limit(family);
        Search { values, errors, own, middle, clipped, sums, error_of_mean, weight, sd, least }
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        (self.sums[to] - self.sums[from]) / (to - from) as f64
    }

    /// Returns the score of a split at `at` of `from..to`. It is reduced for short sides, and uses
    /// the larger noise if the short side is on that side of the level.
    fn score(&self, from: usize, at: usize, to: usize, noise: Noise) -> f64 {
        let (before, after) = (at - from, to - at);
        let up = (self.mean(at, to) > self.mean(from, at)) == (after < before);
        let sd = if up { noise.above } else { noise.below };
        self.plain_score(from, at, to, sd) * self.weight[before.min(after)]
    }

    /// Returns the difference of the levels of `from..at` and `at..to` in standard errors.
    fn plain_score(&self, from: usize, at: usize, to: usize, sd: f64) -> f64 {
        let (b, a) = (at - from, to - at);
        let error = self.error_of_mean[b].hypot(self.error_of_mean[a]);
        let away = (self.mean(at, to) - self.mean(from, at)).abs();
        away / (sd * error)
    }

    /// Estimates the standard deviations of all residuals around the levels between `cuts`, and of
    /// those below and above the levels.
    fn noise(&self, cuts: &[usize]) -> Noise {
        let n = self.values.len();
        let (mut square, mut number, mut from) = ([0.0; 2], [0.0; 2], 0);
        for to in cuts.iter().copied().chain([n]) {
            let level = self.mean(from, to);
            for v in &self.clipped[from..to] {
                let side = usize::from(*v > level);
                square[side] += (v - level).powi(2);
                number[side] += 1.0;
            }
            from = to;
        }
        let free = n.saturating_sub(cuts.len() + 1).max(1) as f64;
        let sd = ((square[0] + square[1]) / free).sqrt().max(self.least);
        let side = |i: usize| {
            let share: f64 = square[i] / number[i] * n as f64 / free;
            if n < CORRELATED { sd } else { share.sqrt().max(sd) }
        };
        Noise { sd, below: side(0), above: side(1) }
    }

    /// Returns true if the points of each short side of a split lie on their own side of the
    /// middle, and the difference exceeds the points' own errors.
    fn holds(&self, from: usize, at: usize, to: usize) -> bool {
        let (before, after) = (self.mean(from, at), self.mean(at, to));
        let middle = self.middle + f64::midpoint(before, after);
        let together = |from: usize, to: usize, above: bool| {
            let own = self.values[from..to].iter().filter(|v| (**v > middle) == above).count();
            to - from >= TOGETHER || own * 5 >= (to - from) * 4
        };
        let error = |from: usize, to: usize| {
            let own = self.errors.get(from..to).unwrap_or(&[]);
            own.iter().flatten().map(|e| e * e).sum::<f64>().sqrt() / (to - from) as f64
        };
        together(from, at, before > after)
            && together(at, to, after > before)
            && (after - before).abs() >= self.own * error(from, at).hypot(error(at, to))
    }

    /// Returns the best split inside `from..to`.
    fn strongest(&self, from: usize, to: usize) -> Option<DetectedStep> {
        let mut best: Option<DetectedStep> = None;
        for (a, b) in seeded(to - from) {
            for at in from + a + MIN_SIDE..=(from + b).saturating_sub(MIN_SIDE) {
                let score = self.plain_score(from + a, at, from + b, self.sd);
                if best.is_none_or(|s| score > s.score) {
                    best = Some(DetectedStep { at, score });
                }
            }
        }
        best
    }

    /// Returns every place that may be a change, in order.
    fn candidates(&self) -> Vec<usize> {
        let mut cuts = Vec::new();
        // Uses an explicit stack instead of recursion, because a series with a step at every point
        // would overflow the call stack.
        let mut open = vec![(0, self.values.len())];
        while let Some((from, to)) = open.pop() {
            if let Some(found) = self.strongest(from, to)
                && found.score >= CANDIDATE
            {
                cuts.push(found.at);
                open.push((from, found.at));
                open.push((found.at, to));
            }
        }
        cuts.sort_unstable();
        cuts
    }

    /// Removes the weakest change until all reach `limit`. Returns the remaining changes and the
    /// largest score that the weakest one ever had.
    fn eliminate(&self, mut cuts: Vec<usize>, limit: f64) -> (Vec<DetectedStep>, f64) {
        let mut largest: f64 = 0.0;
        loop {
            let noise = self.noise(&cuts);
            let around = |i: usize| {
                let from = if i == 0 { 0 } else { cuts[i - 1] };
                (from, cuts[i], cuts.get(i + 1).copied().unwrap_or(self.values.len()))
            };
            let found: Vec<DetectedStep> = (0..cuts.len())
                .map(|i| {
                    let (from, at, to) = around(i);
                    let holds = self.holds(from, at, to);
                    let score = if holds { self.score(from, at, to, noise) } else { 0.0 };
                    DetectedStep { at, score }
                })
                .collect();
            let weakest =
                (0..found.len()).min_by(|a, b| found[*a].score.total_cmp(&found[*b].score));
            let Some(weakest) = weakest else { return (found, largest) };
            largest = largest.max(found[weakest].score);
            if found[weakest].score >= limit {
                return (found, largest);
            }
            cuts.remove(weakest);
        }
    }
}

/// Returns the limit of a change in standard errors of the points' own errors, for one of `family`
/// series.
pub(crate) fn own_limit(family: usize) -> f64 {
    raised(OWN, 1e9, family)
}

/// Returns the variance of the mean of `n` points of autoregressive noise of variance 1.
pub(crate) fn variance_of_mean(rho: f64, n: usize) -> f64 {
    let n = n.max(1) as f64;
    // The second term corrects for short parts, in which the sum of correlations ends early.
    (1.0 + rho) / (1.0 - rho) / n - 2.0 * rho * (1.0 - rho.powf(n)) / ((1.0 - rho) * n).powi(2)
}

/// Limits `values` to `bound` around the median of five neighbours (Hampel). An outlier becomes a
/// moderately distant value, and a step of [`MIN_SIDE`] points remains one.
fn clip(values: &[f64], bound: f64) -> Vec<f64> {
    let near = |i: usize| &values[i.saturating_sub(2)..(i + 3).min(values.len())];
    let clipped = values.iter().enumerate().map(|(i, v)| {
        let middle = median(near(i));
        v.clamp(middle - bound, middle + bound)
    });
    clipped.collect()
}

/// Returns the seeded intervals of 0..n: each layer is shorter by √2 and its intervals overlap by
/// half.
fn seeded(n: usize) -> Vec<(usize, usize)> {
    let mut out = vec![(0, n)];
    let mut length = n as f64;
    while length > 2.0 * MIN_POINTS as f64 {
        length /= std::f64::consts::SQRT_2;
        let count = 2 * (n as f64 / length).ceil() as usize - 1;
        let shift = (n as f64 - length) / (count.max(2) - 1) as f64;
        for i in 0..count {
            let from = (i as f64 * shift) as usize;
            let to = ((i as f64 * shift + length).ceil() as usize).min(n);
            out.push((from, to));
        }
    }
    out
}

/// Returns the largest limit at which `values` would have a change. The limit is calibrated on this
/// score.
pub fn largest_score(values: &[f64]) -> f64 {
    let search = Search::new(values, &[], 1);
    search.eliminate(search.candidates(), f64::INFINITY).1
}

/// Changes of a series, and its noise.
pub(crate) struct Changes {
    /// Changes at the calibrated limit, in order.
    pub found: Vec<DetectedStep>,
    /// Noise around the levels between them.
    pub around: LevelNoise,
    /// Standard error of the mean of the whole series, as estimated by the search, times the square
    /// root of its length: the unit of [`crate::series::limit::visible`].
    pub unit: f64,
}

/// Finds the changes of `values`, one of `family` series, given their own standard `errors` if
/// known.
pub(crate) fn changes(values: &[f64], errors: &[Option<f64>], family: usize) -> Changes {
    let search = Search::new(values, errors, family);
    let mut found = Vec::new();
    if values.len() >= MIN_POINTS {
        found = search.eliminate(search.candidates(), limit(values.len(), family)).0;
    }
    let cuts: Vec<usize> = found.iter().map(|f| f.at).collect();
    let points = values.len();
    let unit = search.noise(&cuts).sd * search.error_of_mean[points] * (points as f64).sqrt();
    Changes { found, around: around(values, &cuts), unit }
}

/// Limits the autocorrelation that is used. It is lowered by one standard error (Bartlett: √((1 −
/// ρ²)/n)), because the limit allows for the rest. It is never negative, which would sharpen the
/// test, and at most 0.9.
fn bounded(rho: f64, n: usize) -> f64 {
    (rho - ((1.0 - rho * rho).max(0.0) / n as f64).sqrt()).clamp(0.0, 0.9)
}

/// Estimates the noise around the levels between `cuts`.
fn around(values: &[f64], cuts: &[usize]) -> LevelNoise {
    let mut residuals = Vec::with_capacity(values.len());
    let mut from = 0;
    for to in cuts.iter().copied().chain([values.len()]) {
        let part = &values[from..to];
        let level = centre(part, mad(part, median(part)));
        residuals.extend(part.iter().map(|v| v - level));
        from = to;
    }
    let sd = mad(&residuals, 0.0);
    let squares: f64 = residuals.iter().map(|v| v * v).sum();
    let sd = if sd > 0.0 { sd } else { (squares / residuals.len().max(1) as f64).sqrt() };
    let bound = 3.0 * sd;
    let clipped: Vec<f64> = residuals.iter().map(|r| r.clamp(-bound, bound)).collect();
    LevelNoise { sd, rho: residual_alike(&clipped, cuts.len() + 1) }
}
