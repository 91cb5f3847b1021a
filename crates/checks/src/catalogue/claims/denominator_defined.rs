//! F49: the denominator of a value is defined, and the same for all systems.

use std::collections::BTreeSet;

use crate::prelude::*;

pub const DENOMINATOR_DEFINED: CheckRow = CheckRow {
    id: "F49",
    name: "denominator-defined",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "",
    needs: "each system's count of the denominator, and its basis: fitted, enabled or used",
    fires: "the denominator is ambiguous, or differs between the systems",
    why: "\"per core\" has three meanings",
    remedy: "state which cores: fitted, enabled or used, the same for all systems",
    source: "SPEC HPG fair use",
    evidence: "counts in published results (`counted` says of what) and of the measured system",
};

pub const CHECK: Check = Check::new(&DENOMINATOR_DEFINED, evaluate);

/// Denominators that must state the basis of their count.
const COUNTED_DENOMINATORS: [&str; 4] = ["core", "chip", "thread", "core-ghz"];

fn evaluate(e: &Evidence) -> Evaluation {
    let d = e.denominators.need("the denominator of the values")?;
    if d.claimed.is_empty() {
        return not_applicable("totals are compared");
    }
    // Watts and prices have checks of their own; their figures are not counts.
    if ["watt", "price"].contains(&d.claimed.as_str()) {
        return not_applicable("watts and prices are not counted");
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut kinds = BTreeSet::new();
    let what = d.claimed.replace('-', " ");
    for s in &d.systems {
        if s.count.is_none() {
            lacking.push(format!("the {what} count of {}", s.label));
            continue;
        }
        if s.inferred {
            let text = format!(
                "the {what} count of {} is not printed but follows from its other numbers",
                s.label
            );
            found.push(note(text).remedy(""));
        }
        match s.basis {
            Some(basis) => {
                kinds.insert(basis.name());
            }
            None if COUNTED_DENOMINATORS.contains(&d.claimed.as_str()) => found.push(finding(
                format!("per which {what} of {}: fitted, enabled or used?", s.label),
            )),
            None => {}
        }
    }
    if kinds.len() > 1 {
        let list: Vec<&str> = kinds.into_iter().collect();
        found.push(finding(format!("{} means {}", d.words, list.join(" for one and "))));
    }
    found_or_missing(found, &lacking)
}
