//! Comparisons through the public API: every verdict, its reason, and invalid input.

use assay_model::{Better, Comparison, Method, Verdict};
use assay_stats::{CompareInput, Samples, compare, compare_family};

const WAVE: [f64; 12] =
    [1.0, 0.998, 1.003, 1.001, 0.999, 1.002, 0.997, 1.0, 1.001, 0.999, 1.004, 0.996];

fn pairs(n: usize, ratio: f64) -> Vec<(Option<f64>, Option<f64>)> {
    (0..n).map(|i| (Some(WAVE[i % 12]), Some(ratio * WAVE[(i * 5 + 3) % 12]))).collect()
}

fn input(samples: Samples<'_>) -> CompareInput<'_> {
    CompareInput {
        metric: "elapsed",
        unit: "s",
        better: Better::Lower,
        baseline: 0,
        treatment: 1,
        samples,
        confidence: 0.95,
        margin: None,
        gate: false,
    }
}

fn paired(p: &[(Option<f64>, Option<f64>)]) -> Comparison {
    compare(&input(Samples::Paired(p)))
}

#[test]
fn the_side_without_a_value_is_named() {
    for (pairs, side) in [
        ([(Some(1.0), None), (Some(2.0), None)], "treatment"),
        ([(None, Some(1.0)), (None, Some(2.0))], "baseline"),
        ([(None, None), (None, None)], "baseline"),
        ([(None, Some(1.0)), (Some(2.0), None)], "two in one block"),
    ] {
        let c = compare(&input(Samples::Paired(&pairs)));
        assert_eq!(c.verdict, Verdict::Invalid);
        assert!(c.reason.starts_with(&format!("there is no value of the {side};")), "{}", c.reason);
    }
}

#[test]
fn better_and_worse_follow_the_direction() {
    let p = pairs(10, 1.05);
    let c = paired(&p);
    assert_eq!(c.verdict, Verdict::Worse, "{}", c.reason);
    assert!(c.reason.contains("above 1") && c.reason.contains("lower is better"), "{}", c.reason);
    assert!(c.reason.contains("rank interval"), "{}", c.reason);
    assert_eq!((c.n, c.method, c.sensitivity_method), (10, Method::PairedT, Method::SignedRank));
    assert!((c.ratio.unwrap() - 1.05).abs() < 0.005);
    assert!(c.sensitivity.is_some() && c.detectable.unwrap() > 1.0);
    let c = compare(&CompareInput { better: Better::Higher, ..input(Samples::Paired(&p)) });
    assert_eq!(c.verdict, Verdict::Better);
    let c = compare(&CompareInput { better: Better::Neither, ..input(Samples::Paired(&p)) });
    assert_eq!(c.verdict, Verdict::Inconclusive);
    assert!(c.reason.contains("neither"), "{}", c.reason);
}

#[test]
fn margins_make_equivalence_and_gates() {
    let at = |ratio: f64, margin: f64, gate: bool| {
        let p = pairs(12, ratio);
        compare(&CompareInput { margin: Some(margin), gate, ..input(Samples::Paired(&p)) })
    };
    let c = at(1.0, 0.02, false);
    assert_eq!(c.verdict, Verdict::Equivalent, "{}", c.reason);
    assert!(c.reason.contains("90 %") && c.reason.contains("margin of 2 %"), "{}", c.reason);
    let c = at(1.01, 0.02, false);
    assert_eq!(c.verdict, Verdict::Equivalent, "clear, but smaller than what matters");
    assert!(c.reason.contains("by less than matters"), "{}", c.reason);
    assert_eq!(at(1.019, 0.02, false).verdict, Verdict::Worse);
    let c = at(1.02, 0.02, true);
    assert_eq!(c.verdict, Verdict::Inconclusive);
    assert!(c.reason.contains("not beyond the margin"), "{}", c.reason);
    let c = at(1.04, 0.02, true);
    assert_eq!(c.verdict, Verdict::Worse);
    assert!(c.reason.contains("by more than the margin"), "{}", c.reason);
    assert_eq!(at(0.96, 0.02, true).verdict, Verdict::Better);
    assert_eq!(c.margin, Some(0.02));
    let p = pairs(6, 1.0);
    let bad = CompareInput { margin: Some(f64::NAN), ..input(Samples::Paired(&p)) };
    assert_eq!((compare(&bad).verdict, compare(&bad).margin), (Verdict::Invalid, None));
}

#[test]
fn one_wild_pair_makes_the_sensitivity_check_disagrees() {
    let mut p = pairs(12, 1.02);
    p[4].1 = Some(3.0);
    let c = paired(&p);
    assert_eq!(c.verdict, Verdict::Inconclusive);
    assert!(c.reason.contains("shape") && c.reason.contains("by ranks"), "{}", c.reason);
}

#[test]
fn too_few_missing_and_impossible_values() {
    let c = paired(&pairs(2, 1.5));
    assert_eq!((c.verdict, c.interval, c.detectable), (Verdict::Inconclusive, None, None));
    assert!(c.ratio.is_some() && c.reason.contains("use at least three"), "{}", c.reason);
    let mut p = pairs(10, 1.05);
    p[3].0 = None;
    p[7] = (None, None);
    let c = paired(&p);
    assert_eq!((c.n, c.verdict), (8, Verdict::Worse));
    assert!(c.reason.contains("2 of 10 pairs lack a value"), "{}", c.reason);
    let c = paired(&[(None, Some(1.0)), (Some(2.0), None)]);
    assert_eq!((c.verdict, c.ratio, c.n), (Verdict::Invalid, None, 0));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut p = pairs(6, 1.05);
        p[2].1 = Some(bad);
        let c = paired(&p);
        assert_eq!((c.verdict, c.ratio), (Verdict::Invalid, None));
        assert!(c.reason.contains("value 2 of the treatment"), "{}", c.reason);
    }
}

