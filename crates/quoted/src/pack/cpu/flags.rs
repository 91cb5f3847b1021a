//! Checks of the compiler flags: which ones are allowed, and whether they are described.

use std::collections::{BTreeMap, BTreeSet};

use super::{CpuSuiteResult, CpuTuning, SuiteKind, Tuning};
use crate::pack::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, check, fail, pass, unknown, verdict,
};

pub(super) const CHECKS: &[PackCheck<CpuSuiteResult>] = &[
    check("base-flags", &[], |r, p| lacking(r).unwrap_or_else(|| base_flags(r, p))),
    check(
        "portability",
        &[("approved", CheckParamType::Words), ("data_models", CheckParamType::Words)],
        |r, p| lacking(r).unwrap_or_else(|| portability(r, p)),
    ),
    check("base-forbids", &[("forbidden", CheckParamType::Table)], |r, p| {
        lacking(r).unwrap_or_else(|| base_forbids(r, p))
    }),
    check("no-names", &[("training", CheckParamType::Words)], |r, p| {
        lacking(r).unwrap_or_else(|| no_names(r, p))
    }),
    check("compiler-parallelism", &[("parallel", CheckParamType::Words)], parallelism),
    check("flags-described", &[], |r, p| lacking(r).unwrap_or_else(|| described(r, p))),
];

/// Returns true if a flag equals `pattern`, or starts with it if the pattern ends in `*`.
fn is(flag: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => flag.starts_with(start),
        None => flag == pattern,
    }
}

fn flags(t: &CpuTuning) -> impl Iterator<Item = &String> {
    t.flags.iter().flat_map(BTreeMap::values).flatten()
}

/// Returns the missing information if the flags of a result are not recorded.
fn lacking(r: &CpuSuiteResult) -> Option<CheckVerdict> {
    if r.members.is_empty() {
        return Some(unknown("the members"));
    }
    let without = r.results().find(|(_, _, t)| t.flags.is_none() || t.portability.is_none());
    without.map(|(m, tuning, _)| unknown(format!("the {} flags of {}", tuning.name(), m.name)))
}

fn base_flags(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    let mut first: BTreeMap<&str, (&str, &Vec<String>, &String)> = BTreeMap::new();
    for (member, base) in r.base() {
        let Some(toolchain) = &base.toolchain else {
            return unknown(format!("compiler, linker and libraries of {}", member.name));
        };
        for (language, list) in base.flags.iter().flatten() {
            let Some(tools) = toolchain.get(language) else {
                return unknown(format!("the {language} toolchain of {}", member.name));
            };
            let entry = first.entry(language).or_insert((&member.name, list, tools));
            if entry.1 != list {
                return fail(format!(
                    "base flags for {language} differ, or are in another order, in {} and {}",
                    entry.0, member.name
                ));
            }
            if entry.2 != tools {
                let other = entry.0;
                return fail(format!(
                    "{other} and {} used different {language} tools",
                    member.name
                ));
            }
        }
    }
    pass("each language has one set of base flags and tools, in one order")
}

fn portability(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let (approved, models) = (p.words("approved"), p.words("data_models"));
    let mut wrong = BTreeSet::new();
    for (member, _, t) in r.results() {
        let ported = t.portability.iter().flatten();
        for flag in ported.filter(|f| !approved.iter().any(|a| is(f, a))) {
            wrong.insert(format!("{flag} of {} is not an approved portability flag", member.name));
        }
    }
    let mut seen: BTreeMap<&str, (&str, BTreeSet<&str>)> = BTreeMap::new();
    for (member, base) in r.base() {
        for (language, list) in base.flags.iter().flatten() {
            let all = list.iter().chain(base.portability.iter().flatten()).map(String::as_str);
            let used: BTreeSet<&str> = all.filter(|f| models.iter().any(|m| is(f, m))).collect();
            let entry = seen.entry(language).or_insert((&member.name, used.clone()));
            if entry.1 != used {
                let other = entry.0;
                wrong.insert(format!(
                    "base data models for {language} differ in {other} and {}",
                    member.name
                ));
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    verdict(&wrong, &[], "portability flags are approved, and data models agree")
}

fn base_forbids(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let forbidden = p.table("forbidden");
    let mut wrong = Vec::new();
    for (member, base) in r.base() {
        for flag in flags(base) {
            if let Some((_, what)) = forbidden.iter().find(|(pattern, _)| is(flag, pattern)) {
                wrong.push(format!("base of {} has {flag}: {what}", member.name));
            }
        }
    }
    verdict(&wrong, &[], "base has none of the forbidden flags")
}

/// Splits a flag into words as a compiler would find names in it: letters, digits, `_` and `.`.
fn words(flag: &str) -> impl Iterator<Item = &str> {
    flag.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).filter(|w| !w.is_empty())
}

fn no_names(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let training = p.words("training");
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for (member, tuning, t) in r.results() {
        let name = format!("{} {}", member.name, tuning.name());
        let Some(names) = &member.source_names else {
            missing.push(format!("the source names of {}", member.name));
            continue;
        };
        for flag in flags(t).chain(t.portability.iter().flatten()) {
            if let Some(word) = words(flag).find(|w| names.iter().any(|n| n == w)) {
                wrong.push(format!("{flag} of {name} names {word} of its source"));
            }
        }
        match t.trained_on.as_deref() {
            None => missing.push(format!("what {name} was trained on")),
            Some("none") => {}
            Some(input) if !training.contains(&input) => {
                wrong.push(format!("{name} was trained on {input}"));
            }
            Some(_) => {}
        }
    }
    verdict(&wrong, &missing, "no flag names source, and feedback is from the training input")
}

fn parallelism(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    match r.kind {
        None => return unknown("whether the suite is of speed or rate"),
        Some(SuiteKind::Speed) => return pass("a speed suite may use compiler parallelism"),
        Some(SuiteKind::Rate) => {}
    }
    if let Some(unknown) = lacking(r) {
        return unknown;
    }
    let parallel = p.words("parallel");
    for (member, tuning, t) in r.results() {
        if let Some(flag) = flags(t).find(|f| parallel.iter().any(|p| is(f, p))) {
            return fail(format!("{} {} of a rate suite has {flag}", member.name, tuning.name()));
        }
    }
    pass("no compiler parallelism in a rate suite")
}

fn described(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    let Some(described) = &r.described_flags else { return unknown("the flags file") };
    let undescribed: BTreeSet<&str> = r
        .results()
        .flat_map(|(_, _, t)| flags(t).chain(t.portability.iter().flatten()))
        .filter(|f| !described.iter().any(|d| is(f, d)))
        .map(String::as_str)
        .collect();
    let list: Vec<&str> = undescribed.into_iter().collect();
    if list.is_empty() {
        let tunings: BTreeSet<Tuning> = r.results().map(|(_, t, _)| t).collect();
        return pass(format!("every flag of {} tunings is described", tunings.len()));
    }
    fail(format!("no description of {}", list.join(", ")))
}
