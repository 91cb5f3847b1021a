//! F16: the treatments did the same work.

use std::collections::BTreeSet;

use crate::prelude::*;
use crate::{Work, WorkTiming};

pub const SAME_WORK: CheckRow = CheckRow {
    id: "F16",
    name: "same-work",
    section: CheckSection::Workload,
    severity: I,
    escalation: "a warning at the bench for a parameter of the workload",
    needs: "input, parameters, seed, request mix, operations done, state of the caches at the start",
    fires: "one of them differs between treatments undeclared; operations by more than 0.1 % under equal work",
    why: "less work takes less time",
    remedy: "give the treatments the same input, seed and mix, and start them from the same state",
    source: "Hoefler and Belli rule 9",
    evidence: "the plan's parameters; built-in workloads report operations, errors, seed and mix, a load its answers, other programs one run",
};

pub(crate) const CHECK: Check = Check::new(&SAME_WORK, evaluate);

/// Relative difference of completed operations above which equal work counts as different.
const OPERATIONS: f64 = 0.001;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let first = need(treatments[0].work.as_ref(), format!("the work of {}", treatments[0].label))?;
    let mut found = Vec::new();
    let mut lacking = BTreeSet::new();
    for treatment in &treatments[1..] {
        let work = need(treatment.work.as_ref(), format!("the work of {}", treatment.label))?;
        let cache = |w: &Work| w.cache.map(|c| format!("{c:?}").to_lowercase());
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
