//! What is meant to differ between runs, where that is a program, a parameter or a control.

use std::collections::BTreeMap;

use super::{Declared, Side, controls, params};

/// What a factor is among the facts of a system: the program of a command is described below one path, and what it
/// is given decides what of the machine it uses.
pub(super) fn in_facts(factors: &[String]) -> Vec<String> {
    let mut out: Vec<String> = factors.iter().filter(|f| !names_the_program(f)).cloned().collect();
    if factors.iter().any(|f| names_the_program(f)) {
        out.extend(["workload.command", "used"].map(str::to_owned));
    }
    out
}

fn names_the_program(factor: &str) -> bool {
    matches!(
        factor,
        "command" | "program" | "workload" | "workload.command" | "workload.command.program"
    )
}

/// Two programs of different names, or two workloads, as a reason not to compare them: nothing
/// declares that this is what is meant to differ.
pub(super) fn unlike(a: &Side<'_>, b: &Side<'_>, declared: &Declared) -> Option<String> {
    if declared.factors.iter().any(|f| names_the_program(f)) {
        return None;
    }
    let name = |side: &Side<'_>| {
        let path = side.system.get("workload.command.program")?;
        Some(path.rsplit('/').next().unwrap_or(path).to_owned())
    };
    let (x, y) = (&a.experiment.workload, &b.experiment.workload);
    let (x, y) = if x == y { (name(a)?, name(b)?) } else { (x.clone(), y.clone()) };
    (x != y).then(|| {
        format!(
            "the programs are not the same ({x} and {y}); `--factor command` \
                              declares that this is intended"
        )
    })
}

/// What can be a factor of a run without being a fact of its system: parameters, levels, controls, the program.
pub(super) fn levels(side: &Side<'_>) -> BTreeMap<String, String> {
    let mut out = params(side);
    if let [only] = side.plan.treatments.as_slice() {
        out.extend(only.params.iter().chain(&only.levels).map(|(k, v)| (k.clone(), v.to_text())));
    }
    for (name, value) in controls(side) {
        out.insert(format!("controls.{name}"), value.clone());
        out.insert(name, value);
    }
    for name in ["workload.command", "workload.command.program", "program"] {
        let path = side.system.get("workload.command.program").map(str::to_owned);
        out.extend(path.map(|path| (name.to_owned(), path)));
    }
    out.insert("workload".to_owned(), side.experiment.workload.clone());
    out
}
