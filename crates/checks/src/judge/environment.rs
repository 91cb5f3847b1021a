//! F01 to F06: systems and programs are described, and differ only in the declared factors.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::{Evaluation, at, found_or_missing, grave, missing, need, not_applicable, plain};
use crate::rows::{NI, W};
use crate::{Build, Evidence, FactsAfterTrials, TreatmentEvidence};
use assay_model::FiredCheck;

/// Facts without which a system counts as not described. Facts that only some machines report
/// (firmware, frequency, sensors) are not in the list: their absence is a difference of class
/// `unknown`.
pub(crate) const REQUIRED: [&str; 7] = [
    "cpu.model",
    "cpu.threads",
    "kernel.cmdline",
    "kernel.release",
    "libc.version",
    "memory.total",
    "os.id",
];

/// Factors under which the programs must differ; under those of [`MAY_DIFFER`] they may.
const BINARY_FACTORS: [&str; 5] = ["binary", "build", "compiler", "toolchain", "version"];

/// Factors that name a program with its arguments, or its source: two commits may build the same
/// program.
const MAY_DIFFER: [&str; 2] = ["command", "rev"];

pub(crate) fn captured(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let treatments = e.measured()?;
    for (i, treatment) in treatments.iter().enumerate() {
        // Treatments of one run share their description; one of them is enough to report it.
        let same = |a: &TreatmentEvidence| match (&a.snapshots, &treatment.snapshots) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        if treatments[..i].iter().any(same) {
            continue;
        }
        let Some(snapshots) = &treatment.snapshots else {
            lacking.push(format!("a description of {}'s system", treatment.label));
            continue;
        };
        match &snapshots.before {
            None => {
                found.push(plain(format!("{} has no description of its system", treatment.label)));
            }
            Some(system) => {
                let unknown: Vec<&str> =
                    REQUIRED.into_iter().filter(|p| system.get(p).is_none()).collect();
                if !unknown.is_empty() {
                    let text = format!(
                        "{} lacks {}; it cannot be compared",
                        treatment.label,
                        unknown.join(", ")
                    );
                    // A user cannot add facts that another tool did not record.
                    found.push(if e.imported { at(W, text) } else { plain(text) });
                }
            }
        }
        if snapshots.after == FactsAfterTrials::NotTaken {
            let text = format!(
                "the system of {} was not described again after its trials",
                treatment.label
            );
            found.push(at(if e.imported { W } else { NI }, text));
        }
    }
    found_or_missing(found, &lacking)
}

/// Keeps one of several findings with the same message, which all treatments share.
pub(crate) fn same_for_all(found: Vec<FiredCheck>, treatments: usize) -> Vec<FiredCheck> {
    let mut seen = BTreeSet::new();
    if treatments < 2 {
        return found;
    }
    found.into_iter().filter(|f| seen.insert(f.message.clone())).collect()
}

