//! Checks of the points: which ones are required, their lengths, the score, and the overlap of
//! instances.

use super::OrdersResult;
use crate::pack::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, agree, check, fail, pass, unknown, verdict,
};

pub(super) const CHECKS: &[PackCheck<OrdersResult>] = &[
    check("expected-peak", &[], expected_peak),
    check("points", &[("min", CheckParamType::Number)], points),
    check("score", &[("tolerance", CheckParamType::Number)], score),
    check("no-gap-below-peak", &[("min", CheckParamType::Number)], no_gap),
    check(
        "lengths",
        &[("below_s", CheckParamType::Number), ("scored_s", CheckParamType::Number)],
        lengths,
    ),
    check(
        "actual-length",
        &[("min_s", CheckParamType::Number), ("max_s", CheckParamType::Number)],
        actual_length,
    ),
    check("instances-overlap", &[], overlap),
];

/// Returns the expected peak N, or `None` if it is missing or 0.
fn peak(r: &OrdersResult) -> Option<u32> {
    r.expected_peak.filter(|n| *n > 0)
}

fn expected_peak(r: &OrdersResult, _: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = peak(r) else { return unknown("the expected peak") };
    let Some(processors) = r.processors else { return unknown("the processors reported") };
    if n == processors {
        return pass(format!("N is {n}, the processors reported"));
    }
    let reason = r.peak_reason.as_deref().unwrap_or_default().trim();
    if reason.is_empty() {
        return fail(format!(
            "N is {n}, {processors} processors are reported, and no reason is given"
        ));
    }
    match r.peak_reviewed {
        Some(true) => pass(format!("N was set to {n}, reviewed: {reason}")),
        Some(false) => fail(format!("N was set to {n} without a review: {reason}")),
        None => unknown("whether the expected peak set by hand was reviewed"),
    }
}

fn points(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = peak(r) else { return unknown("the expected peak") };
    let Some(first) = r.points.first() else { return unknown("the points") };
    let mut wrong = Vec::new();
    if first.warehouses != 1 {
        wrong.push(format!("the first point has {} warehouses, not 1", first.warehouses));
    }
    // A point between N + 1 and 2N may be missing and then scores 0; the order must still rise.
    if let Some(pair) = r.points.windows(2).find(|w| w[1].warehouses <= w[0].warehouses) {
        let (a, b) = (pair[0].warehouses, pair[1].warehouses);
        wrong.push(format!("{b} warehouses follow {a}; points rise by one"));
    }
    let end = n.saturating_mul(2).max(p.number("min") as u32);
    let beyond_gap = r
        .points
        .windows(2)
        .find(|w| w[1].warehouses > w[0].warehouses + 1 && w[0].warehouses >= end);
    if let Some(pair) = beyond_gap {
        wrong.push(format!("{} follows {} warehouses", pair[1].warehouses, pair[0].warehouses));
    }
    verdict(&wrong, &[], format!("points rise by one from 1, to {end} at least"))
}

fn score(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = peak(r) else { return unknown("the expected peak") };
    if r.points.is_empty() {
        return unknown("the points");
    }
    let (Some(given), Some(each), Some(instances)) = (r.score, r.score_per_instance, r.instances())
    else {
        return unknown("the score, the score per instance and the instances");
    };
    let tolerance = p.number("tolerance");
    let mut wrong = Vec::new();
    let computed = r.computed_score(n).unwrap_or(f64::NAN);
    if !agree(computed, given, tolerance) {
        wrong.push(format!("the score is {computed:.1}, not {given}"));
    }
    let computed = computed / instances as f64;
    if !agree(computed, each, tolerance) {
        wrong.push(format!("the score per instance is {computed:.1}, not {each}"));
    }
    verdict(&wrong, &[], format!("the mean over {n} to {} warehouses recomputes", 2 * n))
}

fn no_gap(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = peak(r) else { return unknown("the expected peak") };
    if r.points.is_empty() {
        return unknown("the points");
    }
    let least = p.number("min") as u32;
    let absent = |from: u32, to: u32| -> Vec<String> {
        // Bounds the work: no system has so large a number of processors, and thus of points.
        let range = from..=to.min(from.saturating_add(100_000));
        range.filter(|w| r.point(*w).is_none()).take(9).map(|w| w.to_string()).collect()
    };
    let void = absent(1, n.max(least));
    if !void.is_empty() {
        return fail(format!("there is no point with {} warehouses", void.join(", ")));
    }
    let zero = absent(n + 1, n.saturating_mul(2));
    if zero.is_empty() {
        pass("every point that must be there is")
    } else {
        pass(format!("points with {} warehouses are missing and count 0", zero.join(", ")))
    }
}

fn lengths(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = peak(r) else { return unknown("the expected peak") };
    if r.points.is_empty() {
        return unknown("the points");
    }
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for point in &r.points {
        let want = if point.warehouses < n { p.number("below_s") } else { p.number("scored_s") };
        match point.set_s {
            Some(s) if agree(s, want, 1e-9) => {}
            Some(s) => wrong.push(format!("{} warehouses: {s} s, not {want} s", point.warehouses)),
            None => missing.push(format!("the length set for {} warehouses", point.warehouses)),
        }
    }
    verdict(&wrong, &missing, "all points were set to the lengths of the rules")
}

fn actual_length(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = peak(r) else { return unknown("the expected peak") };
    let (least, most) = (p.number("min_s"), p.number("max_s"));
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    let mut any = false;
    for point in r.scored(n) {
        for i in &point.instances {
            any = true;
            let (Some(start), Some(end)) = (i.start_s, i.end_s) else {
                missing.push(format!("the times of {} warehouses", point.warehouses));
                continue;
            };
            let took = end - start;
            if !(least..=most).contains(&took) {
                wrong.push(format!(
                    "{} warehouses of instance {} took {took:.1} s, not {least} s to {most} s",
                    point.warehouses, i.instance
                ));
            }
        }
    }
    if !any {
        missing.push("a scored point".to_owned());
    }
    verdict(&wrong, &missing, format!("every scored interval lies in {least} s to {most} s"))
}

fn overlap(r: &OrdersResult, _: &Parameters<'_>) -> CheckVerdict {
    match r.instances() {
        None => return unknown("the points"),
        Some(1) => return pass("there is one instance"),
        Some(_) => {}
    }
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for point in &r.points {
        let w = point.warehouses;
        let mut all = Vec::new();
        for i in &point.instances {
            match (i.ramp_up_start_s, i.start_s, i.end_s, i.ramp_down_end_s) {
                (Some(up), Some(start), Some(end), Some(down)) => all.push((up, start, end, down)),
                _ => {
                    missing.push(format!("the times of instance {} at {w} warehouses", i.instance));
                }
            }
        }
        let last_up = all.iter().map(|t| t.0).fold(f64::NEG_INFINITY, f64::max);
        let first_start = all.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
        let last_end = all.iter().map(|t| t.2).fold(f64::NEG_INFINITY, f64::max);
        let first_down = all.iter().map(|t| t.3).fold(f64::INFINITY, f64::min);
        if first_start < last_up {
            wrong.push(format!("{w} warehouses: one measured before another had started"));
        }
        if last_end > first_down {
            wrong.push(format!("{w} warehouses: one measured after another had ended"));
        }
    }
    verdict(&wrong, &missing, "every instance measured while all ran")
}
