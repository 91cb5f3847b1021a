//! F16 to F21: did the arms do the same, right and whole work, and is it known what limits them?

use std::collections::BTreeSet;

use super::check::{
    Check, Evaluation, Found, I, NI, Section, W, WI, at, found_or_missing, grave, missing, need,
    plain,
};
use super::{Arm, Evidence, Known, SuiteArm, WorkTiming};

/// The difference of completed operations that counts under equal work.
const OPERATIONS: f64 = 0.001;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "F16",
        name: "same-work",
        section: Section::Workload,
        severity: I,
        escalation: "a warning at the bench for a parameter of the workload",
        needs: "input, parameters, seed, request mix, operations done, state of the caches at the start",
        fires: "one of them differs between arms undeclared; operations by more than 0.1 % under equal work",
        why: "less work takes less time",
        remedy: "give the arms the same input, seed and mix, and start them from the same state",
        source: "Hoefler and Belli rule 9",
        evaluate: same_work,
    },
    Check {
        id: "F17",
        name: "output-verified",
        section: Section::Workload,
        severity: I,
        escalation: "a note at the bench when the output was not checked beyond the exit code",
        needs: "what validation found, errors and retries among the counted operations",
        fires: "an output is wrong, operations failed, or nothing was checked",
        why: "a number from a wrong answer does not count",
        remedy: "a number from a wrong answer does not count; find out why",
        source: "MLPerf submission rules; SPEC; Gregg",
        evaluate: output_verified,
    },
    Check {
        id: "F18",
        name: "train-test-split",
        section: Section::Workload,
        severity: W,
        escalation: "",
        needs: "the inputs used for feedback-directed optimisation or tuning, and the measured ones",
        fires: "an arm was tuned on the input it is measured on",
        why: "it then measures how well it remembers",
        remedy: "tune on other data than is measured",
        source: "van der Kouwe et al. 2018; Heiser C3",
        evaluate: train_test,
    },
    Check {
        id: "F19",
        name: "suite-complete",
        section: Section::Workload,
        severity: W,
        escalation: "invalid when the arms' means cover different members",
        needs: "the suite's manifest, every member's result, reasons for missing ones",
        fires: "a member is missing without a reason",
        why: "the members that hurt are the ones left out",
        remedy: "run every member, or take those that one arm lacks out of all means and say so",
        source: "golang/go#57648; Heiser A2",
        evaluate: suite_complete,
    },
    Check {
        id: "F20",
        name: "micro-as-macro",
        section: Section::Workload,
        severity: W,
        escalation: "",
        needs: "what the claim speaks of, and what the workloads are",
        fires: "a claim about an application or system rests on microbenchmarks alone",
        why: "a part that is twice as fast may be a hundredth of the whole",
        remedy: "measure the application, or word the claim as one about the operation",
        source: "Heiser B1",
        evaluate: micro_as_macro,
    },
    Check {
        id: "F21",
        name: "limiter-known",
        section: Section::Workload,
        severity: super::check::NW,
        escalation: "invalid when a result exceeds a physical ceiling",
        needs: "a statement of what limits each arm, results beside physical ceilings",
        fires: "there is no such statement",
        why: "who does not know what stops it from being twice as fast does not know what was measured",
        remedy: "look at CPU, memory, disk and network during the run and say which is full",
        source: "Gregg 2018; Hoefler and Belli rule 11",
        evaluate: limiter_known,
    },
];

