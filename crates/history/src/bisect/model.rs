//! The probability of the trials under each set of steps.
//!
//! A trial is b + u + Σ δ·(at or after a step) + ε: b what its block shares (any value), u what its revision's
//! build has for itself and keeps in every trial (normal, of an unknown size τ), ε noise as Student's t with
//! [`DEGREES`] degrees of freedom of an unknown scale σ. b, u, ε and the sizes δ are integrated out; σ has
//! Jeffreys' prior, τ the one of [`BUILDS`], |δ| is uniform on a logarithmic scale, and both signs are as likely. The
//! t distribution is bounded from below by the normal one that touches it (Jaakkola and Jordan, Stat. Comput. 10
//! (2000) 25), fitted for each set by itself, so that a trial that is wild for one may be what speaks for another.
//!
//! The sets are too many to weigh all of them. The likely ones and their neighbours are visited, best first, down to
//! [`FAR`] below the best (Occam's window: Madigan and Raftery, J. Am. Stat. Assoc. 89 (1994) 1535).

use std::collections::HashSet;

use assay_stats::distribution::normal_tail;
use assay_stats::estimate::Estimate;

use super::sums::{Sums, Trial, centered, dot};
use super::{Posterior, Scope};

/// Steps that are expected before a trial, as odds that all commits share: as many for the worse as for the better.
pub(super) const EXPECTED: f64 = 2.0;
/// Intervals of sizes, of equal length on a logarithmic scale, in each of which any size is as likely.
const SIZES: usize = 12;
/// The largest size, as a multiple of the margin; it grows to twice the largest difference within a block.
const LARGEST: f64 = 64.0;
/// Few enough that a trial in some thousand may lie anywhere.
pub(super) const DEGREES: f64 = 4.0;
/// Differences of builds of one program (layout, order of linking), as a standard deviation of
/// ln(metric), and how likely each is before a trial. Identical builds have none, and large ones are rare.
const BUILDS: [(f64, f64); 4] = [(0.0, 0.2), (0.003, 0.35), (0.006, 0.35), (0.012, 0.1)];
/// The one with which weights are fitted.
const USUAL: f64 = 0.005;
/// A set so far behind the best, in ln(probability), is not looked at more closely.
const FAR: f64 = 10.0;
/// The size of a step, in standard errors, from which backward elimination keeps it.
const CLEAR: f64 = 3.0;
/// At most so many sets are visited.
const MOST: usize = 300;
/// Scales of noise around the best fit: so many on either side of it, each so much times the one before.
const SCALES: (i32, f64) = (2, 1.35);
/// Fits of the weights at most, and the relative change of the scale at which they have settled. Sets that were fitted
/// less well than others would be less likely for that alone.
const ROUNDS: (usize, f64) = (20, 0.01);

/// Blocks of (commit, ln(metric)).
pub(super) type Blocks = [Vec<(usize, f64)>];

struct Data {
    trials: Vec<Trial>,
    blocks: usize,
    /// The commits that were measured, in order.
    measured: Vec<usize>,
    /// The ends of the intervals of sizes.
    sizes: Vec<f64>,
    /// The smallest scale of noise: identical values are no proof of none.
    floor: f64,
    commits: usize,
}

/// A set of steps, each before a place among the measured commits, with the weights of the trials that fit it.
struct Steps {
    places: Vec<usize>,
    sums: Sums,
    sigma: f64,
    /// ln(probability) at the best fit alone.
    rough: f64,
    /// True once the neighbours were visited.
    expanded: bool,
}

/// Of one set of steps, at one scale of noise and of builds or over all.
struct Likelihood {
    log: f64,
    builds: f64,
    /// The probability that each step is one for the worse.
    worse: Vec<f64>,
}