#[test]
fn values_without_spread() {
    let same = vec![(Some(7.0), Some(7.0)); 6];
    let c = paired(&same);
    assert_eq!(c.verdict, Verdict::Equivalent);
    assert!(c.reason.contains("exactly the same"), "{}", c.reason);
    let c = paired(&[(Some(7.0), Some(7.7)); 6]);
    assert_eq!(c.verdict, Verdict::Worse);
    assert!(c.reason.contains("no spread"), "{}", c.reason);
    let i = c.interval.unwrap();
    assert!(i.low == i.high && (i.low - 1.1).abs() < 1e-12);
}

#[test]
fn independent_samples() {
    let b: Vec<Option<f64>> = WAVE.iter().copied().map(Some).collect();
    let mut t: Vec<Option<f64>> = WAVE[..8].iter().map(|v| Some(v * 0.9)).collect();
    t.push(None);
    let samples = Samples::Independent { baseline: &b, treatment: &t };
    let c = compare(&input(samples));
    assert_eq!((c.method, c.sensitivity_method, c.n), (Method::Welch, Method::RankSum, 8));
    assert_eq!(c.verdict, Verdict::Better, "{}", c.reason);
    assert!(c.reason.contains("1 of 21 trials lack a value"), "{}", c.reason);
    let none = Samples::Independent { baseline: &[], treatment: &t };
    assert_eq!(compare(&input(none)).verdict, Verdict::Invalid);
}

