//! F09: the treatments had the same settings of the operating system.

use super::undeclared_differences;
use crate::prelude::*;

pub const OS_TUNABLES: CheckRow = CheckRow {
    id: "F09",
    name: "os-tunables",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "invalid for mitigations, governor and kernel series",
    needs: "the settings of the operating system that controls made, by treatment",
    fires: "a setting differs between treatments and is not declared",
    why: "the setting may explain the result",
    remedy: "use the same settings, or declare the tested one as a factor",
    source: "MachineState; Heiser",
    evidence: "the controls of the treatments of a run; `compare`: the fixed controls of both runs \
        (F03 judges the descriptions)",
};

pub const CHECK: Check = Check::new(&OS_TUNABLES, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let differing = undeclared_differences(
        e,
        |a| a.os.as_deref(),
        treatments,
        "the settings of the operating system",
    )?;
    Ok(differing
        .into_iter()
        .map(|(key, text)| {
            let message = format!("a setting of the operating system differs: {text}");
            if is_invalid(&key, &text) { invalid(message) } else { finding(message) }
        })
        .collect())
}

/// True for mitigations, the governor, and the kernel's series (the first two numbers of its
/// release).
fn is_invalid(key: &str, text: &str) -> bool {
    if key == "kernel.release" {
        let values = text.split_once(": ").and_then(|(_, v)| v.split_once(" vs "));
        let series = |v: &str| v.split('.').take(2).collect::<Vec<_>>().join(".");
        return values.is_none_or(|(a, b)| series(a) != series(b));
    }
    key.starts_with("kernel.mitigation") || key == "cpu.governor"
}
