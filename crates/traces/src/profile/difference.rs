//! Compares the functions of two sets of trials: which took more or less time. The trial is the
//! unit of replication: it gives one value per function, and samples within a trial are not counted
//! as if they were trials.

use std::collections::BTreeMap;

use assay_model::{FunctionChange, FunctionDifferences};
use assay_stats::comparison::estimate::{Estimate, adjust_weighted, welch_df};
use assay_stats::summary::{mean, variance};

use crate::profile::{FrameKind, FunctionTime, Profile, ProfileSide, functions};

/// A function is not compared if its share of the time of both sides together is below this: it
/// cannot be a large part of a difference, and every further comparison weakens the others through
/// the Holm correction.
const LEAST_SHARE: f64 = 0.005;
/// Minimum number of trials per side for an interval and a p-value.
const LEAST_TRIALS: usize = 3;

/// Functions and total time of one trial.
#[derive(Debug, Clone, Default)]
pub struct ProfiledTrial {
    pub functions: Vec<FunctionTime>,
    /// Sampled time of the side, nanoseconds.
    pub sampled_ns: u64,
    /// Time of the side as the scheduler counts it, nanoseconds; `None` if unknown, and the sampled
    /// time is used instead.
    pub exact_ns: Option<u64>,
}

impl ProfiledTrial {
    /// Measures one side of a profile.
    pub fn from_profile(profile: &Profile, side: ProfileSide) -> Self {
        ProfiledTrial {
            functions: functions(profile, side, None),
            sampled_ns: profile.total_ns(side),
            exact_ns: if side == ProfileSide::OnCpu { profile.cpu_ns() } else { None },
        }
    }

    /// Returns the actual time per sampled nanosecond: late samples represent more time than their
    /// period.
    fn scale(&self) -> f64 {
        match self.exact_ns {
            Some(exact) if self.sampled_ns > 0 => exact as f64 / self.sampled_ns as f64,
            _ => 1.0,
        }
    }
}

struct FunctionTotals {
    module: String,
    ns: [Vec<f64>; 2],
    total: [Vec<f64>; 2],
    /// Variance of self time due to sampling alone, summed over the trials, per side.
    sampling: [f64; 2],
}

/// Compares the self time of functions in two sets of trials at a confidence level such as 0.95.
pub fn differences(
    first: &[ProfiledTrial],
    second: &[ProfiledTrial],
    confidence: f64,
) -> FunctionDifferences {
    let sides = [first, second];
    let n = [first.len(), second.len()];
    // Keyed by name without module: the compared programs may be different files. A sorted map, so
    // that sums over functions are the same each time.
    let mut all: BTreeMap<(String, bool), FunctionTotals> = BTreeMap::new();
    for (side, trials) in sides.iter().enumerate() {
        for (at, trial) in trials.iter().enumerate() {
            let scale = trial.scale();
            for f in &trial.functions {
                let key = (f.frame.label(), f.frame.kind == FrameKind::Kernel);
                let own = all.entry(key).or_insert_with(|| FunctionTotals {
                    module: f.frame.module_name().to_owned(),
                    ns: [vec![0.0; n[0]], vec![0.0; n[1]]],
                    total: [vec![0.0; n[0]], vec![0.0; n[1]]],
                    sampling: [0.0; 2],
                });
                let ns = f.self_ns as f64 * scale;
                own.ns[side][at] += ns;
                own.total[side][at] += f.total_ns as f64 * scale;
                if f.self_count > 0 {
                    let share = f.self_ns as f64 / trial.sampled_ns.max(1) as f64;
                    let each = ns / f.self_count as f64;
                    own.sampling[side] +=
                        each * each * f.self_count as f64 * (1.0 - share).max(0.0);
                }
            }
        }
    }
    let time = |trials: &[ProfiledTrial]| {
        trials.iter().map(|t| t.sampled_ns as f64 * t.scale()).sum::<f64>()
    };
    let times = [time(first), time(second)];
    let known = all.len();
    let mut changes: Vec<FunctionChange> = Vec::new();
    let mut spreads: Vec<Option<DifferenceVariance>> = Vec::new();
    for ((function, kernel), own) in all {
        let sums = [own.ns[0].iter().sum::<f64>(), own.ns[1].iter().sum::<f64>()];
        if sums[0] + sums[1] < LEAST_SHARE * (times[0] + times[1]) {
            continue;
        }
        changes.push(change(function, kernel, &own, times));
        spreads.push(DifferenceVariance::from_totals(&own));
    }
    let prior = Prior::from_spreads(&spreads);
    for (change, spread) in changes.iter_mut().zip(&spreads) {
        if let Some(spread) = spread {
            test(change, prior.moderated(spread), confidence);
        }
    }
    // Each function gets a part of the error probability in proportion to its time, so that the
    // functions that matter most are detected first. The total time of both sides does not depend
    // on how much they differ, so the family-wise error rate holds.
    adjust_weighted(changes.iter_mut().map(|c| {
        let weight = c.share[0] * times[0] + c.share[1] * times[1];
        (&mut c.p, weight.max(f64::MIN_POSITIVE))
    }));
    for change in &mut changes {
        change.clear = change.p.is_some_and(|p| p <= 1.0 - confidence);
    }
    changes.sort_by(|a, b| {
        b.clear
            .cmp(&a.clear)
            .then_with(|| b.difference_ns.abs().total_cmp(&a.difference_ns.abs()))
            .then_with(|| (&a.function, &a.module).cmp(&(&b.function, &b.module)))
    });
    FunctionDifferences {
        trials: n,
        confidence,
        compared: changes.len(),
        too_small: known - changes.len(),
        changes,
    }
}