/// The shares of 1 that weights have, of their logarithms; and the logarithm of their sum.
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

    /// Trials beyond one a block.
    fn free(&self) -> f64 {
        (self.trials.len() - self.blocks) as f64
    }

    /// The weights and the scale that fit the steps best, from equal weights: those of a neighbour may give up on the
    /// trials that speak for the steps.
    fn weigh(&self, places: Vec<usize>, tau: f64) -> Steps {
        let free = (self.free() - places.len() as f64).max(1.0);
        let count = self.measured.len();
        let mut sums = Sums::new(&self.trials, count, vec![1.0; self.trials.len()]);
        let mut sigma = (sums.square / free).sqrt().max(self.floor);
        for round in 0..ROUNDS.0 {
            let before = sigma;
            let levels = sums.left(&places, tau, sigma).levels;
            let (away, _) = centered(&self.trials, &sums.weights, |t| t.value - levels[t.place]);
            let away: Vec<f64> = away.iter().map(|r| r * r).collect();
            sigma = (dot(&sums.weights, &away) / free).sqrt().max(self.floor);
            let weights =
                away.iter().map(|r| (DEGREES + 1.0) / (DEGREES + r / (sigma * sigma))).collect();
            sums = Sums::new(&self.trials, count, weights);
            if round > 0 && (sigma / before - 1.0).abs() < ROUNDS.1 {
                break;
            }
        }
        let rough = self.at(&sums, &places, tau, sigma).log;
        Steps { places, sums, sigma, rough, expanded: false }
    }

    /// The size of a step as N(`mean`, `sd`²) has it against its prior: (for the worse, for the better), whose sum is
    /// the prior's mean density under it.
    fn signs(&self, mean: f64, sd: f64) -> [f64; 2] {
        [mean, -mean].map(|mean| {
            let density = |s: &[f64]| {
                let (a, b) = ((s[0] - mean) / sd, (s[1] - mean) / sd);
                // The tail that is not rounded to 1.
                let side = 1f64.copysign(a);
                side * (normal_tail(side * a) - normal_tail(side * b)) / (s[1] - s[0])
            };
            self.sizes.windows(2).map(density).sum::<f64>() / (2 * SIZES) as f64
        })
    }

    /// ln(probability) of the steps, with what is shared by all sets left out.
    fn at(&self, sums: &Sums, places: &[usize], tau: f64, sigma: f64) -> Likelihood {
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

    /// Averaged over all scales.
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

    /// The sets that may be the right one.
    fn window(&self) -> Vec<Steps> {
        let mut all = vec![self.weigh(Vec::new(), USUAL)];
        // Where one step alone is no better than none, those that undo one another are found by backward elimination.
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
            // By the weights of the neighbour, which are quickly at hand, most are out of the question.
            let found: Vec<Steps> = neighbours(&near.places, self.measured.len())
                .into_iter()
                .filter(|places| seen.insert(places.clone()))
                .filter(|places| self.at(&near.sums, places, USUAL, near.sigma).log >= least - FAR)
                .map(|places| self.weigh(places, USUAL))
                .collect();
            all.extend(found);
        }
        let least = least(&all);
        all.retain(|s| s.rough >= least);
        all
    }
}

/// The sets with a step more or less, and with one moved to the next place.
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

/// The probability of every commit, and of none.
pub(super) fn fit(blocks: &Blocks, commits: usize, margin: f64, scope: Scope) -> Posterior {
    let data = Data::new(blocks, commits, margin);
    let window = data.window();
    let found: Vec<Likelihood> = window.iter().map(|s| data.likelihood(s)).collect();
    let mut out = Posterior { none: 0.0, commits: vec![0.0; commits], builds: 0.0 };
    for ((steps, of), weight) in window.iter().zip(&found).zip(shares(&found).0) {
        let mut none = 1.0;
        for (place, worse) in steps.places.iter().zip(&of.worse) {
            let share = if scope == Scope::All { 1.0 } else { *worse };
            let within = data.measured[place - 1]..data.measured[*place];
            let each = weight * share / within.len() as f64;
            out.commits[within].iter_mut().for_each(|p| *p += each);
            none *= 1.0 - share;
        }
        out.none += weight * none;
        out.builds += weight * of.builds;
    }
    // Of commits before the first and after the last that was measured there is the prior alone.
    let [first, last] =
        [data.measured.first(), data.measured.last()].map(|k| *k.unwrap_or(&commits));
    let odds = EXPECTED / commits.max(1) as f64 * if scope == Scope::All { 1.0 } else { 0.5 };
    for k in (1..=commits).filter(|k| *k <= first || *k > last) {
        out.commits[k - 1] = odds / (1.0 + odds);
        out.none /= 1.0 + odds;
    }
    out
}

/// The ln(ratio) that `contrast` has of measured commits, whatever the steps: each (commit, coefficient), with 0 as
/// the sum of the coefficients. `None`: too few trials, or one that was not measured.
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
