//! F16 to F21: the treatments did the same, correct and complete work, and their limits are known.

use std::collections::BTreeSet;

use crate::check::{Evaluation, about, at, found_or_missing, grave, missing, need, plain};
use crate::rows::{NW, W, WI};
use crate::{Evidence, RecordedValue, TreatmentEvidence, WorkTiming};
use assay_model::FiredCheck;

/// Relative difference of completed operations above which equal work counts as different.
const OPERATIONS: f64 = 0.001;

pub(crate) fn same_work(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let first = need(treatments[0].work.as_ref(), format!("the work of {}", treatments[0].label))?;
    let mut found = Vec::new();
    let mut lacking = BTreeSet::new();
    for treatment in &treatments[1..] {
        let work = need(treatment.work.as_ref(), format!("the work of {}", treatment.label))?;
        let cache = |w: &crate::Work| w.cache.map(|c| format!("{c:?}").to_lowercase());
        let parts = [
            ("input", first.input.clone(), work.input.clone()),
            ("seed", first.seed.clone(), work.seed.clone()),
            ("mix", first.mix.clone(), work.mix.clone()),
            ("cache", cache(first), cache(work)),
        ];
        for (what, a, b) in parts {
            match (a, b) {
                (Some(a), Some(b)) if a != b && !e.declares(what) => {
                    found.push(plain(format!(
                        "the treatments did different work: {what} {a} vs {b}"
                    )));
                }
                (Some(_), Some(_)) => {}
                _ => {
                    lacking.insert(format!("the {what} of the work"));
                }
            }
        }
        if let (Some(x), Some(y)) = (&first.exits, &work.exits)
            && x != y
        {
            let (a, b) = (&treatments[0].label, &treatment.label);
            let text = format!("{a} ended with exit code {x}, {b} with {y}");
            let remedy = "let the codes that are right pass alone: `--ignore-failure=1`";
            found.push(at(W, text).remedy(remedy));
        }
        let names: BTreeSet<&String> =
            first.parameters.keys().chain(work.parameters.keys()).collect();
        for name in names.into_iter().filter(|n| !e.declares(n)) {
            let (a, b) = (first.parameters.get(name), work.parameters.get(name));
            if a != b {
                let word = |v: Option<&String>| v.map_or("not set".to_owned(), Clone::clone);
                let text = format!(
                    "the treatments have different parameters: {name} {} vs {}",
                    word(a),
                    word(b)
                );
                found.push(at(WI, text));
            }
        }
        match (first.timing, first.operations, work.operations) {
            (Some(WorkTiming::EqualTime), _, _) => {}
            (Some(WorkTiming::EqualWork), Some(a), Some(b)) => {
                if (a - b).abs() > OPERATIONS * a.abs().max(b.abs()) {
                    let label = &treatment.label;
                    let text = format!("{} did {a} operations, {label} {b}", treatments[0].label);
                    found.push(plain(text));
                }
            }
            _ => {
                lacking.insert("the operations done".to_owned());
            }
        }
    }
    found_or_missing(found, &lacking.into_iter().collect::<Vec<_>>())
}

pub(crate) fn output_verified(e: &Evidence) -> Evaluation {
    let mut all = crate::OutputEvidence { errors: Some(0), ..Default::default() };
    for treatment in e.measured()? {
        let o = need(
            treatment.output.as_ref(),
            format!("whether the output of {} was right", treatment.label),
        )?;
        all.trials += o.trials;
        all.unchecked += o.unchecked;
        all.unknown += o.unknown;
        all.errors = all.errors.zip(o.errors).map(|(a, b)| a + b);
    }
    let mut found = wrong_output(e.measured()?);
    if let Some(errors) = all.errors.filter(|n| *n > 0) {
        found.push(plain(format!("{errors} of the counted operations failed or were repeated")));
    }
    let doubtful = [
        (all.unchecked, "was not checked beyond the exit code"),
        (all.unknown, "is not known to have been checked"),
    ];
    for (n, what) in doubtful.into_iter().filter(|(n, _)| *n > 0) {
        let trials = if n == 1 { "trial" } else { "trials" };
        let mut unchecked = at(NW, format!("the output of {n} {trials} {what}"));
        unchecked.remedy = Some("use a kit with a validation".to_owned());
        found.push(unchecked);
    }
    if all.trials == 0 {
        return missing("a trial that ran to its end");
    }
    Ok(found)
}

