//! Change points of series with known truth, from fixed seeds, and of a real one.

use assay_history::simulate::Noise;
use assay_history::{WINDOW, analyse, append};
use assay_stats::rng::Rng;

fn places(values: &[f64]) -> Vec<usize> {
    analyse(values).changes.iter().map(|c| c.at).collect()
}

#[test]
fn clean_series_of_every_kind_of_noise_raise_next_to_no_alarm() {
    for kind in Noise::ALL {
        let mut rng = Rng::new(11);
        let alarms = (0..100).filter(|_| !places(&kind.series(&mut rng, 200, 0.0, 0)).is_empty());
        assert!(alarms.count() <= 2, "{}", kind.name());
    }
}

#[test]
fn steps_are_found_where_they_are_and_intervals_hold_the_truth() {
    for (kind, step, minimum) in [
        (Noise::White, 3.0, 90),
        (Noise::Outliers, 3.0, 90),
        (Noise::Skewed, 3.0, 90),
        (Noise::Ar(0.5), 3.0, 80),
        (Noise::White, 2.0, 78),
    ] {
        let mut rng = Rng::new(12);
        let (mut hits, mut placed, mut sized, mut near) = (0, 0, 0, 0);
        for _ in 0..100 {
            let at = 20 + rng.below(160);
            let values = kind.series(&mut rng, 200, step, at);
            let changes = analyse(&values).changes;
            hits += usize::from(changes.iter().any(|c| c.at.abs_diff(at) <= 1));
            if let Some(c) = changes.iter().find(|c| c.at.abs_diff(at) <= 8) {
                near += 1;
                placed += usize::from((c.place.0..=c.place.1).contains(&at));
                sized += usize::from(c.difference.contains(2.0 * step));
            }
        }
        assert!(hits >= minimum, "{} {step}: {hits}", kind.name());
        assert!(placed * 100 >= near * 87, "{} {step}: place {placed} of {near}", kind.name());
        assert!(sized * 100 >= near * 87, "{} {step}: size {sized} of {near}", kind.name());
    }
}

/// 365 commits of TigerBeetle: steps at 15 and 71, a lower level from about 92 to 131, rising to 150 and on,
/// and one outlier at 10.
#[test]
fn a_real_series_gives_its_known_changes_and_not_its_outlier() {
    let text = include_str!("../data/tigerbeetle.csv");
    let values: Vec<f64> = text.lines().filter_map(|l| l.parse().ok()).collect();
    assert_eq!(values.len(), 365);
    let found = analyse(&values);
    let at: Vec<usize> = found.changes.iter().map(|c| c.at).collect();
    assert!(at.contains(&15) && at.contains(&71), "{found:#?}");
    assert!(!at.iter().any(|a| (9..=11).contains(a)), "{at:?}");
    let between = |low: usize, high: usize| {
        at.iter().any(|a| (low..=high).contains(a))
            || found.slopes.iter().any(|s| s.from <= high && s.to >= low)
    };
    assert!(between(90, 97) && between(140, 156), "{found:#?}");
}

#[test]
fn a_slow_slope_is_a_slope_and_not_stairs() {
    let mut rng = Rng::new(13);
    let values: Vec<f64> = (0..200)
        .map(|i| 100.0 + (f64::from(i) - 60.0).clamp(0.0, 80.0) * 0.2 + rng.normal())
        .collect();
    let found = analyse(&values);
    assert!(found.changes.is_empty(), "{found:#?}");
    let [slope] = found.slopes.as_slice() else { panic!("{found:#?}") };
    assert!(slope.from.abs_diff(60) <= 10 && slope.to.abs_diff(140) <= 10, "{slope:?}");
    assert!((slope.per_point() - 0.2).abs() < 0.04, "{slope:?}");
}

#[test]
fn a_plain_step_in_a_dozen_points_is_found_and_chance_is_not() {
    let mut rng = Rng::new(16);
    let found = (0..50).filter(|_| places(&Noise::White.series(&mut rng, 12, 8.0, 7)) == [7]);
    let found = found.count();
    assert!(found >= 42, "{found}");
    for kind in Noise::ALL {
        let alarms =
            (0..200).filter(|_| !places(&kind.series(&mut rng, 12, 0.0, 0)).is_empty()).count();
        assert!(alarms <= 6, "{} {alarms}", kind.name());
    }
}

#[test]
fn a_step_stays_a_step() {
    let mut rng = Rng::new(14);
    for step in [2.0, 4.0, 10.0] {
        let values = Noise::White.series(&mut rng, 120, step, 50);
        let found = analyse(&values);
        assert!(found.slopes.is_empty() && found.changes.len() == 1, "{found:#?}");
    }
}

#[test]
fn an_appended_point_says_what_the_whole_series_says() {
    let mut rng = Rng::new(15);
    const { assert!(WINDOW < 600) };
    let mut values = Noise::White.series(&mut rng, 600, 5.0, 300);
    values.iter_mut().skip(580).for_each(|v| *v += 12.0);
    let mut analysis = analyse(&values[..500]);
    analysis.changes[0].state = assay_history::State::Confirmed;
    for n in 501..=600 {
        analysis = append(&analysis, &values[..n]);
    }
    let whole = analyse(&values);
    let at = |a: &assay_history::Analysis| a.changes.iter().map(|c| c.at).collect::<Vec<_>>();
    assert_eq!(at(&analysis), at(&whole));
    assert_eq!(at(&whole), [300, 580]);
    assert_eq!(analysis.changes[0].state, assay_history::State::Confirmed, "states are kept");
}

#[test]
fn nothing_is_made_of_nothing() {
    for values in [vec![], vec![1.0], vec![5.0; 50], vec![1.0, 2.0, 1.0], vec![0.0; 8]] {
        let found = analyse(&values);
        assert!(found.changes.is_empty() && found.slopes.is_empty(), "{values:?} {found:?}");
    }
    // Without noise a step is one all the same.
    let step: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 2.0 }).collect();
    assert_eq!(places(&step), [20]);
}
