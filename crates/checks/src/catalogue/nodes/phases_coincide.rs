//! N2: the nodes are in their steady phases at the same time.

use assay_model::units::format_value;

use super::observations_only;
use crate::prelude::*;

pub const PHASES_COINCIDE: CheckRow = CheckRow {
    id: "N2",
    name: "phases-coincide",
    section: CheckSection::Nodes,
    severity: WARNING,
    escalation: "",
    needs: "the phases of every node on one clock",
    fires: "steady phases begin or end further apart than the bound of the experiment",
    why: "a node that measures while another is idle measures a different load",
    remedy: "measure for longer, or raise `where.phase_bound` with a reason",
    source: "own design",
    evidence: "the merged record of a trial over nodes",
};

pub const CHECK: Check = Check::new(&PHASES_COINCIDE, observations_only)
    .on_observations(judge_observation)
    .always_checked("a trial that a node leaves does not count");

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::Phases {
        begin_spread,
        end_spread,
        error,
        last_to_begin,
        first_to_end,
        common,
        declared,
        bound,
    } = observation
    else {
        return None;
    };
    let time = |s: &f64| format_value(*s, "s");
    let begins = begin_spread + error > *bound;
    // A program without declared phases ends when its work does; different ends are then a result.
    let ends = *declared && end_spread + error > *bound;
    (begins || ends).then(|| {
        finding(format!(
            "the steady phases of the nodes begin within {} of each other (last: {last_to_begin}) \
             and end within {} (first: {first_to_end}), known to {}; the bound is {}, and {:.0} % \
             of the longest is common to all",
            time(begin_spread),
            time(end_spread),
            time(error),
            time(bound),
            100.0 * common
        ))
    })
}
