//! The simulations of `docs/internals/statistics.md` as tests, with fixed seeds and bands as
//! acceptance ranges. A band is the known performance of the method, widened by about three
//! standard errors of the repeats made here.

use crate::simulation::scaling::{TO_8, TO_32, predictions_of_64};
use crate::simulation::{
    Drift, Interval, LOOKS_OF_ASSAY, SHAPES, Shape, TakenOff, block_bootstrap_coverage, coverage,
    looked_at, pocock, pooled_and_run_means, power, schedules, start_up,
};
use assay_model::{Better, Verdict};
use assay_stats::rng::Rng;
use assay_stats::{CompareInput, Samples, compare};

const REPEATS: usize = 3000;

fn within(what: &str, value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{what}: {value:.2} is not within {low}..{high}");
}

fn every_shape(interval: Interval, bands: &[(usize, f64, f64)]) {
    for shape in SHAPES {
        for (n, low, high) in bands {
            let c = coverage(interval, shape, *n, REPEATS, 42).expect("this n carries an interval");
            within(&format!("{interval:?} {shape:?} n={n}"), c, *low, *high);
        }
    }
}

#[test]
fn welch_on_logs_covers() {
    let bands = [(3, 95.0, 99.0), (5, 94.5, 99.5), (10, 93.8, 99.0), (20, 93.8, 99.5)];
    every_shape(Interval::Welch, &bands);
}

#[test]
fn paired_t_on_logs_covers() {
    let bands = [(3, 93.8, 98.5), (5, 93.8, 99.0), (10, 93.8, 99.0), (20, 93.8, 99.5)];
    every_shape(Interval::PairedT, &bands);
}

#[test]
fn rank_intervals_cover() {
    every_shape(Interval::RankSum, &[(5, 95.5, 98.0), (10, 94.5, 97.0), (20, 93.8, 96.2)]);
    // Six pairs can only have 1 − 2/64 = 96.9 %.
    every_shape(Interval::SignedRank, &[(6, 95.8, 98.0), (10, 93.9, 96.4), (20, 93.8, 96.2)]);
    assert_eq!(coverage(Interval::SignedRank, Shape::Lognormal, 5, 1, 1), None);
    assert_eq!(coverage(Interval::RankSum, Shape::Lognormal, 3, 1, 1), None);
}

#[test]
fn gates_of_identical_programs_raise_no_more_false_alarms_than_one() {
    let (each, all) = crate::simulation::families(5, 10, 1500, 42);
    within("five gates, each by itself", each, 18.0, 27.0);
    within("five gates with Holm's correction", all, 3.2, 6.2);
}

#[test]
fn fieller_covers() {
    every_shape(Interval::Fieller, &[(5, 94.5, 99.5), (10, 93.8, 99.0)]);
}

#[test]
fn the_percentile_bootstrap_does_not_cover_below_twenty() {
    for shape in SHAPES {
        let c = |n| coverage(Interval::Bootstrap, shape, n, 1000, 42).unwrap();
        within(&format!("{shape:?} n=3"), c(3), 75.0, 86.0);
        within(&format!("{shape:?} n=5"), c(5), 81.0, 92.0);
    }
    within("blocks, n=20", block_bootstrap_coverage(Shape::Lognormal, 20, 500, 42), 89.0, 96.5);
}

#[test]
fn samples_are_not_trials() {
    let (pooled, means) = pooled_and_run_means(10, 30, 1000, 42);
    within("pooled samples", pooled, 67.0, 76.0);
    within("run means", means, 3.0, 7.5);
}

#[test]
fn drift_alarms_when_one_arm_runs_after_the_other() {
    let [blocked, abab, random] = schedules(Drift::Linear, REPEATS, 42);
    within("linear drift, AAAA-BBBB", blocked, 33.0, 40.0);
    within("linear drift, ABAB paired", abab, 3.0, 6.5);
    within("linear drift, random paired", random, 3.0, 6.5);
    let [blocked, abab, random] = schedules(Drift::Correlated, REPEATS, 42);
    within("AR(1), AAAA-BBBB", blocked, 52.0, 60.0);
    within("AR(1), ABAB paired", abab, 1.5, 6.0);
    within("AR(1), random paired", random, 3.0, 6.5);
}

