//! The catalogue of checks, with a file for each: its row and its functions. Ids, names and
//! severities of checks are written in these files only.

pub(crate) mod claims;
pub(crate) mod environment;
mod nodes;
mod retired;
pub(crate) mod statistics;
pub(crate) mod workload;

use assay_model::{CheckRow, Finding};

use crate::Evidence;
use crate::check::{Check, CheckOutcome, note};
pub use environment::quiet_host::{BUSY, MAX_QUEUE_PER_CPU};

/// Lists the checks. For `section::file::ROW`, the file has the constants `ROW` and `CHECK`.
macro_rules! catalogue {
    ($($section:ident::$file:ident::$row:ident,)+) => {
        const CHECKS: &[Check] = &[$($section::$file::CHECK,)+];

        /// The rows of the catalogue as data: one constant per check, with the check's name.
        pub mod rows {
            $(pub use super::$section::$file::$row;)+
            pub use super::always_checked;
            pub use super::retired::retired;
        }
    };
}

// Ordered by id; the checks for several machines are the last.
catalogue! {
    environment::env_captured::ENV_CAPTURED,
    environment::factor_declared::FACTOR_DECLARED,
    environment::confounder::CONFOUNDER,
    environment::binary_identity::BINARY_IDENTITY,
    environment::built_for_host::BUILT_FOR_HOST,
    environment::flags_disclosed_equal::FLAGS_DISCLOSED_EQUAL,
    environment::cpu_resources::CPU_RESOURCES,
    environment::page_size::PAGE_SIZE,
    environment::os_tunables::OS_TUNABLES,
    environment::quiet_host::QUIET_HOST,
    environment::clock_and_heat::CLOCK_AND_HEAT,
    environment::environment_stable::ENVIRONMENT_STABLE,
    environment::layout_sampled::LAYOUT_SAMPLED,
    environment::timer_and_length::TIMER_AND_LENGTH,
    workload::same_work::SAME_WORK,
    workload::output_verified::OUTPUT_VERIFIED,
    workload::train_test_split::TRAIN_TEST_SPLIT,
    workload::suite_complete::SUITE_COMPLETE,
    workload::limiter_known::LIMITER_KNOWN,
    workload::generator_not_limit::GENERATOR_NOT_LIMIT,
    workload::coordinated_omission::COORDINATED_OMISSION,
    workload::percentile_support::PERCENTILE_SUPPORT,
    workload::steady_state::STEADY_STATE,
    workload::warm_up_equal::WARM_UP_EQUAL,
    statistics::enough_runs::ENOUGH_RUNS,
    statistics::unit_of_replication::UNIT_OF_REPLICATION,
    statistics::interleaved::INTERLEAVED,
    statistics::interval_present::INTERVAL_PRESENT,
    statistics::direction_supported::DIRECTION_SUPPORTED,
    statistics::detectable_effect::DETECTABLE_EFFECT,
    statistics::self_comparison::SELF_COMPARISON,
    statistics::many_comparisons::MANY_COMPARISONS,
    statistics::stopping_rule::STOPPING_RULE,
    statistics::exclusions_logged::EXCLUSIONS_LOGGED,
    statistics::same_statistic::SAME_STATISTIC,
    statistics::shape_fits_summary::SHAPE_FITS_SUMMARY,
    statistics::right_mean::RIGHT_MEAN,
    statistics::mean_sensitivity::MEAN_SENSITIVITY,
    statistics::recomputes::RECOMPUTES,
    claims::same_metric::SAME_METRIC,
    claims::kinds_not_mixed::KINDS_NOT_MIXED,
    claims::derived_marked::DERIVED_MARKED,
    claims::denominator_defined::DENOMINATOR_DEFINED,
    claims::ranking_flips::RANKING_FLIPS,
    claims::power_measured::POWER_MEASURED,
    claims::price_basis::PRICE_BASIS,
    claims::absolutes_shown::ABSOLUTES_SHOWN,
    claims::wording_exact::WORDING_EXACT,
    claims::source_and_date::SOURCE_AND_DATE,
    claims::required_disclosure::REQUIRED_DISCLOSURE,
    claims::selective_report::SELECTIVE_REPORT,
    claims::repeatable::REPEATABLE,
    statistics::cold_start::COLD_START,
    environment::memory_nodes::MEMORY_NODES,
    workload::suite_read::SUITE_READ,
    nodes::nodes_alike::NODES_ALIKE,
    nodes::phases_coincide::PHASES_COINCIDE,
    nodes::clocks_hold::CLOCKS_HOLD,
    nodes::emulated_times::EMULATED_TIMES,
}

/// Returns all checks; those for one machine come first.
pub fn catalogue() -> &'static [Check] {
    CHECKS
}

/// Finds a check by id (`F31`, any case) or name (`interleaved`).
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|c| c.row.id.eq_ignore_ascii_case(id) || c.row.name == id)
}

/// Returns the reason why a check can always run; `None` if its evidence may be missing.
pub fn always_checked(id: &str) -> Option<&'static str> {
    CHECKS.iter().find(|check| check.row.id == id)?.always_checked
}

/// Judges evidence about a single object, such as a number of a page, with one check. A check that
/// cannot run gives a note.
pub fn judge(row: &CheckRow, evidence: &Evidence) -> Vec<Finding> {
    let Some(check) = find(row.id) else { return Vec::new() };
    let CheckOutcome::CannotCheck(what) = check.evaluate(evidence) else {
        return check.findings(evidence);
    };
    let found = note(format!("cannot check: {what} is not recorded"));
    vec![check.row.finding(found.remedy("record it, or claim nothing that needs it"))]
}
