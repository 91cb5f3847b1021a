//! Checks of the runs of a suite: invocation, validation, selected times, ratios, copies.

use std::collections::BTreeSet;

use assay_stats::means::geometric;
use assay_stats::summary::median;

use super::{CpuExecution, CpuMember, CpuSuiteResult, InputSize, SuiteKind, Tuning};
use crate::pack::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, agree, check, fail, pass, unknown, verdict,
};

pub(super) const CHECKS: &[PackCheck<CpuSuiteResult>] = &[
    check("one-invocation", &[], one_invocation),
    check("validated-sizes", &[], validated),
    check(
        "timed-runs",
        &[("min", CheckParamType::Number), ("max", CheckParamType::Number)],
        timed_runs,
    ),
    check("ratios", &[("tolerance", CheckParamType::Number)], ratios),
    check("one-copy-count", &[], copy_count),
    check("base-environment", &[("owned_by_tools", CheckParamType::Words)], base_environment),
    check("file-systems", &[("disclosed_as", CheckParamType::Words)], file_systems),
    check("optimiser-memory", &[], optimiser),
    check("base-as-peak", &[], base_as_peak),
];

fn one_invocation(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    if r.executions.is_empty() {
        return unknown("the executions");
    }
    let invocations: BTreeSet<&str> = r.executions.iter().map(|e| e.invocation.as_str()).collect();
    if invocations.len() > 1 {
        return fail(format!("the executions come from {} invocations", invocations.len()));
    }
    let orders =
        |tuning: Tuning| r.executions.iter().filter(move |e| e.tuning == tuning).map(|e| e.order);
    match (orders(Tuning::Base).max(), orders(Tuning::Peak).min()) {
        (Some(base), Some(peak)) if base > peak => fail("peak was run before base had ended"),
        _ => pass("all executions come from one invocation, base first"),
    }
}

fn of<'a>(
    r: &'a CpuSuiteResult,
    member: &'a str,
    tuning: Tuning,
) -> impl Iterator<Item = &'a CpuExecution> {
    r.executions.iter().filter(move |e| e.member == member && e.tuning == tuning)
}

fn validated(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    if r.members.is_empty() {
        return unknown("the members");
    }
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for (member, tuning, _) in r.results() {
        let name = format!("{} {}", member.name, tuning.name());
        let has = |size: InputSize, timed: bool| {
            of(r, &member.name, tuning).any(|e| e.size == size && e.timed == timed)
        };
        let wanted = [
            ("an untimed test", InputSize::Test, false),
            ("an untimed train", InputSize::Train, false),
            ("a timed reference", InputSize::Reference, true),
        ];
        for (what, size, timed) in wanted {
            if !has(size, timed) {
                wrong.push(format!("{name} lacks {what} execution"));
            }
        }
        for e in of(r, &member.name, tuning) {
            match e.valid {
                Some(true) => {}
                Some(false) => wrong.push(format!("an execution of {name} gave wrong output")),
                None => missing.push(format!("whether the output of {name} was right")),
            }
        }
    }
    verdict(&wrong, &missing, "every member ran test, train and reference with right output")
}

fn times(r: &CpuSuiteResult, member: &str, tuning: Tuning) -> Vec<Option<f64>> {
    of(r, member, tuning)
        .filter(|e| e.timed && e.size == InputSize::Reference)
        .map(|e| e.seconds)
        .collect()
}

/// Checks that the time in the result is the median of three timed runs, or the slower of two.
fn timed_runs(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let (least, most) = (p.number("min") as usize, p.number("max") as usize);
    if r.members.is_empty() || r.executions.is_empty() {
        return unknown("the timed executions");
    }
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for (member, tuning, result) in r.results() {
        let name = format!("{} {}", member.name, tuning.name());
        let times = times(r, &member.name, tuning);
        if !(least..=most).contains(&times.len()) {
            let n = times.len();
            wrong.push(format!("{name} was timed {n} times; {least} or {most} are required"));
            continue;
        }
        let seconds: Vec<f64> = times.iter().flatten().copied().collect();
        let (Some(given), true) = (result.selected_s, seconds.len() == times.len()) else {
            missing.push(format!("the times of {name}"));
            continue;
        };
        let counts = if seconds.len() < 3 {
            seconds.iter().copied().reduce(f64::max)
        } else {
            median(&seconds)
        };
        if counts.is_none_or(|c| !agree(c, given, 1e-9)) {
            let rule = if seconds.len() < 3 { "the slower" } else { "the median" };
            wrong.push(format!("{name} counts {given} s, which is not {rule} of its times"));
        }
    }
    verdict(&wrong, &missing, "the median of three or the slower of two times counts")
}

fn ratios(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let tolerance = p.number("tolerance");
    let Some(kind) = r.kind else { return unknown("whether the suite is of speed or rate") };
    if r.members.is_empty() {
        return unknown("the members");
    }
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    let absent = r.members.iter().filter(|m| m.base.is_none());
    wrong.extend(absent.map(|m| format!("{} has no base result", m.name)));
    for (member, tuning, result) in r.results() {
        let name = format!("{} {}", member.name, tuning.name());
        let copies = match kind {
            SuiteKind::Speed => Some(1.0),
            SuiteKind::Rate => result.copies.map(f64::from),
        };
        match (member.reference_s, result.selected_s, copies, result.ratio) {
            (Some(reference), Some(s), Some(copies), Some(given)) => {
                let ratio = copies * reference / s;
                if !agree(ratio, given, tolerance) {
                    wrong.push(format!("the ratio of {name} is {ratio:.4}, not {given}"));
                }
            }
            _ => missing.push(format!("the inputs of the ratio of {name}")),
        }
    }
    overall(r, tolerance, &mut wrong, &mut missing);
    verdict(&wrong, &missing, "ratios and their geometric means recompute")
}

