//! Where the level of a series changes: seeded intervals, normal scores, a likelihood ratio that knows
//! of autoregressive noise, and a limit calibrated by simulation ([`crate::limit`]).
//!
//! Intervals: Kovács, Bühlmann, Li and Munk, "Seeded binary segmentation", Biometrika 110 (2023) 249.
//! In each, values become normal scores of their ranks, so that neither outliers nor skew nor a second
//! mode are steps; these are whitened with the series' autocorrelation (Cochrane and Orcutt, JASA 44
//! (1949) 32) and the best split is taken by the likelihood ratio of a normal step with unknown variance.

use std::collections::HashMap;

use crate::limit::limit;
use crate::noise::{alike, centre, mad, residual_alike, score_table, scores};

/// Points that each side of a change needs.
pub const MIN_SIDE: usize = 3;
/// The shortest interval that is looked at.
const SHORTEST: usize = 8;

/// A change of level as found, before its place is refined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    /// The first index of the new level.
    pub at: usize,
    /// The root of the likelihood ratio.
    pub score: f64,
}

/// Series up to so many points are also split by their values as they are: the ranks of a few points
/// cannot say more than that all of one side are larger.
const SHORT: usize = 20;

/// The tables and buffers of one detection.
struct Work {
    /// Whether values count beside their ranks.
    short: bool,
    tables: HashMap<usize, Vec<f64>>,
    order: Vec<u32>,
    scored: Vec<f64>,
}

impl Work {
    /// For a series of so many points.
    fn new(points: usize) -> Self {
        Work {
            short: points <= SHORT,
            tables: HashMap::new(),
            order: Vec::new(),
            scored: Vec::new(),
        }
    }
}

/// The intervals of 0..n: each layer shorter by √2, overlapping by half.
fn seeded(n: usize) -> Vec<(usize, usize)> {
    let mut out = vec![(0, n)];
    let mut length = n as f64;
    while length > 2.0 * SHORTEST as f64 {
        length /= std::f64::consts::SQRT_2;
        let count = 2 * (n as f64 / length).ceil() as usize - 1;
        let shift = (n as f64 - length) / (count.max(2) - 1) as f64;
        for i in 0..count {
            let from = (i as f64 * shift) as usize;
            let to = ((i as f64 * shift + length).ceil() as usize).min(n);
            if to - from >= SHORTEST {
                out.push((from, to));
            }
        }
    }
    out
}

/// The best split of `values` and the root of its likelihood ratio, for a lag-1 correlation `rho`.
fn best_split(values: &[f64], rho: f64, work: &mut Work) -> Option<Found> {
    let n = values.len();
    if n < 2 * MIN_SIDE {
        return None;
    }
    let table = work.tables.entry(n).or_insert_with(|| score_table(n));
    scores(values, table, &mut work.order, &mut work.scored);
    let by_rank = split(&work.scored, rho);
    if !work.short {
        return by_rank;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let plain: Vec<f64> = values.iter().map(|v| v - mean).collect();
    by_rank.into_iter().chain(split(&plain, rho)).max_by(|a, b| a.score.total_cmp(&b.score))
}

/// The best split of values around 0.
fn split(z: &[f64], rho: f64) -> Option<Found> {
    let n = z.len();
    // Whitened: the first value as it is, then innovations of unit variance. A constant is whitened to
    // (1, a, a, ...), a step at k to (0, ..., 0, 1/s, a, a, ...).
    let s = (1.0 - rho * rho).sqrt();
    let a = (1.0 - rho) / s;
    let white = |i: usize| if i == 0 { z[0] } else { (z[i] - rho * z[i - 1]) / s };
    let (mut sum_all, mut square) = (0.0, 0.0);
    for i in 0..n {
        let w = white(i);
        sum_all += if i == 0 { w } else { a * w };
        square += w * w;
    }
    let cc = 1.0 + (n - 1) as f64 * a * a;
    let around = square - sum_all * sum_all / cc;
    let mut best: Option<(f64, usize)> = None;
    // Σ a·w over i > k, from the right.
    let mut right = 0.0;
    for k in (MIN_SIDE..n).rev() {
        let w = white(k);
        if n - k >= MIN_SIDE {
            let later = (n - k - 1) as f64;
            let hw = w / s + right;
            let hc = a / s + later * a * a;
            let hh = 1.0 / (s * s) + later * a * a;
            let free = hh - hc * hc / cc;
            let t = (hw - hc * sum_all / cc).powi(2) / free;
            if best.is_none_or(|b| t > b.0) {
                best = Some((t, k));
            }
        }
        right += a * w;
    }
    let (explained, at) = best?;
    // Perfect separation leaves no residual but what ranks leave; the bound keeps the logarithm finite.
    let left = (around - explained).max(around * 1e-9);
    if around <= f64::MIN_POSITIVE {
        return None;
    }
    let score = ((n as f64 - 2.0).max(1.0) * (around / left).ln()).max(0.0).sqrt();
    Some(Found { at, score })
}

/// The strongest change inside `from..to`.
fn strongest(values: &[f64], from: usize, to: usize, rho: f64, work: &mut Work) -> Option<Found> {
    if to - from < SHORTEST {
        return None;
    }
    let mut best: Option<Found> = None;
    for (a, b) in seeded(to - from) {
        if let Some(found) = best_split(&values[from + a..from + b], rho, work)
            && best.is_none_or(|s| found.score > s.score)
        {
            best = Some(Found { at: from + a + found.at, score: found.score });
        }
    }
    best
}

/// The largest score of a series for a given autocorrelation: what the limit is calibrated on.
pub fn largest_score(values: &[f64]) -> f64 {
    let rho = bounded(first_alike(values), values.len());
    strongest(values, 0, values.len(), rho, &mut Work::new(values.len())).map_or(0.0, |f| f.score)
}

fn split_all(
    values: &[f64],
    from: usize,
    to: usize,
    rho: f64,
    limit: f64,
    work: &mut Work,
    out: &mut Vec<Found>,
) {
    // A stack, not recursion: a series of steps everywhere must not end the program.
    let mut open = vec![(from, to)];
    while let Some((from, to)) = open.pop() {
        if let Some(found) = strongest(values, from, to, rho, work)
            && found.score >= limit
        {
            out.push(found);
            open.push((from, found.at));
            open.push((found.at, to));
        }
    }
    out.sort_unstable_by_key(|f| f.at);
}

fn first_alike(values: &[f64]) -> f64 {
    let mut scored = Vec::new();
    scores(values, &score_table(values.len()), &mut Vec::new(), &mut scored);
    alike(&scored)
}

/// The autocorrelation used: never negative (it would sharpen the test), raised by one standard error
/// (Bartlett: √((1 − ρ²)/n)), below 0.9.
fn bounded(rho: f64, n: usize) -> f64 {
    let raised = rho + ((1.0 - rho * rho).max(0.0) / n.max(1) as f64).sqrt();
    raised.clamp(0.0, 0.9)
}

/// The noise of a series around its levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Around {
    /// The robust standard deviation of the points around their levels.
    pub sd: f64,
    /// The correlation of neighbours.
    pub rho: f64,
}