fn change(function: String, kernel: bool, own: &FunctionTotals, times: [f64; 2]) -> FunctionChange {
    let means = [0, 1].map(|s: usize| mean(&own.ns[s]).unwrap_or(0.0));
    let share = [0, 1].map(|s: usize| {
        let sum: f64 = own.ns[s].iter().sum();
        if times[s] > 0.0 { sum / times[s] } else { 0.0 }
    });
    FunctionChange {
        function,
        module: own.module.clone(),
        kernel,
        own_ns: means,
        total_ns: [0, 1].map(|s: usize| mean(&own.total[s]).unwrap_or(0.0)),
        share,
        difference_ns: means[1] - means[0],
        interval_ns: None,
        standard_errors: None,
        detectable_ns: None,
        p: None,
        clear: false,
    }
}

/// Variance of a function's difference of means.
#[derive(Debug, Clone, Copy)]
struct DifferenceVariance {
    /// Variance estimated from the trials.
    seen: f64,
    /// Variance due to sampling alone: which samples hit the function is random.
    sampling: f64,
    /// Welch-Satterthwaite degrees of freedom of `seen`.
    df: f64,
}

impl DifferenceVariance {
    fn from_totals(own: &FunctionTotals) -> Option<Self> {
        if own.ns.iter().any(|v| v.len() < LEAST_TRIALS) {
            return None;
        }
        let trials = [own.ns[0].len(), own.ns[1].len()];
        let n = trials.map(|n| n as f64);
        let part = [0, 1].map(|s: usize| variance(&own.ns[s]).unwrap_or(0.0) / n[s]);
        let sampling: f64 = [0, 1].map(|s: usize| own.sampling[s] / n[s] / n[s]).iter().sum();
        let seen = part[0] + part[1];
        let df = if seen > 0.0 { welch_df(part, trials) } else { n[0] + n[1] - 2.0 };
        // A function that is in every sample or in none has no sampling error.
        (sampling > 0.0).then_some(DifferenceVariance { seen, sampling, df })
    }
}

