//! Fair use of quoted results: the statements that must accompany a number owned by a benchmark's
//! organization.

use serde::{Deserialize, Serialize};

use super::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, check, fail, pass, unknown, verdict,
};

/// A claim that quotes results, and the statements that accompany it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FairUse {
    pub results: Vec<QuotedUse>,
    /// True if the basis of the comparison is stated.
    pub basis_stated: Option<bool>,
    /// Websites that the claim names (`spec.org`).
    pub sites_named: Option<Vec<String>>,
    /// Trademark line; empty if none is printed, `None` if unknown.
    pub trademark_line: Option<String>,
    /// Benchmarks that are compared with each other.
    pub compares_benchmarks: Option<Vec<String>>,
    /// Date on which the statement is true.
    pub true_as_of: Option<String>,
    /// True if the statement was checked against the results of that date.
    pub checked_as_of: Option<bool>,
    /// True if a derived value is stated.
    pub derived: Option<bool>,
    /// True if each derived value is marked and printed close to its metric.
    pub derived_marked_near_metric: Option<bool>,
}

/// A quoted result, and the statements about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuotedUse {
    /// Short description of the result.
    pub what: String,
    /// Name and version of the benchmark.
    pub benchmark: Option<String>,
    /// Full name of the metric.
    pub metric: Option<String>,
    /// Publication that contains the result.
    pub source: Option<String>,
    /// True if the publication is public.
    pub public: Option<bool>,
    /// True if the result complies with the benchmark's run rules.
    pub compliant: Option<bool>,
    /// Holder of the licence under which it was measured.
    pub licensee: Option<String>,
    /// Date on which the source was read.
    pub retrieved: Option<String>,
    /// True if the result is an estimate.
    pub estimated: Option<bool>,
    /// True if the estimate is labelled at the number.
    pub estimate_labelled: Option<bool>,
    /// True if the benchmark is retired.
    pub retired: Option<bool>,
    /// True if the retirement is stated.
    pub retirement_stated: Option<bool>,
    /// Details printed next to the number: `chips`, `cores`, `parallelism`.
    pub beside: Option<Vec<String>>,
}

pub(crate) const CHECKS: &[PackCheck<FairUse>] = &[
    check("source-public", &[], source_public),
    check("licensee", &[], |f, _| each(f, "its licensee", |r| r.licensee.as_ref())),
    check("retrieved", &[], |f, _| each(f, "its retrieval date", |r| r.retrieved.as_ref())),
    check("metric-named", &[], |f, _| each(f, "its metric's full name", |r| r.metric.as_ref())),
    check("site-named", &[("sites", CheckParamType::Words)], site_named),
    check("basis-stated", &[], basis),
    check("compliant", &[], compliant),
    check("same-benchmark", &[], same_benchmark),
    check("trademark", &[("words", CheckParamType::Words)], trademark),
    check("true-as-of", &[], true_as_of),
    check("estimates-labelled", &[], estimates),
    check("derived-marked", &[], derived),
    check("retirement-stated", &[], retired),
    check("beside-the-number", &[("fields", CheckParamType::Words)], beside),
];

/// Requires a text of every quoted result. A missing text is a failure, not unknown: the claim does
/// not print it.
fn each(f: &FairUse, what: &str, of: impl Fn(&QuotedUse) -> Option<&String>) -> CheckVerdict {
    if f.results.is_empty() {
        return unknown("the quoted results");
    }
    let without = |r: &&QuotedUse| of(r).is_none_or(|t| t.trim().is_empty());
    let list: Vec<&str> = f.results.iter().filter(without).map(|r| r.what.as_str()).collect();
    if list.is_empty() {
        return pass(format!("every quoted result has {what}"));
    }
    fail(format!("{} lacks {what}", list.join(", ")))
}

/// Requires a property of every quoted result; unknown if it is not recorded for one of them.
fn all(
    f: &FairUse,
    of: fn(&QuotedUse) -> Option<bool>,
    wrong: &str,
    missing: &str,
    kept: &str,
) -> CheckVerdict {
    if f.results.is_empty() {
        return unknown("the quoted results");
    }
    let named = |want: Option<bool>, words: &str| -> Vec<String> {
        let those = f.results.iter().filter(|r| of(r) == want);
        those.map(|r| format!("{} {words}", r.what)).collect()
    };
    verdict(&named(Some(false), wrong), &named(None, missing), kept)
}

fn source_public(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    match each(f, "its source", |r| r.source.as_ref()) {
        CheckVerdict::Pass(_) => all(
            f,
            |r| r.public,
            "is not public",
            "(is it public?)",
            "every source is stated and public",
        ),
        other => other,
    }
}

