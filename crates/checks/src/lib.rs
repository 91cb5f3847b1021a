//! The catalogue of checks: whether a comparison is honest, and in what terms it may be published.
//!
//! [`rows`] are the checks as data. Whoever knows something hands over typed evidence: what was seen in a
//! trial as [`assay_model::Observation`]s, which [`judge_seen`] turns into findings, and what is known of a
//! whole run, comparison, page or claim as [`Evidence`], of which [`evaluate`] makes every check. A check is a
//! pure function; what the evidence does not hold cannot be checked, which is never a pass.

mod check;
mod classes;
mod evidence;
mod from_run;
mod judge;
mod report;
pub mod rows;
mod seen;
mod table;

use assay_model::{Finding, Row};

use check::Evaluation;

pub use check::{Check, Outcome};
pub use classes::environment_markdown;
pub use evidence::*;
pub use from_run::{RunMaterial, from_run};
pub use judge::modes;
pub use report::{Checked, Report, Unchecked, evaluate};
pub use seen::{judge_all, judge_seen, see};
pub use table::markdown;

/// Every check with its function, in the order of ids.
const CHECKS: &[Check] = &[
    check(&rows::ENV_CAPTURED, judge::environment::captured),
    check(&rows::FACTOR_DECLARED, judge::environment::factor_declared),
    check(&rows::CONFOUNDER, judge::environment::confounder),
    check(&rows::BINARY_IDENTITY, judge::environment::binary_identity),
    check(&rows::BUILT_FOR_HOST, judge::environment::built_for_host),
    check(&rows::FLAGS_DISCLOSED_EQUAL, judge::environment::flags),
    check(&rows::CPU_RESOURCES, judge::resources::cpu_resources),
    check(&rows::PAGE_SIZE, judge::resources::page_size),
    check(&rows::OS_TUNABLES, judge::resources::os_tunables),
    check(&rows::QUIET_HOST, judge::machine::quiet_host),
    check(&rows::CLOCK_AND_HEAT, judge::machine::clock_and_heat),
    check(&rows::ENVIRONMENT_STABLE, judge::machine::stable),
    check(&rows::LAYOUT_SAMPLED, judge::machine::layout),
    check(&rows::TIMER_AND_LENGTH, judge::machine::timer),
    check(&rows::SAME_WORK, judge::workload::same_work),
    check(&rows::OUTPUT_VERIFIED, judge::workload::output_verified),
    check(&rows::TRAIN_TEST_SPLIT, judge::workload::train_test),
    check(&rows::SUITE_COMPLETE, judge::workload::suite_complete),
    check(&rows::LIMITER_KNOWN, judge::workload::limiter_known),
    check(&rows::GENERATOR_NOT_LIMIT, judge::measurement::generator),
    check(&rows::COORDINATED_OMISSION, judge::measurement::omission),
    check(&rows::PERCENTILE_SUPPORT, judge::measurement::percentile_support),
    check(&rows::STEADY_STATE, judge::measurement::settled),
    check(&rows::WARM_UP_EQUAL, judge::measurement::warmup),
    check(&rows::ENOUGH_RUNS, judge::design::enough_runs),
    check(&rows::UNIT_OF_REPLICATION, judge::design::replication),
    check(&rows::INTERLEAVED, judge::design::interleaved),
    check(&rows::INTERVAL_PRESENT, judge::interval::interval_present),
    check(&rows::INTERVAL_ON_RATIO, judge::interval::interval_on_ratio),
    check(&rows::DIRECTION_SUPPORTED, judge::interval::direction),
    check(&rows::EQUALITY_SUPPORTED, judge::interval::equality),
    check(&rows::DETECTABLE_EFFECT, judge::interval::detectable),
    check(&rows::SELF_COMPARISON, judge::statistics::self_comparison),
    check(&rows::MANY_COMPARISONS, judge::statistics::many),
    check(&rows::STOPPING_RULE, judge::statistics::stopping),
    check(&rows::EXCLUSIONS_LOGGED, judge::statistics::exclusions),
    check(&rows::SAME_STATISTIC, judge::statistics::statistic),
    check(&rows::SHAPE_FITS_SUMMARY, judge::statistics::shape),
    check(&rows::RIGHT_MEAN, judge::presentation::right_mean),
    check(&rows::MEAN_SENSITIVITY, judge::presentation::sensitivity),
    check(&rows::RECOMPUTES, judge::presentation::recomputes),
    check(&rows::SAME_METRIC, judge::claims::same_metric),
    check(&rows::KINDS_NOT_MIXED, judge::claims::kinds),
    check(&rows::DERIVED_MARKED, judge::claims::derived),
    check(&rows::DENOMINATOR_DEFINED, judge::quantities::defined),
    check(&rows::RANKING_FLIPS, judge::quantities::flips),
    check(&rows::POWER_MEASURED, judge::quantities::power),
    check(&rows::PRICE_BASIS, judge::quantities::price),
    check(&rows::ABSOLUTES_SHOWN, judge::wording::absolutes),
    check(&rows::WORDING_EXACT, judge::wording::wording),
    check(&rows::SOURCE_AND_DATE, judge::publication::sources),
    check(&rows::REQUIRED_DISCLOSURE, judge::publication::disclosure),
    check(&rows::SELECTIVE_REPORT, judge::publication::selective),
    check(&rows::REPEATABLE, judge::publication::repeatable),
    check(&rows::COLD_START, judge::cold::cold_start),
    // Of several machines: all that is known of them is what was seen in trials.
    check(&rows::NODES_ALIKE, judge::nodes::seen_only),
    check(&rows::PHASES_COINCIDE, judge::nodes::seen_only),
    check(&rows::CLOCKS_HOLD, judge::nodes::seen_only),
];

const fn check(row: &'static Row, evaluate: fn(&Evidence) -> Evaluation) -> Check {
    Check { row, evaluate }
}

/// All checks, those of one machine first.
pub fn catalogue() -> &'static [Check] {
    CHECKS
}

/// What one check of the catalogue says of evidence about one thing, such as a number of a page: what it
/// found, and as a note what it cannot check.
pub fn judge(row: &Row, evidence: &Evidence) -> Vec<Finding> {
    find(row.id).map_or_else(Vec::new, |check| check.judged(evidence))
}

/// The check of that id (`F31`) or name (`interleaved`).
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|c| c.row.id.eq_ignore_ascii_case(id) || c.row.name == id)
}
