//! Checks whose evidence can never be missing, with the reasons.
//!
//! The tests show every check firing, passing and unable to check on a real run's evidence. A check
//! that lacks the last case is listed here.

use crate::rows;
use assay_model::CheckRow;

/// Ids of checks that can always run, and the reason.
const ALWAYS_CHECKED: &[(&CheckRow, &str)] = &[
    (&rows::ENV_CAPTURED, "a description that is missing is what it finds"),
    (&rows::FACTOR_DECLARED, "every treatment of a plan has a level of each of its factors"),
    (
        &rows::TRAIN_TEST_SPLIT,
        "what a program is trained on and measured on are parameters of the plan",
    ),
    (&rows::SUITE_COMPLETE, "the members of a suite are in the plan of its run"),
    (&rows::WARM_UP_EQUAL, "the warm-up is a part of the design"),
    (&rows::ENOUGH_RUNS, "trials are counted"),
    (
        &rows::UNIT_OF_REPLICATION,
        "intervals are computed here, over trials; importers say which of them share a process",
    ),
    (&rows::INTERVAL_PRESENT, "a number without an interval is what it finds"),
    (&rows::DIRECTION_SUPPORTED, "F32 finds a measured ratio without an interval"),
    (&rows::SELF_COMPARISON, "a comparison of identical code that is not kept is what it finds"),
    (&rows::MANY_COMPARISONS, "comparisons are counted"),
    (&rows::EXCLUSIONS_LOGGED, "every trial has a record"),
    (&rows::SAME_STATISTIC, "all treatments of a run are summed up by one statistic"),
    (&rows::RECOMPUTES, "a number whose inputs are not there is left to F54"),
    (&rows::KINDS_NOT_MIXED, "every number of a run, post or landscape has its kind"),
    (&rows::ABSOLUTES_SHOWN, "a ratio whose inputs are not there is what it finds"),
    (&rows::WORDING_EXACT, "the words are the evidence"),
    (&rows::SOURCE_AND_DATE, "a result without a document or a day is what it finds"),
    (&rows::REQUIRED_DISCLOSURE, "a field that is not there is what it finds"),
    (&rows::SELECTIVE_REPORT, "the plan has what was registered"),
    (&rows::NODES_ALIKE, "a trial does not begin before every agent has described its node"),
    (&rows::PHASES_COINCIDE, "a trial that a node leaves does not count"),
    (&rows::CLOCKS_HOLD, "a trial does not begin before every agent's clock is read"),
    (&rows::EMULATED_TIMES, "assay starts the virtual machine and knows what runs it"),
];

/// Returns the reason why a check can always run; `None` if its evidence may be missing.
pub fn always_checked(id: &str) -> Option<&'static str> {
    ALWAYS_CHECKED.iter().find(|(row, _)| row.id == id).map(|(_, why)| *why)
}