/// Prior distribution of a function's variance in units of its sampling variance, estimated from
/// all functions, since few trials estimate the variance of each one badly. The variances are
/// shrunk towards a common one, the more strongly the more they agree (Smyth, Stat. Appl. Genet.
/// Mol. Biol. 3 (2004) 3).
struct Prior {
    /// Common variance, in units of the sampling variance.
    variance: f64,
    /// Degrees of freedom of the common variance.
    df: f64,
    /// Upper bound of the degrees of freedom of a moderated variance: the sum over all functions.
    most: f64,
}

impl Prior {
    fn from_spreads(spreads: &[Option<DifferenceVariance>]) -> Self {
        let known: Vec<&DifferenceVariance> =
            spreads.iter().flatten().filter(|s| s.seen > 0.0).collect();
        if known.len() < 3 {
            // Too few functions to estimate a prior: use the trials' variance, but at least the
            // sampling variance.
            return Prior { variance: 1.0, df: 0.0, most: f64::INFINITY };
        }
        let most = known.iter().map(|s| s.df).sum();
        let e: Vec<f64> = known
            .iter()
            .map(|s| (s.seen / s.sampling).ln() - digamma(s.df / 2.0) + (s.df / 2.0).ln())
            .collect();
        let chance: f64 =
            known.iter().map(|s| trigamma(s.df / 2.0)).sum::<f64>() / known.len() as f64;
        let (middle, more) = (mean(&e).unwrap_or(0.0), variance(&e).unwrap_or(0.0) - chance);
        if more <= 0.0 {
            return Prior { variance: middle.exp(), df: f64::INFINITY, most };
        }
        let df = 2.0 * trigamma_inverse(more);
        let variance = (middle + digamma(df / 2.0) - (df / 2.0).ln()).exp();
        Prior { variance, df, most }
    }

    /// Returns the moderated variance and its degrees of freedom.
    fn moderated(&self, s: &DifferenceVariance) -> (f64, f64) {
        let own = if self.df > 0.0 { s.seen } else { s.seen.max(s.sampling) };
        let common = self.variance * s.sampling;
        // A function that varies by far more than the others predict keeps its own variance.
        if self.df > 0.0 && s.seen > common * most_by_chance(s.df) {
            return (s.seen, s.df);
        }
        let variance = if self.df.is_infinite() {
            common
        } else {
            (self.df * common + s.df * own) / (self.df + s.df)
        };
        (variance, (self.df + s.df).min(self.most).max(1.0))
    }
}

/// Returns the ratio to its expectation that a variance with `df` degrees of freedom exceeds in one
/// of a hundred cases: the 99 % quantile of chi squared over `df`, by Wilson and Hilferty's
/// approximation (Proc. Natl. Acad. Sci. 17 (1931) 684).
fn most_by_chance(df: f64) -> f64 {
    let v = 2.0 / (9.0 * df);
    (1.0 - v + 2.326_348 * v.sqrt()).powi(3)
}

/// Computes the derivative of ln Γ by recurrence, then the asymptotic series (Abramowitz and Stegun
/// 6.3.18).
fn digamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 8.0 {
        below -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    below + x.ln() - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
}

/// Computes the derivative of [`digamma`] (Abramowitz and Stegun 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut above = 0.0;
    while x < 8.0 {
        above += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    above + 1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0))
}

