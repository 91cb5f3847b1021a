//! The list of checks: each row with the function that evaluates it.

use assay_model::{CheckRow, Finding, FiredCheck};

use crate::Evidence;
use crate::check::{Evaluation, Stop, at};
use crate::judge::{
    audit, claims, cold, design, environment, interval, machine, measurement, memory_nodes, nodes,
    presentation, publication, quantities, resources, statistics, wording, workload,
};
use crate::rows::{self, N};

/// Result of one check over some evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckOutcome {
    /// The check ran and found nothing.
    Passes,
    /// The object of the check is known to be absent (no price is quoted, only one treatment); with
    /// the reason.
    DoesNotApply(String),
    /// The findings; never empty.
    Found(Vec<FiredCheck>),
    /// The evidence does not hold the named inputs.
    CannotCheck(String),
}

/// One check of the catalogue.
#[derive(Debug)]
pub struct Check {
    pub row: &'static CheckRow,
    pub(crate) evaluate: fn(&Evidence) -> Evaluation,
}

impl Check {
    /// Returns the findings in `evidence`; empty if the check passes, does not apply or cannot run.
    pub fn findings(&self, evidence: &Evidence) -> Vec<Finding> {
        match self.evaluate(evidence) {
            CheckOutcome::Found(found) => found.into_iter().map(|f| self.row.finding(f)).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the findings in `evidence`. A check that cannot run gives one note.
    pub fn judged(&self, evidence: &Evidence) -> Vec<Finding> {
        let CheckOutcome::CannotCheck(what) = self.evaluate(evidence) else {
            return self.findings(evidence);
        };
        let found = at(N, format!("cannot check: {what} is not recorded"));
        vec![self.row.finding(found.remedy("record it, or claim nothing that needs it"))]
    }

    /// Runs the check. For an audited claim, every check looks at that claim only.
    pub fn evaluate(&self, evidence: &Evidence) -> CheckOutcome {
        let evaluation = match &evidence.audited {
            Some(claim) => audit::claim(self.row, claim),
            None => (self.evaluate)(evidence),
        };
        match evaluation {
            Ok(found) if found.is_empty() => CheckOutcome::Passes,
            Ok(found) => CheckOutcome::Found(found),
            Err(Stop::NotApplicable(why)) => CheckOutcome::DoesNotApply(why),
            Err(Stop::Missing(what)) => CheckOutcome::CannotCheck(what),
        }
    }
}

/// All checks with their functions, ordered by id.
const CHECKS: &[Check] = &[
    check(&rows::ENV_CAPTURED, environment::captured),
    check(&rows::FACTOR_DECLARED, environment::factor_declared),
    check(&rows::CONFOUNDER, environment::confounder),
    check(&rows::BINARY_IDENTITY, environment::binary_identity),
    check(&rows::BUILT_FOR_HOST, environment::built_for_host),
    check(&rows::FLAGS_DISCLOSED_EQUAL, environment::flags),
    check(&rows::CPU_RESOURCES, resources::cpu_resources),
    check(&rows::PAGE_SIZE, resources::page_size),
    check(&rows::OS_TUNABLES, resources::os_tunables),
    check(&rows::QUIET_HOST, machine::quiet_host),
    check(&rows::CLOCK_AND_HEAT, machine::clock_and_heat),
    check(&rows::ENVIRONMENT_STABLE, machine::stable),
    check(&rows::LAYOUT_SAMPLED, machine::layout),
    check(&rows::TIMER_AND_LENGTH, machine::timer),
    check(&rows::SAME_WORK, workload::same_work),
    check(&rows::OUTPUT_VERIFIED, workload::output_verified),
    check(&rows::TRAIN_TEST_SPLIT, workload::train_test),
    check(&rows::SUITE_COMPLETE, workload::suite_complete),
    check(&rows::LIMITER_KNOWN, workload::limiter_known),
    check(&rows::GENERATOR_NOT_LIMIT, measurement::generator),
    check(&rows::COORDINATED_OMISSION, measurement::omission),
    check(&rows::PERCENTILE_SUPPORT, measurement::percentile_support),
    check(&rows::STEADY_STATE, measurement::settled),
    check(&rows::WARM_UP_EQUAL, measurement::warmup),
    check(&rows::ENOUGH_RUNS, design::enough_runs),
    check(&rows::UNIT_OF_REPLICATION, design::replication),
    check(&rows::INTERLEAVED, design::interleaved),
    check(&rows::INTERVAL_PRESENT, interval::interval_present),
    check(&rows::DIRECTION_SUPPORTED, interval::direction),
    check(&rows::DETECTABLE_EFFECT, interval::detectable),
    check(&rows::SELF_COMPARISON, statistics::self_comparison),
    check(&rows::MANY_COMPARISONS, statistics::many),
    check(&rows::STOPPING_RULE, statistics::stopping),
    check(&rows::EXCLUSIONS_LOGGED, statistics::exclusions),
    check(&rows::SAME_STATISTIC, statistics::statistic),
    check(&rows::SHAPE_FITS_SUMMARY, statistics::shape),
    check(&rows::RIGHT_MEAN, presentation::right_mean),
    check(&rows::MEAN_SENSITIVITY, presentation::sensitivity),
    check(&rows::RECOMPUTES, presentation::recomputes),
    check(&rows::SAME_METRIC, claims::same_metric),
    check(&rows::KINDS_NOT_MIXED, claims::kinds),
    check(&rows::DERIVED_MARKED, claims::derived),
    check(&rows::DENOMINATOR_DEFINED, quantities::defined),
    check(&rows::RANKING_FLIPS, quantities::flips),
    check(&rows::POWER_MEASURED, quantities::power),
    check(&rows::PRICE_BASIS, quantities::price),
    check(&rows::ABSOLUTES_SHOWN, wording::absolutes),
    check(&rows::WORDING_EXACT, wording::wording),
    check(&rows::SOURCE_AND_DATE, publication::sources),
    check(&rows::REQUIRED_DISCLOSURE, publication::disclosure),
    check(&rows::SELECTIVE_REPORT, publication::selective),
    check(&rows::REPEATABLE, publication::repeatable),
    check(&rows::COLD_START, cold::cold_start),
    check(&rows::MEMORY_NODES, memory_nodes::memory_nodes),
    // For trials on several machines, all evidence is observations of single trials.
    check(&rows::NODES_ALIKE, nodes::seen_only),
    check(&rows::PHASES_COINCIDE, nodes::seen_only),
    check(&rows::CLOCKS_HOLD, nodes::seen_only),
    check(&rows::EMULATED_TIMES, nodes::seen_only),
];

/// Returns all checks; those for one machine come first.
pub fn catalogue() -> &'static [Check] {
    CHECKS
}

/// Finds a check by id (`F31`, any case) or name (`interleaved`).
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|c| c.row.id.eq_ignore_ascii_case(id) || c.row.name == id)
}

const fn check(row: &'static CheckRow, evaluate: fn(&Evidence) -> Evaluation) -> Check {
    Check { row, evaluate }
}

/// Judges evidence about a single object, such as a number of a page, with one check. A check that
/// cannot run gives a note.
pub fn judge(row: &CheckRow, evidence: &Evidence) -> Vec<Finding> {
    find(row.id).map_or_else(Vec::new, |check| check.judged(evidence))
}