/// Returns one finding if every treatment produced wrong output, else one for each treatment that
/// did.
fn wrong_output(treatments: &[TreatmentEvidence]) -> Vec<FiredCheck> {
    let counted = |treatment: &TreatmentEvidence| {
        treatment.output.as_ref().map_or((0, 0), |o| (o.wrong, o.trials))
    };
    let message = |treatment: Option<&&TreatmentEvidence>| {
        let message = treatment.and_then(|a| a.output.as_ref()).map_or("", |o| &o.message);
        if message.is_empty() { String::new() } else { format!("; {message}") }
    };
    let wrong_treatments: Vec<&TreatmentEvidence> =
        treatments.iter().filter(|a| counted(a).0 > 0).collect();
    if wrong_treatments.len() == treatments.len() {
        let (wrong, trials) =
            treatments.iter().map(counted).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let message = message(wrong_treatments.first());
        return vec![plain(format!(
            "the output of {wrong} of {trials} trials failed its check{message}"
        ))];
    }
    let say = |treatment: &TreatmentEvidence| {
        let (wrong, trials) = counted(treatment);
        let text = format!(
            "the output of {wrong} of {trials} trials of {} failed its check{}",
            treatment.label,
            message(Some(&treatment))
        );
        about(plain(text), &[treatment], treatments)
    };
    wrong_treatments.into_iter().map(say).collect()
}

pub(crate) fn train_test(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut absent = None;
    for treatment in e.measured()? {
        let tuned = match &treatment.tuned_on {
            RecordedValue::Absent(why) => {
                absent = Some(why.clone());
                continue;
            }
            other => other.need(&format!("what {} was tuned on", treatment.label))?,
        };
        let work = need(treatment.work.as_ref(), format!("the input of {}", treatment.label))?;
        let input = need(work.input.as_ref(), format!("the input of {}", treatment.label))?;
        if tuned.contains(input) {
            found.push(plain(format!(
                "{} was tuned on the data it is measured on",
                treatment.label
            )));
        }
    }
    match absent {
        Some(why) if e.treatments.iter().all(|a| a.tuned_on.get().is_none()) => {
            crate::check::not_applicable(why)
        }
        _ => Ok(found),
    }
}

pub(crate) fn suite_complete(e: &Evidence) -> Evaluation {
    let suite = e.suite.need("the members of the suite")?;
    if suite.manifest.is_empty() {
        return missing("which members the suite has");
    }
    let mut found = Vec::new();
    for treatment in &suite.treatments {
        let missing: Vec<&str> = suite
            .manifest
            .iter()
            .filter(|m| !treatment.members.contains(*m) && !treatment.reasons.contains_key(*m))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            found.push(plain(format!(
                "{} has {} of {} members; without a reason are missing: {}",
                treatment.label,
                treatment.members.len(),
                suite.manifest.len(),
                super::environment::shortened(&missing)
            )));
        }
    }
    if let Some(first) = suite.treatments.first() {
        for treatment in &suite.treatments[1..] {
            if treatment.members != first.members {
                let text = format!(
                    "the means of {} and {} cover different members",
                    first.label, treatment.label
                );
                found.push(grave(text));
            }
        }
    }
    Ok(found)
}

pub(crate) fn limiter_known(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for treatment in e.measured()? {
        let limiter =
            need(treatment.limiter.as_ref(), format!("what limited {}", treatment.label))?;
        if limiter.statement.trim().is_empty() {
            found.push(plain(format!("the bottleneck of {} is not stated", treatment.label)));
        }
        for c in limiter.ceilings.iter().filter(|c| c.reached > c.ceiling) {
            found.push(grave(format!(
                "{} reached {} of {}, more than the {} there is",
                treatment.label, c.reached, c.what, c.ceiling
            )));
        }
    }
    Ok(found)
}
