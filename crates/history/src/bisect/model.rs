//! How likely the trials are under each place of the step.
//!
//! A trial is b + u + δ·(at or after the step) + ε: b what its block shares (any value), u what its revision's
//! build has for itself and keeps in every trial (normal, of an unknown size τ), ε noise as Student's t with
//! [`DEGREES`] degrees of freedom of an unknown scale σ. b, u and ε are integrated out; σ has Jeffreys' prior,
//! τ the one of [`BUILDS`]. The t distribution is bounded from below by the normal one that touches it
//! (Jaakkola and Jordan, Stat. Comput. 10 (2000) 25), fitted for each place by itself, so that a trial that
//! is wild for one place may be what speaks for another.

/// Sizes of the step that are considered, as multiples of the margin.
const SIZES: usize = 25;
/// Few enough that a trial in some thousand may lie anywhere.
const DEGREES: f64 = 4.0;
/// What builds of one program differ by for themselves (layout, order of linking), as a standard deviation of
/// ln(metric), and how likely each is before a trial. Identical builds have none, and large ones are rare.
const BUILDS: [(f64, f64); 4] = [(0.0, 0.2), (0.003, 0.35), (0.006, 0.35), (0.012, 0.1)];
/// The one with which weights are fitted.
const USUAL: f64 = 0.005;
/// How far behind the best, in ln(likelihood), a place is not looked at more closely.
const FAR: f64 = 20.0;
/// Scales of noise around the best fit: so many on either side of it, each so much times the one before.
const SCALES: (i32, f64) = (2, 1.35);
/// Fits of the weights; they settle in three or four.
const ROUNDS: usize = 4;

/// Blocks of (commit, ln(metric)).
pub(super) type Blocks = [Vec<(usize, f64)>];

/// Weights that are not yet shares of 1.
pub(super) struct Fit {
    pub none: f64,
    /// By commit 1..=commits.
    pub commits: Vec<f64>,
    /// Σ weight × size, of all commits.
    pub size: f64,
    /// τ²/σ², averaged.
    pub builds: f64,
}

/// A trial: its block, its commit's place among those measured, its value.
#[derive(Clone, Copy)]
struct Trial {
    block: usize,
    place: usize,
    value: f64,
}

struct Data {
    trials: Vec<Trial>,
    blocks: usize,
    /// The commits that were measured, in order.
    measured: Vec<usize>,
    sizes: Vec<f64>,
    /// The smallest scale of noise: identical values are no proof of none.
    floor: f64,
}

/// What the trials sum up to, each with its weight, every block's own mean taken out.
struct Sums {
    weights: Vec<f64>,
    /// Between the commits, row by row; a trial of commit i beside one of commit k.
    between: Vec<f64>,
    values: Vec<f64>,
    square: f64,
    /// −½ Σ ln(weight of a block).
    blocks: f64,
}

/// Cholesky's factor of 1 + λG.
struct Factor {
    n: usize,
    lower: Vec<f64>,
}

impl Factor {
    fn new(between: &[f64], n: usize, lambda: f64) -> Self {
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                let own = lambda * between[i * n + j] + if i == j { 1.0 } else { 0.0 } - dot;
                lower[i * n + j] =
                    if i == j { own.max(1e-12).sqrt() } else { own / lower[j * n + j] };
            }
        }
        Factor { n, lower }
    }

    /// Half of the determinant's logarithm.
    fn half_log(&self) -> f64 {
        (0..self.n).map(|i| self.lower[i * self.n + i].ln()).sum()
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
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
}

