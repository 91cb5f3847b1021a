//! The simulations behind `docs/internals/statistics.md`: coverage of intervals (how often they
//! contain the true ratio) and false alarms of verdicts, with fixed seeds.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod bootstrap;
pub mod fieller;
pub mod scaling;

use assay_stats::comparison::ratio::{compare_paired, compare_unpaired};
pub use assay_stats::comparison::sequential::LOOKS as LOOKS_OF_ASSAY;
use assay_stats::comparison::sequential::NOMINAL_ALPHA;
use assay_stats::distribution::student_quantile;
use assay_stats::rng::Rng;
use assay_stats::summary::{mean, variance};

use bootstrap::{Resampling, Statistic, percentile_interval};
use fieller::fieller_unpaired;

/// True ratio treatment / baseline in the coverage simulations.
pub const TRUE_RATIO: f64 = 1.03;

/// Shape of the distribution of run times.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Lognormal with a standard deviation of 2 %.
    Lognormal,
    /// 1 plus an exponential with mean 3 %.
    Skewed,
    /// 80 % of values at 1, 20 % at 1.08, with 1 % noise.
    TwoModes,
    /// Normal with 1 %; 5 % of the values are 1.3 to 2 times as large.
    Outliers,
}

pub const SHAPES: [Shape; 4] = [Shape::Lognormal, Shape::Skewed, Shape::TwoModes, Shape::Outliers];

impl Shape {
    pub fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Shape::Lognormal => (0.02 * rng.normal()).exp(),
            Shape::Skewed => 1.0 + 0.03 * rng.exponential(),
            Shape::TwoModes => {
                let mode = if rng.uniform() < 0.2 { 1.08 } else { 1.0 };
                mode * (1.0 + 0.01 * rng.normal())
            }
            Shape::Outliers => {
                let slow = if rng.uniform() < 0.05 { 1.3 + 0.7 * rng.uniform() } else { 1.0 };
                slow * (1.0 + 0.01 * rng.normal())
            }
        }
    }

    pub fn sample(self, n: usize, scale: f64, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| scale * self.draw(rng)).collect()
    }
}

/// Intervals whose coverage is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    Welch,
    RankSum,
    PairedT,
    SignedRank,
    Fieller,
    Bootstrap,
}

/// Returns the percentage of `repeats` in which the nominal 95 % interval of the ratio contains the
/// true one; `None` if n is too small for the interval.
pub fn coverage(
    interval: Interval,
    shape: Shape,
    n: usize,
    repeats: usize,
    seed: u64,
) -> Option<f64> {
    let mut rng = Rng::new(seed);
    let mut held = 0usize;
    for repeat in 0..repeats {
        let a = shape.sample(n, 1.0, &mut rng);
        let b = shape.sample(n, TRUE_RATIO, &mut rng);
        let found = match interval {
            Interval::Welch => compare_unpaired(&a, &b, 0.95).ok()?.interval,
            Interval::RankSum => compare_unpaired(&a, &b, 0.95).ok()?.sensitivity,
            Interval::PairedT => compare_paired(&a, &b, 0.95).ok()?.interval,
            Interval::SignedRank => compare_paired(&a, &b, 0.95).ok()?.sensitivity,
            Interval::Fieller => fieller_unpaired(&a, &b, 0.95).map(|r| r.interval),
            Interval::Bootstrap => Some(ratio_of_means_bootstrap(&a, &b, repeat as u64)),
        };
        held += usize::from(found?.contains(TRUE_RATIO));
    }
    Some(100.0 * held as f64 / repeats as f64)
}

