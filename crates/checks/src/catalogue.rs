//! The checks: a row each, with the function of evidence that judges it.

use assay_model::{Finding, Found, Row};

use crate::Evidence;
use crate::check::{Evaluation, Stop, at};
use crate::judge::{
    audit, claims, cold, design, environment, interval, machine, measurement, memory_nodes, nodes,
    presentation, publication, quantities, resources, statistics, wording, workload,
};
use crate::rows::{self, N};

/// What a check says about evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was checked and nothing was found.
    Passes,
    /// What it looks at is known not to be there (no price is quoted, one treatment only).
    DoesNotApply(String),
    /// It found this; never empty.
    Found(Vec<Found>),
    /// The evidence does not hold what it needs: what is missing.
    CannotCheck(String),
}

/// One check of the catalogue.
#[derive(Debug)]
pub struct Check {
    /// What it is.
    pub row: &'static Row,
    pub(crate) evaluate: fn(&Evidence) -> Evaluation,
}

impl Check {
    /// What it found in `evidence`; empty when it passes, does not apply or cannot be made.
    pub fn findings(&self, evidence: &Evidence) -> Vec<Finding> {
        match self.evaluate(evidence) {
            Outcome::Found(found) => found.into_iter().map(|f| self.row.finding(f)).collect(),
            _ => Vec::new(),
        }
    }

    /// What it found in `evidence`; what it cannot check is a note.
    pub fn judged(&self, evidence: &Evidence) -> Vec<Finding> {
        let Outcome::CannotCheck(what) = self.evaluate(evidence) else {
            return self.findings(evidence);
        };
        let found = at(N, format!("cannot check: {what} is not recorded"));
        vec![self.row.finding(found.remedy("record it, or claim nothing that needs it"))]
    }

    /// What it says about `evidence`.
    pub fn evaluate(&self, evidence: &Evidence) -> Outcome {
        let evaluation = match &evidence.audited {
            Some(claim) => audit::claim(self.row, claim),
            None => (self.evaluate)(evidence),
        };
        match evaluation {
            Ok(found) if found.is_empty() => Outcome::Passes,
            Ok(found) => Outcome::Found(found),
            Err(Stop::NotApplicable(why)) => Outcome::DoesNotApply(why),
            Err(Stop::Missing(what)) => Outcome::CannotCheck(what),
        }
    }
}

/// Every check with its function, in the order of ids.
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
    // Of several machines: all that is known of them is what was seen in trials.
    check(&rows::NODES_ALIKE, nodes::seen_only),
    check(&rows::PHASES_COINCIDE, nodes::seen_only),
    check(&rows::CLOCKS_HOLD, nodes::seen_only),
    check(&rows::EMULATED_TIMES, nodes::seen_only),
];

/// All checks, those of one machine first.
pub fn catalogue() -> &'static [Check] {
    CHECKS
}

/// The check of that id (`F31`) or name (`interleaved`).
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|c| c.row.id.eq_ignore_ascii_case(id) || c.row.name == id)
}

const fn check(row: &'static Row, evaluate: fn(&Evidence) -> Evaluation) -> Check {
    Check { row, evaluate }
}

/// What one check of the catalogue says of evidence about one thing, such as a number of a page: what it
/// found, and as a note what it cannot check.
pub fn judge(row: &Row, evidence: &Evidence) -> Vec<Finding> {
    find(row.id).map_or_else(Vec::new, |check| check.judged(evidence))
}
