//! F04: all treatments ran the same program, unless the program is a factor.

use std::collections::{BTreeMap, BTreeSet};

use crate::prelude::*;

pub const BINARY_IDENTITY: CheckRow = CheckRow {
    id: "F04",
    name: "binary-identity",
    section: CheckSection::Environment,
    severity: INVALID,
    escalation: "a note for hosts of two instruction sets",
    needs: "hashes of the executable, its libraries or its image, per treatment",
    fires: "the hashes differ without a factor of the program, or are equal with one",
    why: "with two programs, a test of one setting measures the programs",
    remedy: "run the same file in both treatments, or declare the program as a factor",
    source: "own checklist of 2005",
    evidence: "the first trial of each treatment records its program and libraries by hash",
};

pub const CHECK: Check = Check::new(&BINARY_IDENTITY, evaluate);

/// Factors under which the programs must differ; under those of [`MAY_DIFFER`] they may.
const BINARY_FACTORS: [&str; 5] = ["binary", "build", "compiler", "toolchain", "version"];

/// Factors that name a program with its arguments, its image, or its source: two commits may build
/// the same program.
const MAY_DIFFER: [&str; 6] =
    ["command", "image", "image.apptainer", "image.docker", "image.podman", "rev"];

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let meant = BINARY_FACTORS
        .iter()
        .find(|f| e.factors.iter().flatten().any(|d| d == *f || d.starts_with(&format!("{f}."))));
    let first = hashes(&treatments[0])?;
    let (mut all_equal, mut notes) = (true, Vec::new());
    for treatment in &treatments[1..] {
        let other = hashes(treatment)?;
        let parts: BTreeSet<&String> = first.keys().chain(other.keys()).collect();
        let differing: Vec<&str> = parts
            .into_iter()
            .filter(|p| first.get(*p) != other.get(*p))
            .map(String::as_str)
            .collect();
        all_equal &= differing.is_empty();
        if !differing.is_empty() && instruction_set(&treatments[0]) != instruction_set(treatment) {
            let ran = "ran programs for two instruction sets";
            notes.push(note(format!("{} and {} {ran}", treatments[0].label, treatment.label)));
            continue;
        }
        if !differing.is_empty() && meant.is_none() && !MAY_DIFFER.iter().any(|f| e.declares(f)) {
            let found = finding(format!(
                "{} and {} ran different programs ({}) in a test of {}",
                treatments[0].label,
                treatment.label,
                shortened_list(&differing),
                e.factors.as_ref().map_or("nothing".to_owned(), |f| f.join(", "))
            ));
            let hosts = treatment.levels.contains_key("host");
            let remedy = "copy the files of one host to the others, or share them in a folder";
            return Ok(vec![if hosts { found.remedy(remedy) } else { found }]);
        }
    }
    match meant {
        Some(factor) if all_equal => Ok(vec![finding(format!(
            "{factor} is declared as different, but all treatments ran the same program"
        ))]),
        _ => Ok(notes),
    }
}

/// Returns the instruction set of the host that ran the treatment, if hosts are compared.
fn instruction_set(treatment: &TreatmentEvidence) -> Option<&str> {
    let system = treatment.snapshots.as_ref()?.before.as_ref()?;
    let own = format!("node.{}.kernel.arch", treatment.levels.get("host")?);
    system.get(&own).or_else(|| system.get("kernel.arch"))
}

fn hashes(treatment: &TreatmentEvidence) -> Result<&BTreeMap<String, String>, Unevaluated> {
    let hashes = treatment.binary.as_ref().map(|b| &b.hashes).filter(|h| !h.is_empty());
    treatment.need(hashes, "the hash of the program")
}
