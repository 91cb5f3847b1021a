//! The probability of the trials under each set of steps.
//!
//! A trial is b + u + Σ δ·(at or after a step) + ε. b is shared by its block (any value). u is the
//! deviation of its revision's build, the same in every trial (normal, of unknown size τ). ε is
//! noise, Student's t with [`DEGREES`] degrees of freedom and unknown scale σ. b, u, ε and the
//! sizes δ are integrated out. σ has Jeffreys' prior, τ the one of [`BUILDS`], |δ| is uniform on a
//! logarithmic scale, and both signs are equally likely. The t distribution is bounded from below
//! by the normal distribution that touches it (Jaakkola and Jordan, Stat. Comput. 10 (2000) 25).
//! The bound is fitted separately for each set, because a trial that is an outlier under one set
//! may be the evidence for another.
//!
//! There are too many sets to weigh all of them. The likely ones and their neighbours are visited,
//! best first, down to [`FAR`] below the best (Occam's window: Madigan and Raftery, J. Am. Stat.
//! Assoc. 89 (1994) 1535).

use std::collections::HashSet;

use crate::comparison::estimate::Estimate;
use crate::distribution::normal_tail;

use super::sums::{BlockSums, Trial, centered, dot};
use super::{Posterior, SearchScope};

/// Prior odds of steps, shared equally by all commits. As many are expected for the worse as for
/// the better.
pub(super) const EXPECTED: f64 = 2.0;
/// Number of intervals of sizes, of equal length on a logarithmic scale; any size within an
/// interval is equally likely.
const SIZES: usize = 12;
/// Largest size as a multiple of the margin. It grows to twice the largest difference within a
/// block.
const LARGEST: f64 = 64.0;
/// Degrees of freedom of the noise: few enough that one trial in some thousand may lie anywhere.
pub(super) const DEGREES: f64 = 4.0;
/// Deviations between builds of one program (layout, link order) as a standard deviation of
/// ln(metric), each with its prior probability. Identical builds have none, and large deviations
/// are rare.
const BUILDS: [(f64, f64); 4] = [(0.0, 0.2), (0.003, 0.35), (0.006, 0.35), (0.012, 0.1)];
/// Build deviation for which the weights are fitted.
const USUAL: f64 = 0.005;
/// Distance from the best set, in ln(probability), beyond which a set is not examined further.
const FAR: f64 = 10.0;
/// Size of a step in standard errors from which backward elimination keeps it.
const CLEAR: f64 = 3.0;
/// Maximum number of sets that are visited.
const MOST: usize = 300;
/// Scales of noise around the best fit: the number on either side of it, and the factor between
/// neighbours.
const SCALES: (i32, f64) = (2, 1.35);
/// Maximum number of fits of the weights, and the relative change of the scale at which they have
/// converged. A set fitted less well than others would look less likely for that reason alone.
const ROUNDS: (usize, f64) = (20, 0.01);

/// Blocks of (commit, ln(metric)).
pub(super) type Blocks = [Vec<(usize, f64)>];

struct Data {
    trials: Vec<Trial>,
    blocks: usize,
    /// Measured commits in order.
    measured: Vec<usize>,
    /// Boundaries of the intervals of sizes.
    sizes: Vec<f64>,
    /// Lower limit of the noise scale: identical values do not prove that there is no noise.
    floor: f64,
    commits: usize,
}

/// A set of steps, each just before a place among the measured commits, with the weights of the
/// trials that fit it.
struct Steps {
    places: Vec<usize>,
    sums: BlockSums,
    sigma: f64,
    /// ln(probability) at the best fit only.
    rough: f64,
    /// True once the neighbours were visited.
    expanded: bool,
}

/// Likelihood of one set of steps, at one scale of noise and of builds or averaged over all.
struct Likelihood {
    log: f64,
    builds: f64,
    /// Probability of each step to be one for the worse.
    worse: Vec<f64>,
}

/// Normalizes log weights to shares that add up to 1. Returns the shares and the logarithm of the
/// sum.
fn shares(of: &[Likelihood]) -> (Vec<f64>, f64) {
    let most = of.iter().map(|l| l.log).fold(f64::MIN, f64::max);
    let all: f64 = of.iter().map(|l| (l.log - most).exp()).sum();
    (of.iter().map(|l| (l.log - most).exp() / all).collect(), most + all.ln())
}

impl Data {
    fn new(blocks: &Blocks, commits: usize, margin: f64) -> Self {
        let mut measured: Vec<usize> = blocks.iter().flatten().map(|t| t.0).collect();
        measured.sort_unstable();
        measured.dedup();
        let mut trials = Vec::new();
        let (mut count, mut largest) = (0, LARGEST * margin);
        for block in blocks.iter().filter(|b| b.len() > 1) {
            let first = trials.len();
            for (commit, value) in block {
                let place = measured.partition_point(|m| m < commit);
                trials.push(Trial { block: count, first, place, value: *value });
                largest = largest.max(2.0 * (value - block[0].1).abs());
            }
            count += 1;
        }
        let end = |i: usize| margin * (largest / margin).powf(i as f64 / SIZES as f64);
        let sizes = (0..=SIZES).map(end).collect();
        Data { trials, blocks: count, measured, sizes, floor: 0.01 * margin, commits }
    }

