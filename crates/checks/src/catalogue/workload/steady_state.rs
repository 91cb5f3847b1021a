//! F25: the trials reached a steady state.

use assay_model::SeriesShape;

use crate::prelude::*;

pub const STEADY_STATE: CheckRow = CheckRow {
    id: "F25",
    name: "steady-state",
    section: CheckSection::Workload,
    severity: W,
    escalation: "invalid when a claim about peak performance includes a trial that never settled",
    needs: "at least 100 samples inside each trial, in order of time",
    fires: "more than 10 % of the trials never reach a steady state",
    why: "a mean over a series that never settles depends on where it was cut",
    remedy: "run longer, or report the whole series",
    source: "Barrett et al. 2017; Traini et al. 2022",
    evidence: "a load generator reports how the series of its throughput went; of another program the series of its own samples of the deciding metric",
};

pub(crate) const CHECK: Check = Check::new(&STEADY_STATE, evaluate).judged_in_trials();

/// Share of trials without a steady state that is tolerated.
const UNSETTLED: f64 = 0.10;

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
        _ if of_peak => vec![grave(format!("{text}, and the claim is about peak performance"))],
        n if n as f64 > UNSETTLED * all as f64 => vec![plain(text)],
        _ => Vec::new(),
    })
}