proptest::proptest! {
    #[test]
    fn whatever_comes_every_float_is_finite(
        p in proptest::collection::vec(
            (proptest::option::of(proptest::num::f64::ANY),
                proptest::option::of(proptest::num::f64::ANY)),
            0..12,
        ),
        confidence in proptest::num::f64::ANY,
        margin in proptest::option::of(proptest::num::f64::ANY),
    ) {
        for confidence in [0.95, confidence] {
            let c = compare(&CompareInput { confidence, margin, ..input(Samples::Paired(&p)) });
            let floats = [c.ratio, c.detectable, c.margin];
            let intervals = [c.interval, c.sensitivity].into_iter().flatten();
            proptest::prop_assert!(floats.into_iter().flatten().all(f64::is_finite));
            proptest::prop_assert!(
                intervals.into_iter().all(|i| i.low.is_finite() && i.high.is_finite()
                    && i.low <= i.high)
            );
            proptest::prop_assert!(!c.reason.is_empty());
        }
    }

    #[test]
    fn extreme_but_positive_values(
        p in proptest::collection::vec((1e-308f64..1e308, 1e-308f64..1e308), 3..12)
    ) {
        let p: Vec<_> = p.into_iter().map(|(b, t)| (Some(b), Some(t))).collect();
        let c = paired(&p);
        proptest::prop_assert!(c.ratio.is_none_or(f64::is_finite));
        proptest::prop_assert!(c.interval.is_none_or(|i| i.low.is_finite() && i.high.is_finite()));
    }
}

/// Returns ten pairs whose log ratios are evenly spaced about `log`, with a standard error of
/// 0.00383.
fn about(log: f64) -> Vec<(Option<f64>, Option<f64>)> {
    let steps = (0..10).map(|i| f64::from(i) * 0.004 - 0.018);
    steps.map(|w| (Some(1.0), Some((log + w).exp()))).collect()
}

#[test]
fn of_several_gates_each_must_be_clear_enough_for_all() {
    // Student's p: 2e-10, 0.018 and 1; Holm requires of the second of four that 3 p be at most
    // 0.05.
    let (clear, close, none) = (about(0.1), about(0.0111), about(0.0));
    let gate = |p| CompareInput { gate: true, ..input(Samples::Paired(p)) };
    let alone = compare(&gate(&close));
    assert_eq!(alone.verdict, Verdict::Worse, "{}", alone.reason);
    let family = compare_family(&[gate(&none), gate(&close), gate(&clear), gate(&none)]);
    let verdicts: Vec<Verdict> = family.iter().map(|c| c.verdict).collect();
    let unclear = Verdict::Inconclusive;
    assert_eq!(verdicts, [unclear, unclear, Verdict::Worse, unclear]);
    assert!(family[1].reason.contains("of 4 comparisons"), "{}", family[1].reason);
    assert!(family[1].reason.contains("Holm"), "{}", family[1].reason);
    assert!(family[2].reason.contains("also among 4 comparisons"), "{}", family[2].reason);
    assert_eq!(family[1].interval, alone.interval, "the interval is of the one comparison");
    // Among two comparisons, 0.018 is clear enough.
    let two = compare_family(&[gate(&close), gate(&clear)]);
    assert_eq!(two[0].verdict, Verdict::Worse, "{}", two[0].reason);
    // A single comparison, and comparisons that are not gates, are unchanged.
    assert_eq!(compare_family(&[gate(&close)]), [alone]);
    let free = [&none, &close, &clear, &none].map(|p| input(Samples::Paired(p)));
    assert_eq!(compare_family(&free), free.iter().map(compare).collect::<Vec<_>>());
    assert_eq!(compare_family(&[]), []);
}

#[test]
fn a_gate_in_a_family_is_judged_against_its_margin() {
    let (a, b) = (about(0.1), about(0.031));
    let gate =
        |p, margin| CompareInput { gate: true, margin: Some(margin), ..input(Samples::Paired(p)) };
    // 3.1 % is 2.9 standard errors beyond 2 %: clear alone (p = 0.018), and among two.
    let of = |n: usize| {
        let mut all = vec![gate(&b, 0.02); n];
        all.push(gate(&a, 0.02));
        compare_family(&all)[0].verdict
    };
    assert_eq!(of(1), Verdict::Worse);
    assert_eq!(of(3), Verdict::Inconclusive, "among four");
}
