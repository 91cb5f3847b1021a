//! F12: the processors ran at the same clock rate, without throttling.

use crate::prelude::*;

pub const CLOCK_AND_HEAT: CheckRow = CheckRow {
    id: "F12",
    name: "clock-and-heat",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "invalid when throttling hit only some of the treatments",
    needs: "effective frequency and throttle counters while each treatment ran",
    fires: "mean frequencies differ by more than 1 % and are not declared",
    why: "a processor at a lower clock rate is a slower processor",
    remedy: "fix the frequency, let the machine cool between trials, and interleave",
    source: "hyperfine#483; SPECpower methodology",
    evidence: "governor, turbo and throttle counters before the run, frequency and throttling \
        after trials of a second",
};

pub const CHECK: Check = Check::new(&CLOCK_AND_HEAT, evaluate).on_observations(judge_observation);

/// Relative difference of clock frequencies above which treatments get a finding.
const MAX_FREQUENCY_DIFFERENCE: f64 = 0.01;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let clock = |treatment: &TreatmentEvidence| treatment.clock.unwrap_or_default();
    let meant = ["cpu.frequency", "cpu.model", "cpu.governor", "cpu.turbo", "frequency"]
        .iter()
        .any(|f| e.declares(f));
    for treatment in treatments {
        let (first, label) = (&treatments[0].label, &treatment.label);
        match (clock(&treatments[0]).ghz, clock(treatment).ghz) {
            (Some(a), Some(b)) if !meant && (a / b - 1.0).abs() > MAX_FREQUENCY_DIFFERENCE => {
                found.push(finding(format!("{first} ran at {a:.2} GHz, {label} at {b:.2} GHz")));
            }
            (Some(_), Some(_)) => {}
            _ => lacking.push(format!("the frequency during {label}")),
        }
        if clock(treatment).throttles.is_none() {
            lacking.push(format!("the throttling during {label}"));
        }
    }
    let throttled =
        |treatment: &&TreatmentEvidence| clock(treatment).throttles.is_some_and(|t| t > 0);
    let hit: Vec<&str> = treatments.iter().filter(throttled).map(|a| a.label.as_str()).collect();
    let spared = treatments.iter().filter(|a| clock(a).throttles == Some(0)).count();
    if !hit.is_empty() && spared > 0 {
        found.push(invalid(format!("only {} ran throttled", hit.join(", "))));
    }
    found_or_missing(found, &lacking)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    Some(match observation {
        Observation::Governor { governors } if governors.iter().any(|g| g != "performance") => {
            let others = governors.iter().map(String::as_str).filter(|g| *g != "performance");
            finding(format!(
                "the frequency governor is `{}`, not `performance`",
                others.collect::<Vec<_>>().join("`, `")
            ))
            .remedy("cpupower frequency-set -g performance")
        }
        Observation::Turbo { on: true } => {
            note("turbo is on: the clock rate depends on heat and on how many cores are busy")
                .remedy("switch it off to compare code; leave it on to measure what users will see")
        }
        Observation::Throttling { before, now } if now > before => finding(format!(
            "the processor is throttling for heat: {} times just now",
            now - before
        ))
        .remedy("let it cool down; check fans and air inlets"),
        Observation::Throttling { now, .. } if *now > 0 => {
            note(format!("the processor was throttled for heat {now} times since boot"))
                .remedy("watch the clock rate during the run")
        }
        Observation::PowerPreference { what, value }
            if ["power", "balance_power", "low-power", "quiet"].contains(&value.as_str()) =>
        {
            finding(format!("{what} is `{value}`: it saves power at the cost of speed"))
                .remedy("set it to `performance`")
        }
        Observation::Battery { supply } => {
            finding(format!("the machine runs on its battery ({supply})"))
                .remedy("connect it to power")
        }
        _ => return None,
    })
}
