//! Where the level of a series changes. Candidates are the best splits of seeded intervals (Kovács, Bühlmann, Li and
//! Munk, "Seeded binary segmentation", Biometrika 110 (2023) 249), with the noise taken from differences of neighbours,
//! which a step enters once. The weakest is then removed until all that remain reach a limit, with the noise taken from
//! the residuals around the levels that are left. The limit is calibrated on the whole procedure ([`crate::limit`]).

use crate::limit::limit;
use crate::noise::{alike, centre, mad, median, residual_alike, trimmed};

/// Points that each side of a change needs.
pub const MIN_SIDE: usize = 3;
/// The shortest series that is looked at.
pub const MIN_POINTS: usize = 2 * MIN_SIDE;
/// A candidate reaches this score with the noise of differences. Below every limit.
const CANDIDATE: f64 = 3.0;
/// Sides shorter than this must lie together: a step of few points is not one outlier that pulls their mean.
const TOGETHER: usize = 10;
/// Sides shorter than this weigh less: of two modes, the first or last three of ten points are all in one by chance.
const WHOLE: f64 = 5.0;
/// Values further than so many standard deviations from the median of their neighbours are outliers.
const CLIP: f64 = 2.5;
/// The points' own errors must be exceeded by so many standard errors (a two-sided p of 0.001).
pub(crate) const OWN: f64 = 3.3;
/// The autocorrelation of shorter series cannot be told from their steps and is left to the limit.
const CORRELATED: usize = 90;

/// A change of level as found, before its place is refined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    /// The first index of the new level.
    pub at: usize,
    /// The difference of the levels in standard errors, less for short sides.
    pub score: f64,
}

/// The noise of a series around its levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Around {
    /// The robust standard deviation of the points around their levels.
    pub sd: f64,
    /// The correlation of neighbours.
    pub rho: f64,
}

/// The standard deviation of residuals, and of those on either side of the levels, where these are larger.
#[derive(Debug, Clone, Copy)]
struct Noise {
    sd: f64,
    below: f64,
    above: f64,
}

/// A series with what every split of it needs.
struct Search<'v> {
    values: &'v [f64],
    /// Standard errors of the values; empty or as long as they.
    errors: &'v [Option<f64>],
    /// Their median.
    middle: f64,
    /// The values without outliers, less the median.
    clipped: Vec<f64>,
    /// Sums of the clipped values before each index.
    sums: Vec<f64>,
    /// The standard error of the mean of so many points, in standard deviations.
    error_of_mean: Vec<f64>,
    /// The factor of the score of a split with so many points on its shorter side.
    weight: Vec<f64>,
    /// The standard deviation by differences.
    sd: f64,
    /// Below this, noise is the rounding of numbers.
    least: f64,
}

impl<'v> Search<'v> {
    fn new(values: &'v [f64], errors: &'v [Option<f64>]) -> Self {
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
        Search { values, errors, middle, clipped, sums, error_of_mean, weight, sd, least }
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        (self.sums[to] - self.sums[from]) / (to - from) as f64
    }

    /// The score of a split at `at` of `from..to`, less for short sides, and for one on the side where noise is larger.
    fn score(&self, from: usize, at: usize, to: usize, noise: Noise) -> f64 {
        let (before, after) = (at - from, to - at);
        let up = (self.mean(at, to) > self.mean(from, at)) == (after < before);
        let sd = if up { noise.above } else { noise.below };
        self.plain_score(from, at, to, sd) * self.weight[before.min(after)]
    }

    /// The difference of the levels of `from..at` and `at..to` in standard errors.
    fn plain_score(&self, from: usize, at: usize, to: usize, sd: f64) -> f64 {
        let (b, a) = (at - from, to - at);
        let error = self.error_of_mean[b].hypot(self.error_of_mean[a]);
        let away = (self.mean(at, to) - self.mean(from, at)).abs();
        away / (sd * error)
    }

    /// The standard deviation of what lies below and above the levels between `cuts`, and of all.
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