/// Returns the argument at which [`trigamma`], which falls, has a value. Found by bisection.
fn trigamma_inverse(value: f64) -> f64 {
    let (mut low, mut high) = (1e-3f64, 1e6f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

fn test(c: &mut FunctionChange, (variance, df): (f64, f64), confidence: f64) {
    if variance.is_nan() || variance <= 0.0 {
        return;
    }
    let estimate = Estimate { value: c.difference_ns, se: variance.sqrt(), df };
    c.interval_ns = estimate.interval(confidence).map(|i| [i.low, i.high]);
    c.standard_errors = Some(estimate.value / estimate.se);
    c.detectable_ns = estimate.detectable(confidence);
    c.p = estimate.p_beyond(0.0);
}

#[cfg(test)]
mod tests {
    use assay_stats::rng::Rng;

    use super::*;
    use crate::profile::{Frame, FrameKind};

    /// Returns a trial of a program whose functions take these times in seconds, sampled at `hz`.
    /// Which samples hit a function is random, and the total time varies by the share `varies`.
    fn trial(rng: &mut Rng, seconds: &[f64], hz: f64, varies: f64) -> ProfiledTrial {
        let pace = 1.0 + varies * rng.normal();
        let all: f64 = seconds.iter().sum();
        let samples = (all * pace * hz).round() as u64;
        let each = (1e9 / hz) as u64;
        let mut counts = vec![0u64; seconds.len()];
        for _ in 0..samples {
            let mut at = rng.uniform() * all;
            let mut n = 0;
            while n + 1 < seconds.len() && at >= seconds[n] {
                at -= seconds[n];
                n += 1;
            }
            counts[n] += 1;
        }
        let functions = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(n, count)| FunctionTime {
                frame: Frame {
                    name: Some(format!("f{n}")),
                    module: "/bin/p".into(),
                    kind: FrameKind::User,
                },
                self_ns: count * each,
                total_ns: count * each,
                self_count: *count,
                total_count: *count,
            })
            .collect();
        let exact_ns = Some((all * pace * 1e9) as u64);
        ProfiledTrial { functions, sampled_ns: samples * each, exact_ns }
    }

    /// A program that spends half of its time in one function and the rest in five.
    const PROGRAM: [f64; 6] = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05];

    fn run(rng: &mut Rng, seconds: &[f64], hz: f64, n: usize) -> Vec<ProfiledTrial> {
        (0..n).map(|_| trial(rng, seconds, hz, 0.002)).collect()
    }

    fn named(rounds: usize, mut pair: impl FnMut() -> [Vec<ProfiledTrial>; 2]) -> usize {
        (0..rounds)
            .filter(|_| {
                let [a, b] = pair();
                differences(&a, &b, 0.95).changes.iter().any(|c| c.clear)
            })
            .count()
    }

    #[test]
    fn the_same_trials_differ_by_the_same_to_the_last_digit() {
        let mut rng = Rng::new(7);
        let seconds: Vec<f64> = (1..40).map(|n| 0.01 * f64::from(n)).collect();
        let mut side =
            || (0..10).map(|_| trial(&mut rng, &seconds, 999.0, 0.02)).collect::<Vec<_>>();
        let (first, second) = (side(), side());
        let once = differences(&first, &second, 0.95);
        assert!(once.changes.iter().filter(|c| c.p.is_some()).count() > 20, "{once:?}");
        for _ in 0..20 {
            assert_eq!(differences(&first, &second, 0.95), once);
        }
    }

    #[test]
    fn a_program_compared_with_itself_names_functions_rarely() {
        let mut rng = Rng::new(7);
        let mut set = || run(&mut rng, &PROGRAM, 999.0, 10);
        let n = named(600, || [set(), set()]);
        // 5 % are 30 of 600; the limit is three standard deviations of 5.3 above that.
        assert!(n <= 46, "{n} of 600");
        eprintln!("names a function in {n} of 600");
    }

    #[test]
    fn nor_where_a_function_varies_much_more_than_the_others() {
        let mut rng = Rng::new(5);
        let mut one = || {
            let mut seconds = PROGRAM;
            seconds[1] *= (1.0 + 0.15 * rng.normal()).max(0.1);
            trial(&mut rng, &seconds, 999.0, 0.002)
        };
        let mut set = || (0..10).map(|_| one()).collect::<Vec<_>>();
        let n = named(600, || [set(), set()]);
        assert!(n <= 46, "{n} of 600");
        eprintln!("names a function in {n} of 600");
    }

    /// Prints the rates that bench/results/observers.md sets as goals, with other seeds. It is
    /// slow: run it with `cargo test -- --ignored --nocapture`.
    #[test]
    #[ignore = "a simulation of 40,000 comparisons"]
    fn how_often_functions_are_named() {
        let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(101);
        let rounds = 10_000;
        let mut rng = Rng::new(seed);
        let mut slower = PROGRAM;
        slower[0] *= 1.05;
        let (mut first, mut clear) = (0, 0);
        for _ in 0..rounds {
            let (a, b) = (run(&mut rng, &PROGRAM, 999.0, 10), run(&mut rng, &slower, 999.0, 10));
            let d = differences(&a, &b, 0.95);
            first += usize::from(d.changes[0].function == "f0");
            clear += usize::from(d.changes.iter().any(|c| c.function == "f0" && c.clear));
        }
        eprintln!("+5 % in half of it: ranked first {first}, clear {clear} of {rounds}");
        let many: Vec<f64> = (0..40).map(|n| 1.0 / f64::from(n + 20)).collect();
        for (name, program) in [("itself", &PROGRAM[..]), ("itself, 40 functions", &many)] {
            let mut set = || run(&mut rng, program, 999.0, 10);
            let n = named(rounds, || [set(), set()]);
            eprintln!("{name}: names a function in {n} of {rounds}");
        }
        let mut varies = || {
            let mut seconds = PROGRAM;
            seconds[0] *= (1.0 + 0.1 * rng.normal()).max(0.1);
            trial(&mut rng, &seconds, 999.0, 0.002)
        };
        let mut set = || (0..10).map(|_| varies()).collect::<Vec<_>>();
        let n = named(rounds, || [set(), set()]);
        eprintln!("itself, the largest varies by a tenth: names a function in {n} of {rounds}");
    }

    #[test]
    fn quantiles_of_variances_have_their_known_values() {
        // Abramowitz and Stegun, table 26.8: chi squared at 0.01 with 10, 18 and 30 degrees of
        // freedom.
        for (df, chi) in [(10.0, 23.209), (18.0, 34.805), (30.0, 50.892)] {
            assert!((most_by_chance(df) * df / chi - 1.0).abs() < 2e-3, "{df}");
        }
    }

    #[test]
    fn digamma_and_trigamma_have_their_known_values() {
        // Abramowitz and Stegun, tables 6.1 and 6.2.
        assert!((digamma(1.0) + 0.577_215_664_9).abs() < 1e-8);
        assert!((trigamma(1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-8);
        assert!((trigamma(0.5) - std::f64::consts::PI.powi(2) / 2.0).abs() < 1e-8);
        assert!((trigamma_inverse(trigamma(3.7)) - 3.7).abs() < 1e-6);
    }

    #[test]
    fn five_percent_in_half_of_a_program_is_ranked_first() {
        let mut rng = Rng::new(11);
        let mut slower = PROGRAM;
        slower[0] *= 1.05;
        let (mut first, mut clear) = (0, 0);
        for _ in 0..200 {
            let a = run(&mut rng, &PROGRAM, 999.0, 10);
            let b = run(&mut rng, &slower, 999.0, 10);
            let d = differences(&a, &b, 0.95);
            let top = &d.changes[0];
            first += usize::from(top.function == "f0");
            clear += usize::from(top.function == "f0" && top.clear && top.difference_ns > 0.0);
        }
        assert!(first >= 190, "first in {first} of 200");
        eprintln!("ranked first {first}, clear {clear} of 200");
        assert!(clear >= 155, "clear in {clear} of 200");
    }

    #[test]
    fn few_samples_say_what_they_could_have_shown() {
        let mut rng = Rng::new(3);
        let (a, b) = (run(&mut rng, &PROGRAM, 99.0, 10), run(&mut rng, &PROGRAM, 99.0, 10));
        let d = differences(&a, &b, 0.95);
        let f0 = d.changes.iter().find(|c| c.function == "f0").unwrap();
        // At 99 Hz an effect of 25 ms is about the sampling error.
        assert!(f0.detectable_ns.unwrap() > 25e6, "{f0:?}");
        assert!(differences(&a[..2], &b, 0.95).changes.iter().all(|c| c.p.is_none() && !c.clear));
    }
}
