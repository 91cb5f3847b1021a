//! Why a check can always be made. The tests show every check firing, passing and unable to check on what the
//! product made; a case that is missing there stands here, with its reason.

use assay_model::Row;

use super::*;

/// The checks that are never unable to check, and why.
const ALWAYS_CHECKED: &[(&Row, &str)] = &[
    (&ENV_CAPTURED, "a description that is missing is what it finds"),
    (&FACTOR_DECLARED, "every treatment of a plan has a level of each of its factors"),
    (&TRAIN_TEST_SPLIT, "what a program is trained on and measured on are parameters of the plan"),
    (&SUITE_COMPLETE, "the members of a suite are in the plan of its run"),
    (&PERCENTILE_SUPPORT, "percentiles are read from histograms, which have their counts"),
    (&WARM_UP_EQUAL, "the warm-up is a part of the design"),
    (&ENOUGH_RUNS, "trials are counted"),
    (&UNIT_OF_REPLICATION, "intervals are computed here, over trials"),
    (&INTERVAL_PRESENT, "a number without an interval is what it finds"),
    (&EQUALITY_SUPPORTED, "a comparison without an interval is withheld, and so is its sentence"),
    (&INTERVAL_ON_RATIO, "verdicts are computed here, from the interval of the ratio"),
    (&SELF_COMPARISON, "a comparison of identical code that is not kept is what it finds"),
    (&MANY_COMPARISONS, "comparisons are counted"),
    (&EXCLUSIONS_LOGGED, "every trial has a record"),
    (&SAME_STATISTIC, "all treatments of a run are summed up by one statistic"),
    (&RECOMPUTES, "a number whose inputs are not there is left to F54"),
    (&KINDS_NOT_MIXED, "every number of a run, post or landscape has its kind"),
    (&ABSOLUTES_SHOWN, "a ratio whose inputs are not there is what it finds"),
    (&WORDING_EXACT, "the words are the evidence"),
    (&SOURCE_AND_DATE, "a result without a document or a day is what it finds"),
    (&REQUIRED_DISCLOSURE, "a field that is not there is what it finds"),
    (&SELECTIVE_REPORT, "the plan has what was registered"),
    (&NODES_ALIKE, "a trial does not begin before every agent has described its node"),
    (&PHASES_COINCIDE, "a trial that a node leaves does not count"),
    (&CLOCKS_HOLD, "a trial does not begin before every agent's clock is read"),
];

/// Why a check can always be made; `None`: what it needs may not be recorded.
pub fn always_checked(id: &str) -> Option<&'static str> {
    ALWAYS_CHECKED.iter().find(|(row, _)| row.id == id).map(|(_, why)| *why)
}