    /// True where each short side of a split lies on its own side of the middle, and the points' own errors leave a
    /// difference.
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
            && (after - before).abs() >= OWN * error(from, at).hypot(error(at, to))
    }

    /// The best split inside `from..to`.
    fn strongest(&self, from: usize, to: usize) -> Option<Found> {
        let mut best: Option<Found> = None;
        for (a, b) in seeded(to - from) {
            for at in from + a + MIN_SIDE..=(from + b).saturating_sub(MIN_SIDE) {
                let score = self.plain_score(from + a, at, from + b, self.sd);
                if best.is_none_or(|s| score > s.score) {
                    best = Some(Found { at, score });
                }
            }
        }
        best
    }

    /// Every place that may be a change, in order.
    fn candidates(&self) -> Vec<usize> {
        let mut cuts = Vec::new();
        // A stack, not recursion: a series of steps everywhere must not end the program.
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

    /// Removes the weakest change until all reach `limit`; what is left, and the largest score that the weakest ever had.
    fn eliminate(&self, mut cuts: Vec<usize>, limit: f64) -> (Vec<Found>, f64) {
        let mut largest: f64 = 0.0;
        loop {
            let noise = self.noise(&cuts);
            let around = |i: usize| {
                let from = if i == 0 { 0 } else { cuts[i - 1] };
                (from, cuts[i], cuts.get(i + 1).copied().unwrap_or(self.values.len()))
            };
            let found: Vec<Found> = (0..cuts.len())
                .map(|i| {
                    let (from, at, to) = around(i);
                    let holds = self.holds(from, at, to);
                    let score = if holds { self.score(from, at, to, noise) } else { 0.0 };
                    Found { at, score }
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

/// The variance of the mean of `n` points of autoregressive noise of variance 1.
pub(crate) fn variance_of_mean(rho: f64, n: usize) -> f64 {
    let n = n.max(1) as f64;
    // Of short parts the sum of correlations ends early.
    (1.0 + rho) / (1.0 - rho) / n - 2.0 * rho * (1.0 - rho.powf(n)) / ((1.0 - rho) * n).powi(2)
}

/// `values` within `bound` of the median of five neighbours (Hampel): an outlier becomes no more than a far value, and a
/// step of [`MIN_SIDE`] points stays one.
fn clip(values: &[f64], bound: f64) -> Vec<f64> {
    let near = |i: usize| &values[i.saturating_sub(2)..(i + 3).min(values.len())];
    let clipped = values.iter().enumerate().map(|(i, v)| {
        let middle = median(near(i));
        v.clamp(middle - bound, middle + bound)
    });
    clipped.collect()
}

/// The intervals of 0..n: each layer shorter by √2, overlapping by half.
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

/// The largest limit at which `values` would have a change: what the limit is calibrated on.
pub fn largest_score(values: &[f64]) -> f64 {
    let search = Search::new(values, &[]);
    search.eliminate(search.candidates(), f64::INFINITY).1
}

/// The changes of a series and its noise.
pub(crate) struct Changes {
    /// The changes at the calibrated limit, in order.
    pub found: Vec<Found>,
    /// The noise around the levels between them.
    pub around: Around,
    /// The standard error of the mean of as many points as the series has, as far as the search could tell, times the root
    /// of their number: what [`crate::limit::visible`] is in units of.
    pub unit: f64,
}

/// The changes of `values`, with their own standard `errors` where there are any.
pub(crate) fn changes(values: &[f64], errors: &[Option<f64>]) -> Changes {
    let search = Search::new(values, errors);
    let mut found = Vec::new();
    if values.len() >= MIN_POINTS {
        found = search.eliminate(search.candidates(), limit(values.len())).0;
    }
    let cuts: Vec<usize> = found.iter().map(|f| f.at).collect();
    let points = values.len();
    let unit = search.noise(&cuts).sd * search.error_of_mean[points] * (points as f64).sqrt();
    Changes { found, around: around(values, &cuts), unit }
}

/// The autocorrelation used: lowered by one standard error (Bartlett: √((1 − ρ²)/n)), since the limit allows for what is
/// left, never negative (it would sharpen the test), below 0.9.
fn bounded(rho: f64, n: usize) -> f64 {
    (rho - ((1.0 - rho * rho).max(0.0) / n as f64).sqrt()).clamp(0.0, 0.9)
}

/// The noise around the levels between `cuts`.
fn around(values: &[f64], cuts: &[usize]) -> Around {
    let mut residuals = Vec::with_capacity(values.len());
    let mut from = 0;
    for to in cuts.iter().copied().chain([values.len()]) {
        let part = &values[from..to];
        let level = centre(part, mad(part, median(part)));
        residuals.extend(part.iter().map(|v| v - level));
        from = to;
    }
    let sd = mad(&residuals, 0.0);
    let sd = if sd > 0.0 { sd } else { spread(&residuals) };
    let bound = 3.0 * sd;
    let clipped: Vec<f64> = residuals.iter().map(|r| r.clamp(-bound, bound)).collect();
    Around { sd, rho: residual_alike(&clipped, cuts.len() + 1) }
}

fn spread(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len().max(1) as f64).sqrt()
}
