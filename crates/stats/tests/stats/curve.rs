//! Curves through the public API: merging, the choice of a point, smoothness, interpolation.

use assay_model::Better;
use assay_stats::curves::curve::{TreatmentCurve, merge};
use assay_stats::rng::Rng;

fn merged(trials: &[Vec<[f64; 2]>], better: Better) -> TreatmentCurve {
    merge(trials, better, 0.95)
}

/// Throughput of calls that take 1 µs + 1 ns/B.
fn call(x: f64) -> f64 {
    x / (1e-6 + 1e-9 * x)
}

fn sweep(
    x: &[f64],
    trials: usize,
    sd: f64,
    rng: &mut Rng,
    f: impl Fn(f64) -> f64,
) -> Vec<Vec<[f64; 2]>> {
    (0..trials)
        .map(|_| {
            let level = (0.03 * rng.normal()).exp();
            x.iter().map(|x| [*x, f(*x) * level * (sd * rng.normal()).exp()]).collect()
        })
        .collect()
}

#[test]
fn repeats_within_a_trial_do_not_widen_n() {
    let trials = vec![
        vec![[1.0, 2.0], [1.0, 8.0], [2.0, 5.0]],
        vec![[2.0, 5.0], [1.0, 4.0], [1.0, 4.0], [1.0, 4.0]],
        vec![[1.0, 4.0], [3.0, 1.0], [2.0, 0.0], [2.0, f64::NAN]],
    ];
    let c = merged(&trials, Better::Higher);
    assert_eq!(
        c.points.iter().map(|p| (p.x, p.n)).collect::<Vec<_>>(),
        [(1.0, 3), (2.0, 2), (3.0, 1)]
    );
    assert!((c.points[0].value - 4.0).abs() < 1e-12);
    assert!(c.points[0].interval.is_some() && c.points[1].interval.is_none());
    assert_eq!(c.best.unwrap().x, 1.0, "only x = 1 has all three trials");
    assert_eq!(c.smoothness, None);
}

#[test]
fn the_efficient_point_is_the_smallest_near_the_best() {
    let x: Vec<f64> = (0..20).map(|i| f64::from(1 << i)).collect();
    let mut rng = Rng::new(51);
    let c = merged(&sweep(&x, 5, 0.001, &mut rng, call), Better::Higher);
    // x/(x + 1000) is within 2 % of the value at 2^19 if 49 000 < x, so 65536.
    assert_eq!(c.efficient.unwrap().x, 65536.0);
    assert!(c.best.unwrap().x >= 131072.0);
    assert!(c.smoothness.unwrap() > 0.99);
    let times = merged(&sweep(&x, 5, 0.001, &mut rng, |x| 1.0 / call(x)), Better::Lower);
    assert_eq!(times.efficient.unwrap().x, 65536.0);
    assert_eq!(merged(&sweep(&x, 5, 0.001, &mut rng, call), Better::Neither).best, None);
}

#[test]
fn luck_does_not_choose_on_a_fine_sweep() {
    let x: Vec<f64> = (1..=4000).map(f64::from).collect();
    let mut rng = Rng::new(52);
    // A flat top from 1000 on; 3 % noise in five trials. The raw best is 4 to 5 % too high.
    let c = merged(&sweep(&x, 5, 0.03, &mut rng, |x| x.min(1000.0)), Better::Higher);
    let level = c.points[2000..].iter().map(|p| p.value.ln()).sum::<f64>() / 2000.0;
    let raw = c.points.iter().map(|p| p.value.ln()).fold(f64::MIN, f64::max) - level;
    let chosen = c.best.as_ref().unwrap().value.ln() - level;
    assert!(raw > 0.035, "{raw}");
    assert!(chosen < 0.75 * raw, "{chosen} {raw}");
    let e = c.efficient.unwrap().x;
    assert!((940.0..1150.0).contains(&e), "{e}");
}

#[test]
fn a_true_spike_is_the_best() {
    let x: Vec<f64> = (3500..=4600).map(f64::from).collect();
    let mut rng = Rng::new(53);
    let f = |x: f64| if x == 4096.0 { 1.3e9 } else { 1e9 };
    let c = merged(&sweep(&x, 5, 0.02, &mut rng, f), Better::Higher);
    assert_eq!(c.best.unwrap().x, 4096.0);
}

#[test]
fn one_trial_has_a_best_and_no_smoothness() {
    let x: Vec<f64> = (0..20).map(|i| f64::from(1 << i)).collect();
    let c = merged(&sweep(&x, 1, 0.0, &mut Rng::new(1), call), Better::Higher);
    assert_eq!(c.best.unwrap().x, 524288.0);
    assert_eq!(c.smoothness, None);
    let empty = merged(&[], Better::Higher);
    assert!(empty.points.is_empty() && empty.best.is_none());
}

#[test]
fn a_hundred_thousand_points() {
    let x: Vec<f64> = (1..=102_400).map(f64::from).collect();
    let c = merged(&sweep(&x, 3, 0.02, &mut Rng::new(2), call), Better::Higher);
    assert_eq!(c.points.len(), 102_400);
    assert!(c.smoothness.unwrap() > 0.98, "{:?}", c.smoothness);
}