/// The squares that are left for a size δ of the step are `a − 2bδ + cδ²`, over 2σ².
struct Left {
    a: f64,
    b: f64,
    c: f64,
    half_log: f64,
    /// What the commits have for themselves: `own − δ·step`.
    own: Vec<f64>,
    step: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Sums {
    fn new(data: &Data, weights: Vec<f64>) -> Self {
        let n = data.measured.len();
        let mut of_block = vec![(0.0, 0.0); data.blocks];
        for (t, w) in data.trials.iter().zip(&weights) {
            of_block[t.block].0 += w;
            of_block[t.block].1 += w * t.value;
        }
        let (mut between, mut values, mut square) = (vec![0.0; n * n], vec![0.0; n], 0.0);
        for (t, w) in data.trials.iter().zip(&weights) {
            let (all, sum) = of_block[t.block];
            let away = t.value - sum / all;
            values[t.place] += w * away;
            square += w * away * away;
            between[t.place * n + t.place] += w;
        }
        for (i, (t, w)) in data.trials.iter().zip(&weights).enumerate() {
            // A block's trials follow one another.
            let first = data.trials[..=i].partition_point(|o| o.block < t.block);
            let same = data.trials[first..].iter().zip(&weights[first..]);
            for (o, v) in same.take_while(|(o, _)| o.block == t.block) {
                between[t.place * n + o.place] -= w * v / of_block[t.block].0;
            }
        }
        let blocks = -0.5 * of_block.iter().map(|b| b.0.ln()).sum::<f64>();
        Sums { weights, between, values, square, blocks }
    }

    /// What every size and scale has: the blocks' weights, and where the normal distributions touch.
    fn same(&self) -> f64 {
        let touch = |w: &f64| {
            let x = (DEGREES + 1.0) / w - DEGREES;
            0.5 * w * x - 0.5 * (DEGREES + 1.0) * (1.0 + x / DEGREES).ln()
        };
        self.blocks + self.weights.iter().map(touch).sum::<f64>()
    }

    /// With commits' own deviations of `tau` and noise of `sigma`; the step is after the first `before` of
    /// the measured commits.
    fn left(&self, before: usize, tau: f64, sigma: f64) -> Left {
        let n = self.values.len();
        let lambda = (tau / sigma).powi(2);
        let after: Vec<f64> =
            (0..n).map(|i| self.between[i * n + before..(i + 1) * n].iter().sum()).collect();
        let (half_log, own, step) = if lambda > 0.0 {
            let factor = Factor::new(&self.between, n, lambda);
            let scaled = |x: &[f64]| factor.solve(x).iter().map(|v| lambda * v).collect();
            (factor.half_log(), scaled(&self.values), scaled(&after))
        } else {
            (0.0, vec![0.0; n], vec![0.0; n])
        };
        Left {
            a: self.square - dot(&self.values, &own),
            b: self.values[before..].iter().sum::<f64>() - dot(&after, &own),
            c: after[before..].iter().sum::<f64>() - dot(&after, &step),
            half_log,
            own,
            step,
        }
    }
}

impl Data {
    fn new(blocks: &Blocks, margin: f64) -> Self {
        let mut measured: Vec<usize> = blocks.iter().flatten().map(|t| t.0).collect();
        measured.sort_unstable();
        measured.dedup();
        let mut trials = Vec::new();
        let mut count = 0;
        for block in blocks.iter().filter(|b| b.len() > 1) {
            for (commit, value) in block {
                let place = measured.partition_point(|m| m < commit);
                trials.push(Trial { block: count, place, value: *value });
            }
            count += 1;
        }
        let sizes =
            (0..SIZES).map(|i| margin * 64f64.powf(i as f64 / (SIZES - 1) as f64)).collect();
        Data { trials, blocks: count, measured, sizes, floor: 0.01 * margin }
    }

    /// Trials beyond one a block.
    fn free(&self) -> f64 {
        (self.trials.len() - self.blocks) as f64
    }

    /// The weights and the scale that fit best when the step is after the first `before` measured commits.
    fn weigh(&self, before: usize) -> (Sums, f64) {
        let none = before == self.measured.len();
        let free = self.free().max(1.0);
        let mut sums = Sums::new(self, vec![1.0; self.trials.len()]);
        let mut sigma = (sums.square / free).sqrt().max(self.floor);
        for _ in 0..ROUNDS {
            let left = sums.left(before, USUAL, sigma);
            let size = if none { 0.0 } else { self.size(&left) };
            let rest: Vec<f64> = self
                .trials
                .iter()
                .map(|t| {
                    let step = if t.place >= before { size } else { 0.0 };
                    t.value - step - left.own[t.place] + size * left.step[t.place]
                })
                .collect();
            let mut means = vec![(0.0, 0.0); self.blocks];
            for ((t, r), w) in self.trials.iter().zip(&rest).zip(&sums.weights) {
                means[t.block].0 += w;
                means[t.block].1 += w * r;
            }
            let away: Vec<f64> = self
                .trials
                .iter()
                .zip(&rest)
                .map(|(t, r)| (r - means[t.block].1 / means[t.block].0).powi(2))
                .collect();
            sigma = (dot(&sums.weights, &away) / free).sqrt().max(self.floor);
            let weights =
                away.iter().map(|r| (DEGREES + 1.0) / (DEGREES + r / (sigma * sigma))).collect();
            sums = Sums::new(self, weights);
        }
        (sums, sigma)
    }

