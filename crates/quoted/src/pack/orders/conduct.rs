//! Checks of properties, the program, the mix of operations, disclosure and publication.

use std::collections::BTreeMap;

use super::OrdersResult;
use crate::pack::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, check, disclosed, unknown, verdict,
};

pub(super) const CHECKS: &[PackCheck<OrdersResult>] = &[
    check("fixed-properties", &[("fixed", CheckParamType::Table)], fixed),
    check("supplied-program", &[], program),
    check("one-image", &[], one_image),
    check(
        "mix",
        &[("percent", CheckParamType::Table), ("tolerance_points", CheckParamType::Number)],
        mix,
    ),
    check("disclosed", &[("fields", CheckParamType::Words)], |r, p| disclosed(&r.disclosure, p)),
    check(
        "availability",
        &[("max_months", CheckParamType::Number), ("slower_percent", CheckParamType::Number)],
        availability,
    ),
    check(
        "no-estimates-no-other-benchmark",
        &[("may_compare", CheckParamType::Words)],
        comparisons,
    ),
];

fn fixed(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    if r.properties.is_empty() {
        return unknown("the properties of the run");
    }
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for (name, want) in p.table("fixed") {
        match r.properties.get(name) {
            Some(is) if is.trim() == want => {}
            Some(is) => wrong.push(format!("{name} is {is}, not {want}")),
            None => missing.push(format!("the property {name}")),
        }
    }
    verdict(&wrong, &missing, "the fixed properties have their values")
}

fn program(r: &OrdersResult, _: &Parameters<'_>) -> CheckVerdict {
    yes_to_all(
        &[
            ("the supplied program, unmodified", r.kit_unmodified),
            ("a conforming virtual machine", r.conforming),
            ("output that validated", r.validated),
        ],
        "the supplied program ran on a conforming machine and its output validated",
    )
}

/// Passes only if every property is known to be true.
fn yes_to_all(wanted: &[(&str, Option<bool>)], kept: &str) -> CheckVerdict {
    let those = |is: Option<bool>, before: &str| -> Vec<String> {
        let of = wanted.iter().filter(|(_, w)| *w == is);
        of.map(|(what, _)| format!("{before}{what}")).collect()
    };
    verdict(&those(Some(false), "without "), &those(None, ""), kept)
}

fn one_image(r: &OrdersResult, _: &Parameters<'_>) -> CheckVerdict {
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    match r.os_images {
        Some(1) => {}
        Some(n) => wrong.push(format!("it ran on {n} images of the operating system")),
        None => missing.push("the images of the operating system".to_owned()),
    }
    match r.collector_calls {
        Some(0) => {}
        Some(n) => wrong.push(format!("the program called the collector {n} times")),
        None => missing.push("calls of the collector".to_owned()),
    }
    match r.precompiled {
        Some(false) => {}
        Some(true) if r.disclosure.contains_key("precompilation") => {}
        Some(true) => wrong.push("precompilation or feedback is not disclosed".to_owned()),
        None => missing.push("whether code was compiled before".to_owned()),
    }
    verdict(&wrong, &missing, "one image of the operating system, no call of the collector")
}

/// Compares the counts over all scored points with the required mix, in percentage points.
fn mix(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let Some(n) = r.expected_peak else { return unknown("the expected peak") };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for i in r.scored(n).flat_map(|point| &point.instances) {
        for (kind, count) in &i.counts {
            let sum = counts.entry(kind).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let total: f64 = counts.values().map(|c| *c as f64).sum();
    if total <= 0.0 {
        return unknown("the counts of operations by kind");
    }
    let wanted = p.table("percent");
    let tolerance = p.number("tolerance_points");
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for (kind, text) in &wanted {
        let want: f64 = text.parse().unwrap_or(f64::NAN);
        let share = 100.0 * counts.get(kind).map_or(0.0, |c| *c as f64) / total;
        // A share that is not a number in the pack never matches.
        let off = (share - want).abs();
        if off.is_nan() || off > tolerance {
            wrong.push(format!("{kind} is {share:.1} % of the operations, not {want} %"));
        }
    }
    let strange = counts.keys().filter(|k| !wanted.iter().any(|(w, _)| w == *k));
    wrong.extend(strange.map(|k| format!("there are operations of kind {k}")));
    match r.threads_per_warehouse {
        Some(1) => {}
        Some(n) => wrong.push(format!("{n} threads serve a warehouse, not 1")),
        None => missing.push("the threads of a warehouse".to_owned()),
    }
    match r.think_time_s {
        Some(0.0) => {}
        Some(s) => wrong.push(format!("there is a think time of {s} s")),
        None => missing.push("the think time".to_owned()),
    }
    verdict(&wrong, &missing, "the operations have the mix of the rules")
}

fn availability(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let (most, slower) = (p.number("max_months"), p.number("slower_percent"));
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    match r.available_in_months {
        Some(months) if months > most => {
            wrong.push(format!(
                "parts are available only in {months} months, at most {most} are allowed"
            ));
        }
        Some(_) => {}
        None => missing.push("when all parts are available".to_owned()),
    }
    match (r.shipped_slower_percent, r.corrected) {
        (Some(by), Some(true)) if by >= slower => {}
        (Some(by), _) if by >= slower => {
            wrong.push(format!(
                "the shipped system is {by} % slower, and the result is uncorrected"
            ));
        }
        (Some(_), _) => {}
        (None, _) => missing.push("whether the shipped system is slower".to_owned()),
    }
    verdict(&wrong, &missing, "all parts are available, and the shipped system is as fast")
}

fn comparisons(r: &OrdersResult, p: &Parameters<'_>) -> CheckVerdict {
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    match r.estimated {
        Some(true) => wrong.push("a number is estimated".to_owned()),
        Some(false) => {}
        None => missing.push("whether a number is estimated".to_owned()),
    }
    let allowed = p.words("may_compare");
    match &r.compared_with {
        Some(others) => {
            let strange = others.iter().filter(|o| !allowed.contains(&o.as_str()));
            wrong.extend(strange.map(|o| format!("it is compared with {o}")));
        }
        None => missing.push("what it is compared with".to_owned()),
    }
    verdict(&wrong, &missing, "nothing is estimated or compared with another benchmark")
}
