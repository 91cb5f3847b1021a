//! F05: all programs are built for their host, or none is.

use super::one_program;
use crate::prelude::*;

pub const BUILT_FOR_HOST: CheckRow = CheckRow {
    id: "F05",
    name: "built-for-host",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "",
    needs: "the CPU features the program was built for, and those of its host, per treatment",
    fires: "one treatment runs code built for its host and another does not",
    why: "only one treatment uses all instructions of its processor",
    remedy: "build for the host in all treatments, or for the same baseline in all",
    source: "own checklist of 2005; Heiser D3",
    evidence: "the program's ELF notes and the processor's flags",
};

pub const CHECK: Check = Check::new(&BUILT_FOR_HOST, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
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
            return missing(format!("the target processor of {}'s program", treatment.label));
        };
        native.push(host.is_subset(built));
    }
    let (Some(yes), Some(no)) = (native.iter().position(|n| *n), native.iter().position(|n| !*n))
    else {
        return Ok(Vec::new());
    };
    Ok(vec![finding(format!(
        "{} runs code built for its processor, {} does not",
        treatments[yes].label, treatments[no].label
    ))])
}