    /// ln(likelihood) at the best fit alone.
    fn rough(&self, before: usize, (sums, sigma): &(Sums, f64)) -> f64 {
        let left = sums.left(before, USUAL, *sigma);
        let d = if before == self.measured.len() { 0.0 } else { self.size(&left) };
        let squares = left.a - 2.0 * d * left.b + d * d * left.c;
        sums.same() - left.half_log - self.free() * sigma.ln() - squares / (2.0 * sigma * sigma)
    }

    /// The size that fits best.
    fn size(&self, left: &Left) -> f64 {
        let best = if left.c > 0.0 { left.b / left.c } else { 0.0 };
        best.clamp(self.sizes[0], self.sizes[SIZES - 1])
    }

    /// ln(likelihood) for each size, with τ²/σ² averaged, when the step is after the first `before` measured commits; all the same
    /// when that is all of them.
    fn likelihood(&self, before: usize, (sums, best): &(Sums, f64)) -> Vec<Likelihood> {
        let none = before == self.measured.len();
        let same = sums.same();
        let free = self.free();
        let mut terms: Vec<Vec<(f64, f64)>> = vec![Vec::new(); if none { 1 } else { SIZES }];
        for (tau, prior) in BUILDS {
            for k in -SCALES.0..=SCALES.0 {
                let sigma = (*best * SCALES.1.powi(k)).max(self.floor);
                let left = sums.left(before, tau, sigma);
                let same = same + prior.ln() - left.half_log - free * sigma.ln();
                for (of, d) in terms.iter_mut().zip(if none { &[0.0][..] } else { &self.sizes }) {
                    let squares = (left.a - 2.0 * d * left.b + d * d * left.c).max(0.0);
                    let log = same - squares / (2.0 * sigma * sigma);
                    of.push((log, (tau / sigma).powi(2)));
                }
            }
        }
        terms.iter().map(|of| Likelihood::new(of)).collect()
    }
}

/// Of one place and one size of the step.
struct Likelihood {
    log: f64,
    builds: f64,
}

impl Likelihood {
    /// Over all scales: (ln, τ²/σ²).
    fn new(terms: &[(f64, f64)]) -> Self {
        let most = terms.iter().map(|t| t.0).fold(f64::NEG_INFINITY, f64::max);
        let all: f64 = terms.iter().map(|t| (t.0 - most).exp()).sum();
        let builds: f64 = terms.iter().map(|t| t.1 * (t.0 - most).exp()).sum();
        Likelihood { log: most + all.ln(), builds: builds / all }
    }
}

/// The weight of every commit, and of none: half of the prior says none, the rest is shared by the commits
/// and, on a logarithmic scale, by the sizes.
pub(super) fn fit(blocks: &Blocks, commits: usize, margin: f64) -> Fit {
    let data = Data::new(blocks, margin);
    let share = 0.5 / (commits.max(1) * SIZES) as f64;
    if data.trials.is_empty() {
        let commits = vec![share * SIZES as f64; commits];
        return Fit { none: 0.5, commits, size: 0.0, builds: 0.1 };
    }
    let m = data.measured.len();
    // After the first 1..=m of the measured commits; the good end is before any step.
    let fits: Vec<(Sums, f64)> = (1..=m).map(|before| data.weigh(before)).collect();
    let rough: Vec<f64> = fits.iter().zip(1..).map(|(f, before)| data.rough(before, f)).collect();
    let best = rough.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // A place that is so far behind will not be the answer.
    let far = |i: usize| i + 1 < m && rough[i] < best - FAR;
    let found: Vec<Vec<Likelihood>> = fits
        .iter()
        .enumerate()
        .map(|(i, fit)| if far(i) { Vec::new() } else { data.likelihood(i + 1, fit) })
        .collect();
    let most = found.iter().flatten().map(|l| l.log).fold(f64::NEG_INFINITY, f64::max);
    let unseen = &found[m - 1][0];
    let none = (unseen.log - most).exp();
    let mut out = Fit { none: 0.5 * none, commits: Vec::new(), size: 0.0, builds: 0.0 };
    let mut weights = 0.0;
    let mut builds = 0.5 * none * unseen.builds;
    for commit in 1..=commits {
        let before = data.measured.partition_point(|c| *c < commit);
        // A step that no measured commit has, or all have, is as likely as none.
        let seen = (1..m).contains(&before);
        let mut weight = 0.0;
        for (i, d) in data.sizes.iter().enumerate() {
            let Some(of) = (if seen { found[before - 1].get(i) } else { Some(unseen) }) else {
                break;
            };
            let one = share * (of.log - most).exp();
            weight += one;
            out.size += one * d;
            builds += one * of.builds;
        }
        out.commits.push(weight);
        weights += weight;
    }
    out.builds = builds / (out.none + weights);
    out
}