/// Computes the percentile bootstrap of the ratio of means of two independent samples. assay does
/// not use it; its coverage shows why.
fn ratio_of_means_bootstrap(a: &[f64], b: &[f64], seed: u64) -> assay_model::Interval {
    let mut rng = Rng::new(seed);
    let mut ratios: Vec<f64> = (0..400)
        .map(|_| {
            let mut drawn = |v: &[f64]| v.iter().map(|_| v[rng.below(v.len())]).sum::<f64>();
            drawn(b) / drawn(a)
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    assay_model::Interval { low: ratios[9], high: ratios[390], level: 0.95 }
}

/// Returns the coverage of the bootstrap of the mean log ratio over `n` pairs, in percent.
pub fn block_bootstrap_coverage(shape: Shape, n: usize, repeats: usize, seed: u64) -> f64 {
    let mut rng = Rng::new(seed);
    let held = (0..repeats)
        .filter(|repeat| {
            let d: Vec<f64> = (0..n)
                .map(|_| (TRUE_RATIO * shape.draw(&mut rng) / shape.draw(&mut rng)).ln())
                .collect();
            let options = Resampling { resamples: 400, level: 0.95, seed: *repeat as u64 };
            let i = percentile_interval(&d, Statistic::Mean, options, |d| {
                Some(d.iter().copied().sum::<f64>() / d.len() as f64)
            });
            i.is_ok_and(|i| i.contains(TRUE_RATIO.ln()))
        })
        .count();
    100.0 * held as f64 / repeats as f64
}

fn alarm(a: &[f64], b: &[f64], paired: bool) -> bool {
    let compare = if paired { compare_paired } else { compare_unpaired };
    compare(a, b, 0.95).is_ok_and(|r| r.interval.is_some_and(|i| !i.contains(1.0)))
}

fn per_cent(repeats: usize, mut hit: impl FnMut() -> bool) -> f64 {
    100.0 * (0..repeats).filter(|_| hit()).count() as f64 / repeats as f64
}

/// Returns the false alarms of identical arms with 2 % noise between runs, 1 % within runs and
/// `samples` per run: with all samples pooled, and with run means.
pub fn pooled_and_run_means(runs: usize, samples: usize, repeats: usize, seed: u64) -> (f64, f64) {
    let mut rng = Rng::new(seed);
    let mut arm = |pool: &mut Vec<f64>| -> Vec<f64> {
        (0..runs)
            .map(|_| {
                let run = 1.0 + 0.02 * rng.normal();
                let s: Vec<f64> = (0..samples).map(|_| run * (1.0 + 0.01 * rng.normal())).collect();
                pool.extend(&s);
                s.iter().sum::<f64>() / samples as f64
            })
            .collect()
    };
    let (mut pooled, mut means) = (0usize, 0usize);
    for _ in 0..repeats {
        let (mut pa, mut pb) = (Vec::new(), Vec::new());
        let (a, b) = (arm(&mut pa), arm(&mut pb));
        pooled += usize::from(alarm(&pa, &pb, false));
        means += usize::from(alarm(&a, &b, false));
    }
    let share = |c: usize| 100.0 * c as f64 / repeats as f64;
    (share(pooled), share(means))
}

/// Drift of the machine during 20 runs of identical code.
#[derive(Debug, Clone, Copy)]
pub enum Drift {
    /// Linear, 3 % from first to last run, with 2 % noise.
    Linear,
    /// AR(1) with 0.9, 2 % stationary, no other noise.
    Correlated,
}

fn drifting(drift: Drift, rng: &mut Rng) -> Vec<f64> {
    let mut state = 0.02 * rng.normal();
    let value = |i: usize| match drift {
        Drift::Linear => 1.0 + 0.03 * i as f64 / 19.0 + 0.02 * rng.normal(),
        Drift::Correlated => {
            state = 0.9 * state + 0.02 * (1.0f64 - 0.81).sqrt() * rng.normal();
            1.0 + state
        }
    };
    (0..20).map(value).collect()
}

/// Returns the false alarms for ten runs each under `drift`: all A then all B with Welch; ABAB with
/// pairs; random order in blocks of two with pairs.
pub fn schedules(drift: Drift, repeats: usize, seed: u64) -> [f64; 3] {
    let mut rng = Rng::new(seed);
    let blocked = per_cent(repeats, || {
        let v = drifting(drift, &mut rng);
        alarm(&v[..10], &v[10..], false)
    });
    let mut interleaved = |random: bool| {
        per_cent(repeats, || {
            let v = drifting(drift, &mut rng);
            let pair = |w: &[f64]| {
                let swap = random && rng.uniform() < 0.5;
                if swap { (w[1], w[0]) } else { (w[0], w[1]) }
            };
            let (a, b): (Vec<f64>, Vec<f64>) = v.chunks(2).map(pair).unzip();
            alarm(&a, &b, true)
        })
    };
    [blocked, interleaved(false), interleaved(true)]
}

/// Correction for the start-up of a shell that is part of every trial's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenOff {
    /// One value, measured beforehand, is subtracted from the trials of each treatment.
    OncePerTreatment,
    /// One value, measured beforehand, is subtracted from all trials.
    OncePerRun,
    /// A start measured next to a trial is subtracted from that trial.
    PerTrial,
    /// Nothing is subtracted from any trial.
    Nothing,
}

/// Returns how often ten paired trials each show a difference if the programs differ by `effect`,
/// with 2 % noise and a start-up of 5 % of the program's time that varies with load by 40 %.
pub fn start_up(how: TakenOff, effect: f64, repeats: usize, seed: u64) -> f64 {
    let mut rng = Rng::new(seed);
    let start = |rng: &mut Rng| 0.05 * (0.4 * rng.normal()).exp();
    per_cent(repeats, || {
        let once = [start(&mut rng), start(&mut rng)];
        let mut trials = |treatment: usize| -> Vec<f64> {
            let work = if treatment == 0 { 1.0 } else { effect };
            (0..10)
                .map(|_| {
                    let wall = work * Shape::Lognormal.draw(&mut rng) + start(&mut rng);
                    wall - match how {
                        TakenOff::OncePerTreatment => once[treatment],
                        TakenOff::OncePerRun => once[0],
                        TakenOff::PerTrial => start(&mut rng),
                        TakenOff::Nothing => 0.0,
                    }
                })
                .collect()
        };
        let (a, b) = (trials(0), trials(1));
        alarm(&a, &b, true)
    })
}

/// Returns the false alarms of identical arms tested after each of `looks` pairs, each at `alpha`.
pub fn looked_at(looks: &[usize], alpha: f64, repeats: usize, seed: u64) -> f64 {
    let mut rng = Rng::new(seed);
    let quantiles: Vec<f64> =
        looks.iter().map(|n| student_quantile(1.0 - alpha / 2.0, *n as f64 - 1.0)).collect();
    let last = looks.iter().copied().max().unwrap_or(0);
    per_cent(repeats, || {
        let d: Vec<f64> = (0..last).map(|_| 0.02 * rng.normal()).collect();
        looks.iter().zip(&quantiles).any(|(n, t)| {
            let d = &d[..*n];
            let se = (variance(d).unwrap_or(f64::NAN) / *n as f64).sqrt();
            mean(d).is_some_and(|m| m.abs() > t * se)
        })
    })
}

/// Returns the false alarms with the looks and the limit that assay uses.
pub fn pocock(repeats: usize, seed: u64) -> f64 {
    looked_at(&LOOKS_OF_ASSAY, NOMINAL_ALPHA, repeats, seed)
}

/// Returns power or false alarms of Welch and of "the two intervals do not overlap" at `effect`,
/// with 2 % noise and ten runs each: (Welch, overlap).
pub fn power(effect: f64, repeats: usize, seed: u64) -> (f64, f64) {
    let mut rng = Rng::new(seed);
    let t = student_quantile(0.975, 9.0);
    let (mut direct, mut apart) = (0usize, 0usize);
    for _ in 0..repeats {
        let a = Shape::Lognormal.sample(10, 1.0, &mut rng);
        let b = Shape::Lognormal.sample(10, effect, &mut rng);
        direct += usize::from(alarm(&a, &b, false));
        let band = |v: &[f64]| {
            let half = t * (variance(v).unwrap_or(f64::NAN) / 10.0).sqrt();
            mean(v).map_or((f64::NAN, f64::NAN), |m| (m - half, m + half))
        };
        let ((al, ah), (bl, bh)) = (band(&a), band(&b));
        apart += usize::from(ah < bl || bh < al);
    }
    let share = |c: usize| 100.0 * c as f64 / repeats as f64;
    (share(direct), share(apart))
}

/// Returns the percentage of families of `comparisons` of identical programs, each in n blocks of
/// its own, in which any gate fires: with each comparison judged alone, and as a family.
pub fn families(comparisons: usize, n: usize, repeats: usize, seed: u64) -> (f64, f64) {
    use assay_model::{Better, Verdict};
    use assay_stats::{CompareInput, Samples, compare, compare_family};
    let mut rng = Rng::new(seed);
    let (mut each, mut all) = (0usize, 0usize);
    for _ in 0..repeats {
        let mut arm = || Some(Shape::Lognormal.draw(&mut rng));
        let pairs: Vec<Vec<_>> =
            (0..comparisons).map(|_| (0..n).map(|_| (arm(), arm())).collect()).collect();
        let inputs: Vec<CompareInput<'_>> = pairs
            .iter()
            .map(|p| CompareInput {
                metric: "elapsed",
                unit: "s",
                better: Better::Lower,
                baseline: 0,
                treatment: 1,
                samples: Samples::Paired(p),
                confidence: 0.95,
                margin: None,
                gate: true,
            })
            .collect();
        let fires = |v: Verdict| matches!(v, Verdict::Better | Verdict::Worse);
        each += usize::from(inputs.iter().any(|i| fires(compare(i).verdict)));
        all += usize::from(compare_family(&inputs).iter().any(|c| fires(c.verdict)));
    }
    let share = |n: usize| 100.0 * n as f64 / repeats as f64;
    (share(each), share(all))
}
