//! F16: the treatments did the same work.

use std::collections::BTreeSet;

use assay_model::units::format_value;

use crate::prelude::*;

pub const SAME_WORK: CheckRow = CheckRow {
    id: "F16",
    name: "same-work",
    section: CheckSection::Workload,
    severity: INVALID,
    escalation: "a warning in profile `lab` for a parameter of the workload",
    needs: "input, parameters, seed, request mix, completed operations, initial state of caches",
    fires: "one of them differs between treatments and is not declared; with equal work, \
        operations by more than 0.1 %",
    why: "less work takes less time",
    remedy: "give the treatments the same input, seed and mix, and start them from the same state",
    source: "Hoefler and Belli rule 9",
    evidence: "the plan's parameters; built-in workloads report operations, errors, seed and mix, \
        load generators report responses, and a run of another program is one operation",
};

pub const CHECK: Check = Check::new(&SAME_WORK, evaluate).on_observations(judge_observation);

/// Relative difference of completed operations above which equal work counts as different.
const MAX_OPERATIONS_DIFFERENCE: f64 = 0.001;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let first = treatments[0].need(treatments[0].work.as_ref(), "the work")?;
    let mut found = Vec::new();
    let mut lacking = BTreeSet::new();
    for treatment in &treatments[1..] {
        let work = treatment.need(treatment.work.as_ref(), "the work")?;
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
                    found.push(finding(format!(
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
            let remedy = "accept only the right exit codes: `--ignore-failure=1`";
            found.push(warning(text).remedy(remedy));
        }
        let names: BTreeSet<&String> =
            first.parameters.keys().chain(work.parameters.keys()).collect();
        for name in names.into_iter().filter(|n| !e.declares(n)) {
            let (a, b) = (first.parameters.get(name), work.parameters.get(name));
            if a != b {
                let values = versus(a, b, "not set");
                let text = format!("the treatments have different parameters: {name} {values}");
                found.push(finding_at(WARNING_OR_INVALID, text));
            }
        }
        match (first.timing, first.operations, work.operations) {
            (Some(WorkTiming::EqualTime), _, _) => {}
            (Some(WorkTiming::EqualWork), Some(a), Some(b)) => {
                if (a - b).abs() > MAX_OPERATIONS_DIFFERENCE * a.abs().max(b.abs()) {
                    let label = &treatment.label;
                    let text = format!("{} did {a} operations, {label} {b}", treatments[0].label);
                    found.push(finding(text));
                }
            }
            _ => {
                lacking.insert("the operations done".to_owned());
            }
        }
    }
    found_or_missing(found, &lacking.into_iter().collect::<Vec<_>>())
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    match observation {
        Observation::Evictions { evicted, gone, hit_ratio, asked } if evicted + gone > 0 => {
            let hits = hit_ratio.map_or("unknown".to_owned(), |h| format!("{:.2} %", h * 100.0));
            let text = format!(
                "the server evicted {evicted} objects in the measurement window, and {gone} gets \
                 requested one of them: the hit ratio was {hits} instead of {:.2} %",
                asked * 100.0
            );
            // Gets that miss are other work than the hits that were asked for.
            let severity = if *gone > 0 { INVALID } else { WARNING };
            let remedy = "raise `server.memory`, or use fewer `keys`; with `read_through = true` \
                          evictions are part of the load";
            Some(finding_at(severity, text).remedy(remedy))
        }
        Observation::Operations { answered, wrong, missing, allowed, within } if *missing > 0 => {
            Some(unanswered(*missing, answered + wrong + missing, *allowed, *within))
        }
        _ => None,
    }
}

/// Judges operations without a response. They are work that was not done, never wrong output: up to
/// the share that the user allows they are a note, above it the load was not the requested one.
fn unanswered(missing: u64, asked: u64, allowed: f64, within: f64) -> FiredCheck {
    let share = missing as f64 / asked.max(1) as f64;
    let limit = format!("the {} % that `max_missing` allows", allowed * 100.0);
    let (severity, side) =
        if share > allowed { (INVALID, "more than") } else { (NOTE, "no more than") };
    let text = format!(
        "{missing} of {asked} operations ({:.2} %) had no response within {}: {side} \
         {limit}",
        share * 100.0,
        format_value(within, "s"),
    );
    finding_at(severity, text)
        .remedy("find out why the server stalled; `op_timeout` and `max_missing` set the limits")
}

#[cfg(test)]
mod tests {
    use assay_model::{Observation, Severity};

    use crate::judge_observation;

    #[test]
    fn missing_answers_are_judged_by_the_limit_that_is_set_and_are_no_wrong_output() {
        let judged = |missing, allowed| {
            let (answered, wrong, within) = (1000 - missing, 0, 1.0);
            let seen = Observation::Operations { answered, wrong, missing, allowed, within };
            judge_observation(&seen).map(|f| (f.id, f.severity))
        };
        assert_eq!(judged(0, 0.0), None);
        assert_eq!(judged(1, 0.001), Some(("F16".into(), Severity::Note)));
        assert_eq!(judged(2, 0.001), Some(("F16".into(), Severity::Invalid)));
    }
}
