//! Intended differences between runs in a program, a parameter or a control.

use std::collections::BTreeMap;

use super::{ComparedRun, DeclaredDifferences, controls, params};

/// Translates factors into paths of facts. The program of a command is described below one path,
/// and its arguments decide which parts of the machine it uses.
pub(super) fn in_facts(factors: &[String]) -> Vec<String> {
    let mut out: Vec<String> = factors.iter().filter(|f| !names_the_program(f)).cloned().collect();
    if factors.iter().any(|f| f.strip_prefix("controls.").unwrap_or(f).starts_with("image")) {
        out.push("container".to_owned());
    }
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

/// Returns a reason not to compare two runs if their programs have different names, or their
/// workloads differ, and no declared factor makes that the intended difference.
pub(super) fn unlike(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    declared: &DeclaredDifferences,
) -> Option<String> {
    if declared.factors.iter().any(|f| names_the_program(f)) {
        return None;
    }
    let name = |side: &ComparedRun<'_>| {
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

/// Returns everything that can be a factor of a run without being a fact of its system: parameters,
/// levels, controls and the program.
pub(super) fn levels(side: &ComparedRun<'_>) -> BTreeMap<String, String> {
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