#[test]
fn a_start_up_measured_once_for_each_treatment_passes_for_a_difference() {
    let alarms = |how| start_up(how, 1.0, REPEATS, 42);
    within("once for each treatment", alarms(TakenOff::OncePerTreatment), 30.0, 42.0);
    within("once for the run", alarms(TakenOff::OncePerRun), 3.8, 6.2);
    within("in every trial", alarms(TakenOff::PerTrial), 3.8, 6.2);
    within("nothing taken off", alarms(TakenOff::Nothing), 3.8, 6.2);
}

#[test]
fn looks_with_and_without_a_limit() {
    within("Pocock", pocock(REPEATS, 42), 4.0, 6.5);
    within("unadjusted", looked_at(&LOOKS_OF_ASSAY, 0.05, REPEATS, 42), 14.0, 18.5);
}

#[test]
fn two_point_seven_per_cent_is_found_four_times_in_five() {
    let (direct, _) = power(1.027, REPEATS, 42);
    within("power at the detectable effect", direct, 77.5, 84.0);
    let (direct, apart) = power(1.02, REPEATS, 42);
    assert!(direct > 2.0 * apart, "overlap of intervals finds {apart} where a test finds {direct}");
    within("overlap without effect", power(1.0, REPEATS, 42).1, 0.1, 1.4);
}

#[test]
fn predictions_of_64_cores() {
    let ([low, high], linear) = predictions_of_64(&TO_8, 1000, 42);
    assert!(low < 0.5 && high > 1.3, "from 8 cores nothing is known: {low} {high}");
    assert!(linear[0] > 1.6 && linear[1] > 3.0, "{linear:?}");
    let ([low, high], linear) = predictions_of_64(&TO_32, 1000, 42);
    assert!(low > 0.80 && high < 1.18, "{low} {high}");
    assert!(linear[0] > 1.3 && linear[1] < 2.3, "{linear:?}");
}

/// Returns the shares of (better or worse, equivalent) verdicts for 12 pairs of a true ratio, in
/// percent.
fn verdicts(shape: Shape, ratio: f64, margin: Option<f64>, seed: u64) -> (f64, f64) {
    let mut rng = Rng::new(seed);
    let (mut differs, mut equivalent) = (0usize, 0usize);
    for _ in 0..REPEATS {
        let pairs: Vec<_> = (0..12)
            .map(|_| (Some(shape.draw(&mut rng)), Some(ratio * shape.draw(&mut rng))))
            .collect();
        let c = compare(&CompareInput {
            metric: "elapsed",
            unit: "s",
            better: Better::Lower,
            baseline: 0,
            treatment: 1,
            samples: Samples::Paired(&pairs),
            confidence: 0.95,
            margin,
            gate: false,
        });
        differs += usize::from(matches!(c.verdict, Verdict::Better | Verdict::Worse));
        equivalent += usize::from(c.verdict == Verdict::Equivalent);
    }
    let share = |c: usize| 100.0 * c as f64 / REPEATS as f64;
    (share(differs), share(equivalent))
}

#[test]
fn verdicts_keep_their_error_rates() {
    for shape in SHAPES {
        let (alarms, _) = verdicts(shape, 1.0, None, 42);
        within(&format!("{shape:?}: false better or worse"), alarms, 0.0, 5.5);
        // At the margin itself, equivalence is wrong and may be claimed once in twenty.
        let (_, equivalent) = verdicts(shape, 1.02, Some(0.02), 42);
        within(&format!("{shape:?}: false equivalent"), equivalent, 0.0, 6.0);
    }
    let (found, _) = verdicts(Shape::Lognormal, 1.05, None, 42);
    within("a 5 % effect under 2 % noise", found, 97.0, 100.0);
    let (_, equivalent) = verdicts(Shape::Lognormal, 1.0, Some(0.05), 42);
    within("no effect, margin 5 %", equivalent, 97.0, 100.0);
}
