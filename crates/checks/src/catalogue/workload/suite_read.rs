//! F63: the output of a benchmark suite is read, instead of timing the suite as a whole.

use crate::prelude::*;

pub const SUITE_READ: CheckRow = CheckRow {
    id: "F63",
    name: "suite-read",
    section: CheckSection::Workload,
    severity: WARNING,
    escalation: "",
    needs: "the output of a command",
    fires: "the output is that of a benchmark tool, and the command's time decides",
    why: "a suite chooses how often it repeats its benchmarks, so its time says little about them",
    remedy: "assay run --again last --reader auto",
    source: "testing.B.Loop; criterion's sampling mode",
    evidence: "the output of the first trial of a treatment",
};

pub const CHECK: Check = Check::new(&SUITE_READ, evaluate)
    .on_observations(judge_observation)
    .always_checked("the output of every command is examined");

/// Requires trials only: an unread suite is seen in their output.
fn evaluate(e: &Evidence) -> Evaluation {
    e.measured().map(|_| Vec::new())
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::SuiteOutput { reader } = observation else { return None };
    let found = finding(format!(
        "the command printed results of benchmarks ({reader}), which its own time does not measure"
    ));
    Some(
        found.remedy(format!("`assay run --again last --reader {reader}` compares the benchmarks")),
    )
}
