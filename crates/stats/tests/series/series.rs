//! Tests change points of series with known truth, from fixed seeds, and of real series.

use assay_stats::rng::Rng;
use assay_stats::series::simulate::Noise;
use assay_stats::series::{MIN_SIDE, analyse, analyse_with};

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

/// Series of 365 commits of TigerBeetle: steps at 15 and 71, a lower level from about 92 to 131,
/// rising to 150 and on, and one outlier at 10.
#[test]
fn a_real_series_gives_its_known_changes_and_not_its_outlier() {
    let text = include_str!("../data/tigerbeetle.csv");
    let values: Vec<f64> = text.lines().filter_map(|l| l.parse().ok()).collect();
    assert_eq!(values.len(), 365);
    let found = analyse(&values);
    let at: Vec<usize> = found.changes.iter().map(|c| c.at).collect();
    assert!(at.contains(&15) && at.contains(&71), "{at:?} {:?}", found.slopes);
    assert!(!at.iter().any(|a| (9..=11).contains(a)), "{at:?}");
    let between = |low: usize, high: usize| {
        at.iter().any(|a| (low..=high).contains(a))
            || found.slopes.iter().any(|s| s.from <= high && s.to >= low)
    };
    assert!(between(90, 97) && between(140, 156), "{at:?} {:?}", found.slopes);
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

/// Returns true if a change is found within one point of `at`.
fn found_at(values: &[f64], errors: &[Option<f64>], at: usize) -> bool {
    analyse_with(values, errors).changes.iter().any(|c| c.at.abs_diff(at) <= 1)
}

#[test]
fn steps_are_found_at_every_length_and_chance_is_not() {
    for n in [8, 10, 15, 20, 21, 25, 30, 40, 60, 80, 100, 400] {
        for kind in Noise::ALL {
            let mut rng = Rng::new(30 + n as u64);
            let mut series = |step, at| -> Vec<f64> {
                let noise = kind.series(&mut rng, n, step, at);
                noise.iter().map(|v| ((v - 100.0) / 40.0).exp()).collect()
            };
            let alarms = (0..100).filter(|_| !places(&series(0.0, 0)).is_empty()).count();
            let allowed = if matches!(kind, Noise::Ar(_)) { 8 } else { 3 };
            assert!(alarms <= allowed, "{} {n}: {alarms} alarms", kind.name());
            // An outlier near a step of few points hides the step.
            let hidden = if kind == Noise::Outliers { 15 } else { 0 };
            let errors = vec![Some(0.05); n];
            for (step, side, least) in [(6.0, 5, 90), (20.0, MIN_SIDE, 93)] {
                let at = n - side;
                if at < side {
                    continue;
                }
                let found = (0..100).filter(|_| found_at(&series(step, at), &errors, at)).count();
                assert!(found + hidden >= least, "{} {n}, {step} sd: {found}", kind.name());
            }
        }
    }
}

/// Ratios of real repositories with their intervals, as `history` measured them: {fmt} became
/// slower at its fourth measured commit, GoAWK faster at its 17th and again at its 28th.
#[test]
fn known_changes_of_real_repositories_are_found() {
    for (text, known) in [
        (include_str!("../data/fmt.csv"), [3].as_slice()),
        (include_str!("../data/goawk.csv"), &[16, 27]),
    ] {
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for line in text.lines().skip(1) {
            let cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap_or(f64::NAN)).collect();
            values.push(cells[2]);
            let error = (cells[4] / cells[3]).ln() / 2.0 / 1.96;
            errors.push(error.is_finite().then_some(error));
        }
        for errors in [errors, Vec::new()] {
            let found: Vec<usize> =
                analyse_with(&values, &errors).changes.iter().map(|c| c.at).collect();
            assert_eq!(found, known, "{text}");
        }
    }
}

#[test]
fn points_as_wide_as_the_step_hide_it() {
    let values: Vec<f64> = (0..20).map(|i| if i < 10 { 1.0 } else { 1.1 }).collect();
    assert_eq!(analyse_with(&values, &[Some(0.01); 20]).changes.len(), 1);
    let found = analyse_with(&values, &[Some(0.1); 20]);
    assert!(found.changes.is_empty(), "{found:?}");
    let visible = found.visible.unwrap();
    assert!((0.2..0.3).contains(&visible), "{visible}");
}

#[test]
fn a_series_without_a_change_says_which_step_it_would_show() {
    let mut rng = Rng::new(17);
    for n in [5, 10, 40, 200] {
        // A step of the reported visible size in the middle must be found.
        let mut hits = 0;
        for _ in 0..50 {
            let mut values = Noise::White.series(&mut rng, n.max(6), 0.0, 0);
            values.truncate(n);
            let found = analyse(&values);
            let Some(step) = found.visible else { panic!("{n}") };
            if n < 6 {
                assert!(found.changes.is_empty() && step > 0.03, "{step}");
                continue;
            }
            values.iter_mut().skip(n / 2).for_each(|v| *v *= 1.0 + step);
            hits += usize::from(!places(&values).is_empty());
        }
        assert!(n < 6 || hits >= 40, "{n}: {hits}");
    }
    assert_eq!(analyse(&[1.0]).visible, None);
}

#[test]
fn nothing_is_made_of_nothing() {
    for values in [vec![], vec![1.0], vec![5.0; 50], vec![1.0, 2.0, 1.0], vec![0.0; 8]] {
        let found = analyse(&values);
        assert!(found.changes.is_empty() && found.slopes.is_empty(), "{values:?} {found:?}");
    }
    // A step without any noise is detected too.
    let step: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 2.0 }).collect();
    assert_eq!(places(&step), [20]);
}