pub(crate) fn factor_declared(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let factors = need(e.factors.as_ref(), "what is meant to differ")?;
    if factors.is_empty() {
        return Ok(vec![plain("several treatments are compared, but no factor is declared")]);
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for factor in factors {
        let levels: Vec<Option<&String>> =
            treatments.iter().map(|a| a.levels.get(factor)).collect();
        if levels.iter().all(Option::is_none) {
            match e.environment.get() {
                Some(diff) if diff.factors_without_effect.contains(factor) => {
                    found.push(plain(format!("{factor} is declared as different but is the same")));
                }
                Some(_) => {}
                None => lacking.push(format!("the treatments' level of {factor}")),
            }
        } else if let Some(missing) = levels.iter().position(Option::is_none) {
            lacking.push(format!("{}'s level of {factor}", treatments[missing].label));
        } else if levels.iter().all(|l| *l == levels[0]) {
            let level = levels[0].map_or("", String::as_str);
            found.push(plain(format!(
                "{factor} is declared as different, but all treatments have {level}"
            )));
        }
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn confounder(e: &Evidence) -> Evaluation {
    use assay_model::environment::DifferenceClass::Hard;
    e.compared()?;
    let diff = e.environment.need("a diff of the treatments' systems")?;
    let named = |hard: bool| -> Vec<&str> {
        let standing = diff.differences.iter().filter(|d| d.stands());
        standing.filter(|d| (d.class == Hard) == hard).map(|d| d.path.as_str()).collect()
    };
    let mut found = Vec::new();
    let hard = named(true);
    if !hard.is_empty() {
        let list = shortened(&hard);
        found.push(grave(format!(
            "{list} differ and are not the factor; they may explain the result"
        )));
    }
    let soft = named(false);
    if !soft.is_empty() {
        let list = assay_model::folded_facts(soft.iter().copied());
        found.push(plain(format!(
            "{list} differ, or are not known to agree; they might explain a result"
        )));
    }
    Ok(found)
}

/// Joins the first five names and appends the number of the others.
pub(crate) fn shortened(names: &[&str]) -> String {
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    match names.len() {
        0..=5 => shown,
        more => format!("{shown} and {} more", more - 5),
    }
}

pub(crate) fn binary_identity(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let meant = BINARY_FACTORS
        .iter()
        .find(|f| e.factors.iter().flatten().any(|d| d == *f || d.starts_with(&format!("{f}."))));
    let hashes = |treatment: &TreatmentEvidence| {
        treatment.binary.as_ref().map(|b| b.hashes.clone()).filter(|h| !h.is_empty())
    };
    let first = need(
        hashes(&treatments[0]).as_ref(),
        format!("a hash of {}'s program", treatments[0].label),
    )?
    .clone();
    let mut all_equal = true;
    for treatment in &treatments[1..] {
        let other =
            need(hashes(treatment).as_ref(), format!("a hash of {}'s program", treatment.label))?
                .clone();
        let parts: BTreeSet<&String> = first.keys().chain(other.keys()).collect();
        let differing: Vec<&str> = parts
            .into_iter()
            .filter(|p| first.get(*p) != other.get(*p))
            .map(String::as_str)
            .collect();
        all_equal &= differing.is_empty();
        if !differing.is_empty() && meant.is_none() && !MAY_DIFFER.iter().any(|f| e.declares(f)) {
            return Ok(vec![plain(format!(
                "{} and {} ran different programs ({}) in a test of {}",
                treatments[0].label,
                treatment.label,
                shortened(&differing),
                e.factors.as_ref().map_or("nothing".to_owned(), |f| f.join(", "))
            ))]);
        }
    }
    match meant {
        Some(factor) if all_equal => Ok(vec![plain(format!(
            "{factor} is declared as different, but all treatments ran the same program"
        ))]),
        _ => Ok(Vec::new()),
    }
}

/// Returns true if all treatments ran the same program, `None` if that is not recorded.
fn one_program(treatments: &[TreatmentEvidence]) -> Option<bool> {
    let hashes: Option<Vec<_>> =
        treatments.iter().map(|a| a.binary.as_ref().map(|b| &b.hashes)).collect();
    hashes.map(|h| h.windows(2).all(|w| w[0] == w[1] && !w[0].is_empty()))
}

pub(crate) fn built_for_host(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    if one_program(treatments) == Some(true) {
        return Ok(Vec::new());
    }
    let mut native = Vec::new();
    for treatment in treatments {
        let binary = treatment.binary.as_ref();
        let built = binary.and_then(|b| b.built_features.as_ref());
        let host = binary.and_then(|b| b.host_features.as_ref());
        let (Some(built), Some(host)) = (built, host) else {
            return missing(format!("what {}'s program was built for", treatment.label));
        };
        native.push(host.is_subset(built));
    }
    let (Some(yes), Some(no)) = (native.iter().position(|n| *n), native.iter().position(|n| !*n))
    else {
        return Ok(Vec::new());
    };
    Ok(vec![plain(format!(
        "{} runs code built for its processor, {} does not",
        treatments[yes].label, treatments[no].label
    ))])
}

pub(crate) fn flags(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    if treatments.iter().all(|a| a.build.is_none()) && !e.declares("compiler") {
        return match one_program(treatments) {
            Some(true) => Ok(Vec::new()),
            Some(false) => {
                not_applicable("assay built none of the programs; their hashes are recorded")
            }
            None => missing("compiler and flags of the programs"),
        };
    }
    // One program, built once by a tool that reads its flags from files.
    let by_files = |treatment: &TreatmentEvidence| {
        treatment.build.as_ref().is_some_and(|b| b.compiler.is_some() && b.flags.is_none())
    };
    let alike =
        treatments.iter().all(by_files) && treatments.windows(2).all(|a| a[0].build == a[1].build);
    if alike && one_program(treatments) == Some(true) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let empty = Build::default();
    let first = treatments[0].build.as_ref().unwrap_or(&empty);
    for treatment in treatments {
        let build = treatment.build.as_ref().unwrap_or(&empty);
        let has = [
            ("the compiler", build.compiler.is_some()),
            ("the flags", build.flags.is_some()),
            ("LTO or not", build.lto.is_some()),
            ("PGO or not", build.pgo.is_some()),
        ];
        let absent = has.iter().filter(|(_, there)| !there);
        lacking.extend(absent.map(|(what, _)| format!("{what} of {}", treatment.label)));
        let differs = [
            ("compiler", build.compiler != first.compiler),
            ("flags", build.flags != first.flags),
            ("lto", build.lto != first.lto),
            ("pgo", build.pgo != first.pgo),
        ];
        for (what, _) in differs.iter().filter(|(what, d)| *d && !declared_build(e, what)) {
            let text = format!(
                "{} and {} were built with different {what}",
                treatments[0].label, treatment.label
            );
            found.push(plain(text));
        }
        if build.tuning != first.tuning {
            let text = format!(
                "one of {} and {} is base, the other peak",
                treatments[0].label, treatment.label
            );
            found.push(plain(text));
        }
    }
    found_or_missing(found, &lacking)
}

/// True if a declared factor covers a build difference in `what`. Flag factors cover link-time
/// optimisation, which flags switch on.
fn declared_build(e: &Evidence, what: &str) -> bool {
    let names: &[&str] = match what {
        "flags" | "lto" => &["flags", "lto", "cflags", "cxxflags", "fflags", "ldflags"],
        "pgo" => &["pgo", "feedback"],
        _ => &["cc", "cxx", "fc"],
    };
    ["build", "compiler", "toolchain"].iter().chain(names).any(|f| e.declares(f))
}

/// Returns "does not apply" for a check that needs a comparison.
pub(crate) fn nothing_compared() -> Evaluation {
    not_applicable("nothing is compared")
}