    /// Returns the number of trials beyond one per block.
    fn free(&self) -> f64 {
        (self.trials.len() - self.blocks) as f64
    }

    /// Fits the weights and the scale to the steps, starting from equal weights, because the
    /// weights of a neighbour may already ignore the trials that support these steps.
    fn weigh(&self, places: Vec<usize>, tau: f64) -> Steps {
        let free = (self.free() - places.len() as f64).max(1.0);
        let count = self.measured.len();
        let mut sums = BlockSums::new(&self.trials, count, vec![1.0; self.trials.len()]);
        let mut sigma = (sums.square / free).sqrt().max(self.floor);
        for round in 0..ROUNDS.0 {
            let before = sigma;
            let levels = sums.left(&places, tau, sigma).levels;
            let (away, _) = centered(&self.trials, &sums.weights, |t| t.value - levels[t.place]);
            let away: Vec<f64> = away.iter().map(|r| r * r).collect();
            sigma = (dot(&sums.weights, &away) / free).sqrt().max(self.floor);
            let weights =
                away.iter().map(|r| (DEGREES + 1.0) / (DEGREES + r / (sigma * sigma))).collect();
            sums = BlockSums::new(&self.trials, count, weights);
            if round > 0 && (sigma / before - 1.0).abs() < ROUNDS.1 {
                break;
            }
        }
        let rough = self.at(&sums, &places, tau, sigma).log;
        Steps { places, sums, sigma, rough, expanded: false }
    }

    /// Averages the density of a step's size, N(`mean`, `sd`²), over its prior. Returns the parts
    /// for the worse and for the better; their sum is the total.
    fn signs(&self, mean: f64, sd: f64) -> [f64; 2] {
        [mean, -mean].map(|mean| {
            let density = |s: &[f64]| {
                let (a, b) = ((s[0] - mean) / sd, (s[1] - mean) / sd);
                // Use the tail that is not rounded to 1.
                let side = 1f64.copysign(a);
                side * (normal_tail(side * a) - normal_tail(side * b)) / (s[1] - s[0])
            };
            self.sizes.windows(2).map(density).sum::<f64>() / (2 * SIZES) as f64
        })
    }

    /// Computes ln(probability) of the steps, without the terms that all sets share.
    fn at(&self, sums: &BlockSums, places: &[usize], tau: f64, sigma: f64) -> Likelihood {
        let left = sums.left(places, tau, sigma);
        let mut log = sums.same()
            - left.half_log
            - self.free() * sigma.ln()
            - left.squares.max(0.0) / (2.0 * sigma * sigma)
            - left.precision.half_log();
        let mut worse = Vec::new();
        for ((place, size), sd) in places.iter().zip(&left.sizes).zip(left.precision.deviations()) {
            let [up, down] = self.signs(*size, sigma * sd);
            let commits = (self.measured[*place] - self.measured[place - 1]) as f64;
            log += (EXPECTED * commits / self.commits as f64).ln()
                + (up + down).ln()
                + 0.5 * std::f64::consts::TAU.ln()
                + sigma.ln();
            worse.push(up / (up + down).max(f64::MIN_POSITIVE));
        }
        Likelihood { log: log.max(f64::MIN), builds: (tau / sigma).powi(2), worse }
    }

    /// Averages the likelihood over all scales of noise and builds.
    fn likelihood(&self, steps: &Steps) -> Likelihood {
        let mut terms = Vec::new();
        for (tau, prior) in BUILDS {
            for k in -SCALES.0..=SCALES.0 {
                let sigma = (steps.sigma * SCALES.1.powi(k)).max(self.floor);
                let mut one = self.at(&steps.sums, &steps.places, tau, sigma);
                one.log += prior.ln();
                terms.push(one);
            }
        }
        let (shares, log) = shares(&terms);
        let mean = |of: &dyn Fn(&Likelihood) -> f64| {
            terms.iter().zip(&shares).map(|(t, share)| share * of(t)).sum()
        };
        let worse = (0..steps.places.len()).map(|i| mean(&|t| t.worse[i])).collect();
        Likelihood { log, builds: mean(&|t| t.builds), worse }
    }