fn site_named(f: &FairUse, p: &Parameters<'_>) -> CheckVerdict {
    let Some(named) = &f.sites_named else { return unknown("which sites are named") };
    let absent: Vec<&str> =
        p.words("sites").into_iter().filter(|s| !named.iter().any(|n| n.contains(s))).collect();
    if absent.is_empty() {
        pass("the body's site is named")
    } else {
        fail(format!("not named: {}", absent.join(", ")))
    }
}

fn basis(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    match f.basis_stated {
        Some(true) => pass("the basis of the comparison is stated"),
        Some(false) => fail("the basis of the comparison is not stated"),
        None => unknown("whether the basis of the comparison is stated"),
    }
}

fn compliant(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    all(
        f,
        |r| r.compliant,
        "does not comply with the run rules",
        "(does it comply?)",
        "all results comply",
    )
}

fn same_benchmark(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    let Some(compared) = &f.compares_benchmarks else {
        return unknown("which benchmarks are compared");
    };
    let mut distinct: Vec<&String> = compared.iter().collect();
    distinct.sort();
    distinct.dedup();
    if distinct.len() <= 1 {
        return pass("one benchmark is compared with itself");
    }
    let names: Vec<&str> = distinct.into_iter().map(String::as_str).collect();
    fail(format!("different benchmarks are compared: {}", names.join(", ")))
}

fn trademark(f: &FairUse, p: &Parameters<'_>) -> CheckVerdict {
    let Some(line) = &f.trademark_line else { return unknown("whether there is a trademark line") };
    if line.trim().is_empty() {
        return fail("there is no trademark line");
    }
    let lower = line.to_lowercase();
    match p.words("words").into_iter().find(|w| !lower.contains(&w.to_lowercase())) {
        Some(word) => fail(format!("the trademark line does not say `{word}`")),
        None => pass("the trademark line is present"),
    }
}

fn true_as_of(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    match (&f.true_as_of, f.checked_as_of) {
        (Some(date), Some(true)) if !date.trim().is_empty() => pass(format!("true as of {date}")),
        (Some(date), Some(false)) => fail(format!("not true as of {date}")),
        (None, _) => fail("no date is stated on which it is true"),
        (Some(_), _) => unknown("whether it is true as of its date"),
    }
}

/// Returns true if a result is `marked` or needs no mark; `None` if this is not recorded.
fn marked(needed: Option<bool>, marked: Option<bool>) -> Option<bool> {
    if needed? { marked } else { Some(true) }
}

fn estimates(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    all(
        f,
        |r| marked(r.estimated, r.estimate_labelled),
        "is an estimate without a label",
        "(is it an estimate?)",
        "no estimate is without its label",
    )
}

fn derived(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    match (f.derived, f.derived_marked_near_metric) {
        (Some(false), _) => pass("no value is derived"),
        (Some(true), Some(true)) => pass("derived values are marked and close to their metric"),
        (Some(true), Some(false)) => fail("a derived value is unmarked or far from its metric"),
        _ => unknown("whether and how values are derived"),
    }
}

fn retired(f: &FairUse, _: &Parameters<'_>) -> CheckVerdict {
    all(
        f,
        |r| marked(r.retired, r.retirement_stated),
        "is of a retired benchmark and is not marked as retired",
        "(is its benchmark retired?)",
        "retired benchmarks are marked as such",
    )
}

fn beside(f: &FairUse, p: &Parameters<'_>) -> CheckVerdict {
    if f.results.is_empty() {
        return unknown("the quoted results");
    }
    let fields = p.words("fields");
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for r in &f.results {
        let Some(there) = &r.beside else {
            missing.push(format!("the text next to {}", r.what));
            continue;
        };
        let absent: Vec<&str> =
            fields.iter().copied().filter(|f| !there.iter().any(|t| t == f)).collect();
        if !absent.is_empty() {
            wrong.push(format!("{} lacks {}", r.what, absent.join(", ")));
        }
    }
    verdict(&wrong, &missing, "the configuration is next to every number")
}

/// Checks source, licensee, date, basis, site and compliance together, for a published result.
pub(crate) fn basics(f: &FairUse) -> CheckVerdict {
    let parameters = std::collections::BTreeMap::new();
    let p = Parameters(&parameters);
    let parts = [
        source_public(f, &p),
        each(f, "its licensee", |r| r.licensee.as_ref()),
        each(f, "its retrieval date", |r| r.retrieved.as_ref()),
        basis(f, &p),
        compliant(f, &p),
        same_benchmark(f, &p),
    ];
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            CheckVerdict::Pass(_) => {}
            CheckVerdict::Fail(what) => wrong.push(what),
            CheckVerdict::Unknown(what) => missing.push(what),
        }
    }
    if f.sites_named.as_ref().is_none_or(Vec::is_empty) {
        wrong.push("no site of the benchmark's body is named".to_owned());
    }
    verdict(&wrong, &missing, "source, licensee, date, basis and site are next to the result")
}
