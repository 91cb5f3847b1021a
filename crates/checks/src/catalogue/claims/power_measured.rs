//! F51: power was measured, in the same run and window.

use std::collections::{BTreeMap, BTreeSet};

use crate::prelude::*;

pub const POWER_MEASURED: CheckRow = CheckRow {
    id: "F51",
    name: "power-measured",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "a warning for watts that are quoted without a meter",
    needs: "the source of the watts, the meter and its uncertainty, the run and window",
    fires: "the watts are from a label or TDP, another run or window, mixed sources, or a meter \
        with more than 1 % uncertainty",
    why: "a nameplate is not a measurement, and values of different meters have no ratio",
    remedy: "measure at the wall in the same run; name the meter (`observe.meter`)",
    source: "MLPerf power rules; SPECpower methodology",
    evidence: "published results (`watts_source`), meters of a run (`observe.meter`)",
};

pub const CHECK: Check = Check::new(&POWER_MEASURED, evaluate);

/// Maximum uncertainty of the meter behind a published figure per watt, in percent.
const METER_PERCENT: f64 = 1.0;

fn evaluate(e: &Evidence) -> Evaluation {
    let systems = e.energy.need("the source of the watts")?;
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    let mut sources: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for s in systems {
        let label = &s.label;
        if !s.recorded {
            lacking.push(format!("the watts of {label}"));
            continue;
        }
        let note = if s.note.is_empty() { String::new() } else { format!(": {}", s.note) };
        let source = match s.source {
            Some(source) => source,
            None if s.quoted => {
                let text = format!("the watts of {label} are quoted, with no meter named{note}");
                found.push(warning(text).remedy("state how the power was obtained"));
                continue;
            }
            None => {
                lacking.push(format!("the source of the watts of {label}"));
                continue;
            }
        };
        sources.entry(label).or_default().insert(source.name());
        if matches!(source, PowerSource::ThermalDesign | PowerSource::Nameplate) {
            found.push(finding(format!("the watts of {label} are {}{note}", source.name())));
            continue;
        }
        // A quoted result has no evidence on its power beyond the source that its document names.
        if s.quoted {
            continue;
        }
        let same = [("run", s.same_run), ("window", s.same_window)];
        for (what, same) in same {
            match same {
                Some(false) => found.push(finding(format!(
                    "power and performance of {label} are of different {what}s"
                ))),
                Some(true) => {}
                None => lacking.push(format!("the {what} of the power measurement of {label}")),
            }
        }
        if source == PowerSource::Wall {
            check_meter(s, &mut found, &mut lacking);
        }
    }
    let all: BTreeSet<&str> = sources.values().flatten().copied().collect();
    if sources.values().any(|own| *own != all) {
        let list: Vec<&str> = all.into_iter().collect();
        found.push(finding(format!("watts are mixed: {}", list.join(" and "))));
    }
    found_or_missing(found, &lacking)
}

fn check_meter(s: &EnergyEvidence, found: &mut Vec<FiredCheck>, lacking: &mut Vec<String>) {
    if s.meter.is_none() {
        lacking.push(format!("the meter of {}", s.label));
    }
    match s.uncertainty_percent.filter(|u| u.is_finite()) {
        Some(u) if u > METER_PERCENT => found.push(finding_at(
            WARNING_OR_INVALID,
            format!("the meter of {} is uncertain by {u} %, more than {METER_PERCENT} %", s.label),
        )),
        Some(_) => {}
        None => lacking.push(format!("the uncertainty of the meter of {}", s.label)),
    }
}
