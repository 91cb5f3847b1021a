//! F58: the disclosures that a benchmark's rules require are printed.

use crate::prelude::*;

pub const REQUIRED_DISCLOSURE: CheckRow = CheckRow {
    id: "F58",
    name: "required-disclosure",
    section: CheckSection::Claims,
    severity: NOTE_OR_INVALID,
    escalation: "a warning where results are quoted from documents that quote them",
    needs: "the benchmark's rule pack, and the text printed with the number",
    fires: "a field that the benchmark's rules require is missing",
    why: "the owner of the metric may forbid its use without the field",
    remedy: "print the fields with the number",
    source: "SPEC HPG, SPEC 2023 and MLPerf fair-use rules",
    evidence: "the rule pack `fair-use` over a post; imported results",
};

pub const CHECK: Check = Check::new(&REQUIRED_DISCLOSURE, evaluate)
    .on_observations(judge_observation)
    .always_checked("a missing field is a finding");

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for d in e.disclosures.need("the named benchmarks")? {
        if d.required.is_empty() {
            return missing(format!("the rule pack {}", d.rules));
        }
        let open: Vec<String> = [(&d.broken, "not kept"), (&d.unknown, "cannot be checked")]
            .into_iter()
            .flat_map(|(ids, how)| ids.iter().map(move |id| format!("{id} {how}")))
            .collect();
        if open.is_empty() {
            continue;
        }
        let text = format!("of the {} rules: {}", d.rules, open.join(", "));
        let of = if d.second_hand { warning(text) } else { finding(text) };
        found.push(of.remedy("the table in the disclosure lists what each of them requires"));
    }
    Ok(found)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::Estimate { invalid } = observation else { return None };
    let text = if *invalid {
        "SPEC's tools marked this result as invalid"
    } else {
        "the result is not a reportable one, and SPEC calls such numbers estimates"
    };
    let remedy = "state it next to each of its numbers (SPEC CPU, run and reporting rules)";
    Some(warning(text).remedy(remedy))
}