fn overall(r: &CpuSuiteResult, tolerance: f64, wrong: &mut Vec<String>, missing: &mut Vec<String>) {
    let ratio = |m: &CpuMember, tuning: Tuning| match tuning {
        Tuning::Base => m.base.as_ref()?.ratio,
        Tuning::Peak => m.peak.as_ref().or(m.base.as_ref())?.ratio,
    };
    for (tuning, given) in [(Tuning::Base, r.overall_base), (Tuning::Peak, r.overall_peak)] {
        let all: Option<Vec<f64>> = r.members.iter().map(|m| ratio(m, tuning)).collect();
        let mean = all.and_then(|all| geometric(&all));
        match (given, mean) {
            (Some(given), Some(mean)) if !agree(given, mean, tolerance) => {
                wrong
                    .push(format!("the overall {} ratio is {mean:.4}, not {given}", tuning.name()));
            }
            (None, _) if tuning == Tuning::Base => {
                missing.push("the overall base ratio".to_owned());
            }
            (Some(_), None) => missing.push(format!("all {} ratios", tuning.name())),
            (None, _) if tuning == Tuning::Peak && r.peak_reported == Some(true) => {
                missing.push("the overall peak ratio".to_owned());
            }
            _ => {}
        }
    }
}

/// Returns the names of the first two members whose base results differ in `of`, or `None`. The
/// error is the name of a member without a value.
fn common<T: PartialEq + Clone>(
    r: &CpuSuiteResult,
    of: impl Fn(&super::CpuTuning) -> Option<T>,
) -> Result<Option<(String, String)>, String> {
    let mut first: Option<(&str, T)> = None;
    for (member, base) in r.base() {
        let Some(value) = of(base) else { return Err(member.name.clone()) };
        match &first {
            None => first = Some((&member.name, value)),
            Some((other, wanted)) if *wanted != value => {
                return Ok(Some(((*other).to_owned(), member.name.clone())));
            }
            Some(_) => {}
        }
    }
    if first.is_none() { Err("any member".to_owned()) } else { Ok(None) }
}

fn copy_count(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    for (what, found) in
        [("copies", common(r, |t| t.copies)), ("threads", common(r, |t| t.threads))]
    {
        match found {
            Err(member) => return unknown(format!("the base {what} of {member}")),
            Ok(Some((a, b))) => return fail(format!("base {what} of {a} and {b} differ")),
            Ok(None) => {}
        }
    }
    pass("all members have the same base copies and threads")
}

fn base_environment(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    match common(r, |t| Some((t.environment.clone()?, t.submit.clone()?))) {
        Err(member) => {
            return unknown(format!("the base environment or submit command of {member}"));
        }
        Ok(Some((a, b))) => {
            return fail(format!("base environment or submit command of {a} and {b} differ"));
        }
        Ok(None) => {}
    }
    let owned = p.words("owned_by_tools");
    for (member, base) in r.base() {
        let set = base.environment.iter().flat_map(|e| e.keys());
        if let Some(name) = set.into_iter().find(|n| owned.contains(&n.as_str())) {
            return fail(format!("{} sets {name}, which the tools set", member.name));
        }
    }
    pass("all base runs have one environment and one submit command")
}

fn file_systems(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let (Some(tree), Some(run), Some(root)) =
        (&r.tree_file_systems, &r.run_file_systems, r.output_root)
    else {
        return unknown("the file systems of the tree and of the run directories");
    };
    let mut wrong = Vec::new();
    let distinct = |list: &[String]| list.iter().collect::<BTreeSet<_>>().len();
    let most = if root { 2 } else { 1 };
    if distinct(tree) > most {
        wrong.push(format!("the tree is on {} file systems", distinct(tree)));
    }
    if distinct(run) > 1 {
        wrong.push(format!("the run directories are on {} file systems", distinct(run)));
    }
    let stated = p.words("disclosed_as");
    let disclosed = |name: &&&str| r.disclosure.get(**name).is_some_and(|v| !v.trim().is_empty());
    if let Some(name) = stated.iter().find(|n| !disclosed(n)) {
        wrong.push(format!("`{name}` is not disclosed"));
    }
    verdict(&wrong, &[], "one file system, and its type is disclosed")
}

fn optimiser(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    match r.optimiser_remembers {
        Some(false) => pass("no run-time optimiser keeps data about a program between runs"),
        Some(true) => fail("a run-time optimiser keeps data about a program between runs"),
        None => unknown("whether a run-time optimiser keeps data between runs"),
    }
}

fn base_as_peak(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    match r.peak_reported {
        Some(false) => return pass("no peak is reported"),
        Some(true) => {}
        None => return unknown("whether peak is reported"),
    }
    let mut wrong = Vec::new();
    for m in &r.members {
        match (&m.base, &m.peak) {
            (Some(base), Some(peak)) if peak.is_base => {
                if base.ratio != peak.ratio || base.selected_s != peak.selected_s {
                    wrong.push(format!("peak of {} is called base and differs from it", m.name));
                }
            }
            (_, Some(_)) => {}
            (_, None) => wrong.push(format!("{} has no peak result, its own or base", m.name)),
        }
    }
    verdict(&wrong, &[], "every member has a peak result, its own or base")
}
