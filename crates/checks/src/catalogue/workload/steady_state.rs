//! F25: the trials reached a steady state.

use assay_model::SeriesShape;
use assay_model::units::{format_duration, format_value};

use crate::prelude::*;

pub const STEADY_STATE: CheckRow = CheckRow {
    id: "F25",
    name: "steady-state",
    section: CheckSection::Workload,
    severity: WARNING,
    escalation: "invalid when a claim about peak performance includes a trial that never settled",
    needs: "at least 100 samples inside each trial, in order of time",
    fires: "more than 10 % of the trials never reach a steady state",
    why: "a mean over a series that never settles depends on where it was cut",
    remedy: "run longer, or report the whole series",
    source: "Barrett et al. 2017; Traini et al. 2022",
    evidence: "a load generator reports the shape of its throughput series; for another program, \
        the series of its own samples of the deciding metric",
};

pub const CHECK: Check =
    Check::new(&STEADY_STATE, evaluate).on_observations(judge_observation).judged_in_trials();

/// Share of trials without a steady state that is tolerated.
const MAX_UNSETTLED_SHARE: f64 = 0.10;
/// Share of the measurement window above which a warm-up gives a warning.
const MAX_WARMUP: f64 = 0.1;
/// Relative difference between the second half and the whole above which the state was not steady.
const MAX_HALF_DIFFERENCE: f64 = 0.2;
/// Minimum turns per process: with fewer, both halves include first, cold turns.
const MIN_TURNS: f64 = 4.0;

fn evaluate(e: &Evidence) -> Evaluation {
    let mut shapes: Vec<SeriesShape> = Vec::new();
    for treatment in e.measured()? {
        shapes.extend(
            treatment.series.need(&format!("the samples inside {}'s trials", treatment.label))?,
        );
    }
    let long = |s: &&SeriesShape| **s != SeriesShape::TooShort;
    let classes: Vec<&SeriesShape> = shapes.iter().filter(long).collect();
    if classes.is_empty() {
        return missing(format!(
            "a series of at least {} stretches inside a trial (make `steady` longer)",
            assay_stats::curves::warmup::SHORTEST
        ));
    }
    let never = classes.iter().filter(|c| ***c == SeriesShape::NoSteadyState).count();
    let all = classes.len();
    let of_peak = e.claim.get().and_then(|c| c.of_peak) == Some(true);
    let text = format!("{never} of {all} trials never settled");
    Ok(match never {
        0 => Vec::new(),
        _ if of_peak => vec![invalid(format!("{text}, and the claim is about peak performance"))],
        n if n as f64 > MAX_UNSETTLED_SHARE * all as f64 => vec![finding(text)],
        _ => Vec::new(),
    })
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    match observation {
        Observation::Settling { shape, steady_from, window, bin } => {
            settling(*shape, *steady_from, *window, *bin)
        }
        Observation::ColdStart { metric, whole, later, turns } => {
            let text = if *turns < MIN_TURNS {
                format!(
                    "each process had {turns:.1} turns, so {metric} was measured with cold caches"
                )
            } else if (later - whole).abs() > MAX_HALF_DIFFERENCE * whole.abs() {
                format!(
                    "{metric} is {} in all and {} in the second half: caches were still filling",
                    format_value(*whole, "1"),
                    format_value(*later, "1")
                )
            } else {
                return None;
            };
            Some(warning(text).remedy("simulate more `accesses`"))
        }
        _ => None,
    }
}

fn settling(
    shape: SeriesShape,
    steady_from: Option<f64>,
    window: f64,
    bin: f64,
) -> Option<FiredCheck> {
    Some(match shape {
        // For a window that is too short, the check over the whole run reports that it cannot
        // check.
        SeriesShape::Flat | SeriesShape::TooShort => return None,
        SeriesShape::Warmup | SeriesShape::Slowdown => {
            let start = steady_from?;
            let way = if shape == SeriesShape::Warmup { "rose" } else { "fell" };
            let severity = if start / window > MAX_WARMUP { WARNING } else { NOTE };
            let text = format!(
                "the throughput {way} until {} into the measurement window, then it was steady",
                format_value(start, "s")
            );
            finding_at(severity, text).remedy("make `ramp_up` longer")
        }
        SeriesShape::NoSteadyState => {
            let bins = format_duration(std::time::Duration::from_secs_f64(bin.clamp(0.0, 1e9)));
            let text = format!(
                "the throughput did not settle within the measurement window (checked every {bins})"
            );
            warning(text).remedy("make `ramp_up` and `steady` longer, and look at the series")
        }
    })
}