    /// Returns the sets of steps that are plausible.
    fn window(&self) -> Vec<Steps> {
        let mut all = vec![self.weigh(Vec::new(), USUAL)];
        // If no single step is better than none, backward elimination finds steps that cancel each
        // other.
        let every = self.weigh((1..self.measured.len()).collect(), 0.0);
        let mut clear = every.places;
        loop {
            let left = every.sums.left(&clear, USUAL, every.sigma);
            let errors = left.precision.deviations().into_iter().map(|sd| sd * every.sigma);
            let sizes = left.sizes.iter().zip(errors).map(|(size, error)| size.abs() / error);
            match sizes.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((i, least)) if least < CLEAR => clear.remove(i),
                _ => break,
            };
        }
        let mut seen = HashSet::from([Vec::new(), clear.clone()]);
        if !clear.is_empty() {
            all.push(self.weigh(clear, USUAL));
        }
        let least = |all: &[Steps]| all.iter().map(|s| s.rough).fold(f64::MIN, f64::max) - FAR;
        while all.len() < MOST {
            let least = least(&all);
            let open = all.iter_mut().filter(|s| !s.expanded && s.rough >= least);
            let Some(near) = open.max_by(|a, b| a.rough.total_cmp(&b.rough)) else { break };
            near.expanded = true;
            // The weights of the neighbour are already at hand and rule out most candidates.
            let mut found: Vec<Vec<usize>> = neighbours(&near.places, self.measured.len())
                .into_iter()
                .filter(|places| seen.insert(places.clone()))
                .filter(|places| self.at(&near.sums, places, USUAL, near.sigma).log >= least - FAR)
                .collect();
            // A commit that the next one undoes: neither step alone is likely, and the weights
            // ignore its trials as outliers.
            if near.rough >= least + FAR {
                let undone = undone(&near.places, self.measured.len()).into_iter();
                found.extend(undone.filter(|places| seen.insert(places.clone())));
            }
            all.extend(found.into_iter().map(|places| self.weigh(places, USUAL)));
        }
        let least = least(&all);
        all.retain(|s| s.rough >= least);
        all
    }
}

/// Returns the sets with one step more or less, and those with one step moved to an adjacent place.
fn neighbours(places: &[usize], count: usize) -> Vec<Vec<usize>> {
    let toggled = |of: &[usize], place: usize| {
        let mut out: Vec<usize> = of.iter().copied().filter(|p| *p != place).collect();
        if out.len() == of.len() {
            out.push(place);
            out.sort_unstable();
        }
        out
    };
    let mut out: Vec<Vec<usize>> = (1..count).map(|p| toggled(places, p)).collect();
    for from in places {
        for to in [from - 1, from + 1] {
            if (1..count).contains(&to) && !places.contains(&to) {
                out.push(toggled(&toggled(places, *from), to));
            }
        }
    }
    out
}

/// Returns the sets with two more steps, at adjacent places.
fn undone(places: &[usize], count: usize) -> Vec<Vec<usize>> {
    let free = |place: &usize| !places.contains(place) && !places.contains(&(place + 1));
    let with = |place| {
        let mut out = [places, &[place, place + 1]].concat();
        out.sort_unstable();
        out
    };
    (1..count.saturating_sub(1)).filter(free).map(with).collect()
}

/// Computes the probability of every commit and of "none of them".
pub(super) fn fit(blocks: &Blocks, commits: usize, margin: f64, scope: SearchScope) -> Posterior {
    let data = Data::new(blocks, commits, margin);
    let window = data.window();
    let found: Vec<Likelihood> = window.iter().map(|s| data.likelihood(s)).collect();
    let mut out = Posterior { none: 0.0, commits: vec![0.0; commits], builds: 0.0 };
    for ((steps, of), weight) in window.iter().zip(&found).zip(shares(&found).0) {
        let mut none = 1.0;
        for (place, worse) in steps.places.iter().zip(&of.worse) {
            let share = if scope == SearchScope::All { 1.0 } else { *worse };
            let within = data.measured[place - 1]..data.measured[*place];
            let each = weight * share / within.len() as f64;
            out.commits[within].iter_mut().for_each(|p| *p += each);
            none *= (1.0 - share).max(0.0);
        }
        out.none += weight * none;
        out.builds += weight * of.builds;
    }
    // Commits before the first and after the last measured one have only the prior.
    let [first, last] =
        [data.measured.first(), data.measured.last()].map(|k| *k.unwrap_or(&commits));
    let odds = EXPECTED / commits.max(1) as f64 * if scope == SearchScope::All { 1.0 } else { 0.5 };
    for k in (1..=commits).filter(|k| *k <= first || *k > last) {
        out.commits[k - 1] = odds / (1.0 + odds);
        out.none /= 1.0 + odds;
    }
    out
}

/// Estimates a contrast of ln(metric) between measured commits, whatever the steps: pairs (commit,
/// coefficient), whose coefficients add up to 0. `None` if there are too few trials or a commit was
/// not measured.
pub(super) fn difference(
    blocks: &Blocks,
    margin: f64,
    contrast: &[(usize, f64)],
) -> Option<Estimate> {
    let data = Data::new(blocks, 1, margin);
    let places: Vec<usize> = (1..data.measured.len()).collect();
    let df = data.free() - places.len() as f64;
    let mut of_step = vec![0.0; places.len()];
    for (commit, coefficient) in contrast {
        let place = data.measured.binary_search(commit).ok()?;
        of_step[..place].iter_mut().for_each(|c| *c += coefficient);
    }
    if df < 1.0 {
        return None;
    }
    let steps = data.weigh(places, 0.0);
    let left = steps.sums.left(&steps.places, 0.0, steps.sigma);
    let se = steps.sigma * left.precision.inverse_square(&of_step).sqrt();
    Some(Estimate { value: dot(&of_step, &left.sizes), se, df })
}