/// The level of each part between `cuts`, and the noise around them.
pub(crate) fn levels(values: &[f64], cuts: &[usize]) -> (Vec<f64>, Around) {
    let mut ends = vec![0];
    ends.extend_from_slice(cuts);
    ends.push(values.len());
    let mut residuals = Vec::with_capacity(values.len());
    let mut level = Vec::new();
    for pair in ends.windows(2) {
        let part = &values[pair[0]..pair[1]];
        let rough = crate::noise::median(part);
        let m = centre(part, mad(part, rough));
        level.push(m);
        residuals.extend(part.iter().map(|v| v - m));
    }
    let sd = mad(&residuals, 0.0);
    let sd = if sd > 0.0 { sd } else { spread(&residuals) };
    let bound = 3.0 * sd;
    let clipped: Vec<f64> = residuals.iter().map(|r| r.clamp(-bound, bound)).collect();
    (level, Around { sd, rho: residual_alike(&clipped, cuts.len() + 1) })
}

fn spread(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// The changes of `values`, at the calibrated limit, and the noise around the levels between them.
pub(crate) fn changes(values: &[f64]) -> (Vec<Found>, Around) {
    let n = values.len();
    let limit = limit(n);
    let mut work = Work::new(n);
    let mut rho = bounded(first_alike(values), n);
    let mut found = Vec::new();
    for _ in 0..2 {
        found.clear();
        split_all(values, 0, n, rho, limit, &mut work, &mut found);
        let cuts: Vec<usize> = found.iter().map(|f| f.at).collect();
        let (_, around) = levels(values, &cuts);
        let next = bounded(around.rho, n);
        if (next - rho).abs() < 0.02 {
            break;
        }
        rho = next;
    }
    prune(values, rho, limit, &mut work, &mut found);
    let cuts: Vec<usize> = found.iter().map(|f| f.at).collect();
    let (_, around) = levels(values, &cuts);
    (found, around)
}

/// Takes out changes that do not reach the limit between their neighbours, the weakest first.
fn prune(values: &[f64], rho: f64, limit: f64, work: &mut Work, found: &mut Vec<Found>) {
    let mut again = |found: &mut [Found], i: usize| {
        let from = if i == 0 { 0 } else { found[i - 1].at };
        let to = found.get(i + 1).map_or(values.len(), |f| f.at);
        found[i].score = strongest(values, from, to, rho, work).map_or(0.0, |f| f.score);
    };
    (0..found.len()).for_each(|i| again(found, i));
    while let Some(weakest) = (0..found.len())
        .min_by(|a, b| found[*a].score.total_cmp(&found[*b].score))
        .filter(|i| found[*i].score < limit)
    {
        found.remove(weakest);
        for neighbour in [weakest.checked_sub(1), Some(weakest)].into_iter().flatten() {
            if neighbour < found.len() {
                again(found, neighbour);
            }
        }
    }
}