fn same_work(e: &Evidence) -> Evaluation {
    let arms = e.compared()?;
    let first = need(arms[0].work.as_ref(), format!("the work of {}", arms[0].label))?;
    let mut found = Vec::new();
    let mut lacking = BTreeSet::new();
    for arm in &arms[1..] {
        let work = need(arm.work.as_ref(), format!("the work of {}", arm.label))?;
        let cache = |w: &super::Work| w.cache.map(|c| format!("{c:?}").to_lowercase());
        let parts = [
            ("input", first.input.clone(), work.input.clone()),
            ("seed", first.seed.clone(), work.seed.clone()),
            ("mix", first.mix.clone(), work.mix.clone()),
            ("cache", cache(first), cache(work)),
        ];
        for (what, a, b) in parts {
            match (a, b) {
                (Some(a), Some(b)) if a != b && !e.declares(what) => {
                    found.push(plain(format!("the arms did different work: {what} {a} vs {b}")));
                }
                (Some(_), Some(_)) => {}
                _ => {
                    lacking.insert(format!("the {what} of the work"));
                }
            }
        }
        let names: BTreeSet<&String> =
            first.parameters.keys().chain(work.parameters.keys()).collect();
        for name in names.into_iter().filter(|n| !e.declares(n)) {
            let (a, b) = (first.parameters.get(name), work.parameters.get(name));
            if a != b {
                let word = |v: Option<&String>| v.map_or("not set".to_owned(), Clone::clone);
                let text = format!(
                    "the arms have different parameters: {name} {} vs {}",
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
                    let label = &arm.label;
                    let text = format!("{} did {a} operations, {label} {b}", arms[0].label);
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

fn output_verified(e: &Evidence) -> Evaluation {
    let mut all = super::OutputEvidence { errors: Some(0), ..Default::default() };
    for arm in e.measured()? {
        let o =
            need(arm.output.as_ref(), format!("whether the output of {} was right", arm.label))?;
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
        let mut unchecked = at(NI, format!("the output of {n} {trials} {what}"));
        unchecked.remedy = String::from("use a kit with a validation");
        found.push(unchecked);
    }
    if all.trials == 0 {
        return missing("a trial that ran to its end");
    }
    Ok(found)
}

/// One finding where every arm gave wrong output, else one for each that did.
fn wrong_output(arms: &[Arm]) -> Vec<Found> {
    let counted = |arm: &Arm| arm.output.as_ref().map_or((0, 0), |o| (o.wrong, o.trials));
    let said = |arm: Option<&&Arm>| {
        let said = arm.and_then(|a| a.output.as_ref()).map_or("", |o| &o.said);
        if said.is_empty() { String::new() } else { format!("; {said}") }
    };
    let wrong_arms: Vec<&Arm> = arms.iter().filter(|a| counted(a).0 > 0).collect();
    if wrong_arms.len() == arms.len() {
        let (wrong, trials) = arms.iter().map(counted).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let said = said(wrong_arms.first());
        return vec![plain(format!(
            "the output of {wrong} of {trials} trials failed its check{said}"
        ))];
    }
    let say = |arm: &Arm| {
        let (wrong, trials) = counted(arm);
        let text = format!(
            "the output of {wrong} of {trials} trials of {} failed its check{}",
            arm.label,
            said(Some(&arm))
        );
        plain(text).of(&[arm], arms)
    };
    wrong_arms.into_iter().map(say).collect()
}

fn train_test(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut absent = None;
    for arm in e.measured()? {
        let tuned = match &arm.tuned_on {
            Known::Absent(why) => {
                absent = Some(why.clone());
                continue;
            }
            other => other.need(&format!("what {} was tuned on", arm.label))?,
        };
        let work = need(arm.work.as_ref(), format!("the input of {}", arm.label))?;
        let input = need(work.input.as_ref(), format!("the input of {}", arm.label))?;
        if tuned.contains(input) {
            found.push(plain(format!("{} was tuned on the data it is measured on", arm.label)));
        }
    }
    match absent {
        Some(why) if e.arms.iter().all(|a| a.tuned_on.get().is_none()) => {
            super::check::not_applicable(why)
        }
        _ => Ok(found),
    }
}

fn suite_complete(e: &Evidence) -> Evaluation {
    let suite = e.suite.need("the members of the suite")?;
    let mut found = Vec::new();
    for arm in &suite.arms {
        let missing: Vec<&str> = suite
            .manifest
            .iter()
            .filter(|m| !arm.values.contains_key(*m) && !arm.reasons.contains_key(*m))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            found.push(plain(format!(
                "{} has {} of {} members; without a reason are missing: {}",
                arm.label,
                arm.values.len(),
                suite.manifest.len(),
                super::environment::shortened(&missing)
            )));
        }
    }
    let members = |arm: &SuiteArm| arm.values.keys().cloned().collect::<BTreeSet<_>>();
    if let Some(first) = suite.arms.first() {
        for arm in &suite.arms[1..] {
            if members(arm) != members(first) {
                let text = format!(
                    "the means of {} and {} cover different members",
                    first.label, arm.label
                );
                found.push(grave(text));
            }
        }
    }
    Ok(found)
}

fn micro_as_macro(e: &Evidence) -> Evaluation {
    let claim = e.claim.need("the claim")?;
    let scope = *need(claim.scope.as_ref(), "what the claim speaks of")?;
    let Some(widest) = claim.evidence_scopes.iter().max() else {
        return missing("what kind of workload the evidence is");
    };
    if scope > super::Scope::Micro && *widest == super::Scope::Micro {
        return Ok(vec![plain(format!(
            "only microbenchmarks support this claim about the {}",
            scope.name()
        ))]);
    }
    Ok(Vec::new())
}

fn limiter_known(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for arm in e.measured()? {
        let limiter = need(arm.limiter.as_ref(), format!("what limited {}", arm.label))?;
        if limiter.statement.trim().is_empty() {
            found.push(plain(format!(
                "what stops {} from being twice as fast is not said",
                arm.label
            )));
        }
        for c in limiter.ceilings.iter().filter(|c| c.reached > c.ceiling) {
            found.push(grave(format!(
                "{} reached {} of {}, more than the {} there is",
                arm.label, c.reached, c.what, c.ceiling
            )));
        }
    }
    Ok(found)
}
