//! The inputs of the checks. Every field is optional: unrecorded data is `None` or
//! [`RecordedValue::NotRecorded`], and a check that needs it reports that it cannot check.

mod claims;
mod comparison;
mod environment;
mod recorded;
mod statistics;
mod treatment;
mod values;
mod workload;

pub use claims::*;
pub use comparison::*;
pub use environment::*;
pub use recorded::*;
pub use statistics::*;
pub use treatment::*;
pub use values::*;
pub use workload::*;

use assay_model::Finding;
use assay_model::environment::EnvDiff;

use crate::AuditedClaim;

/// All evidence about a comparison, a claim or a page. In `Default` nothing is recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// Compared treatments, the baseline first. With one treatment nothing is compared.
    pub treatments: Vec<TreatmentEvidence>,
    /// Declared factors: parameter names or fact paths. A path covers all paths below it.
    pub factors: Option<Vec<String>>,
    /// Undeclared differences between the treatments' systems.
    pub environment: RecordedValue<EnvDiff>,
    /// Comparisons with the baseline. Absent: nothing is compared.
    pub comparisons: RecordedValue<Vec<ComparisonEvidence>>,
    /// Start and end of the trials, and their order.
    pub schedule: Option<Schedule>,
    /// The latest comparison of identical code. Absent: none was made, which the self-comparison
    /// check reports.
    pub self_comparison: RecordedValue<SelfComparison>,
    /// Number of comparisons, and the correction for it.
    pub multiplicity: Option<Multiplicity>,
    /// The rule that ended sampling.
    pub stopping: Option<StoppingRule>,
    /// Trials in the ledger that are not in the result.
    pub exclusions: Option<Exclusions>,
    /// The suite's members. Absent: the workload is no suite.
    pub suite: RecordedValue<SuiteEvidence>,
    /// Means over members or tests. Absent: no mean is taken.
    pub means: RecordedValue<Vec<MeanUse>>,
    /// Stated percentiles. Absent: no percentile is stated.
    pub percentiles: RecordedValue<Vec<PercentileEvidence>>,
    /// The sentence that compares. Absent: no claim is made.
    pub claim: RecordedValue<ClaimEvidence>,
    /// A claim from an audited text. If set, every check looks at this claim only.
    pub audited: Option<AuditedClaim>,
    /// The displayed numbers. Absent: no number is displayed.
    pub numbers: RecordedValue<Vec<NumberEvidence>>,
    /// The metric of each treatment or system.
    pub metrics: RecordedValue<Vec<MetricIdentity>>,
    /// Denominators of the values. Absent: only totals are compared.
    pub denominators: RecordedValue<DenominatorEvidence>,
    /// Power or energy values. Absent: neither is stated.
    pub energy: RecordedValue<Vec<EnergyEvidence>>,
    /// Stated prices. Absent: no price is stated.
    pub prices: RecordedValue<Vec<PriceEvidence>>,
    /// Quoted results of other publishers. Absent: none is quoted.
    pub quotes: RecordedValue<Vec<QuoteEvidence>>,
    /// Disclosures that a benchmark's rules require next to its numbers. Absent: no such benchmark
    /// is named.
    pub disclosures: RecordedValue<Vec<DisclosureEvidence>>,
    /// Metrics, workloads and treatments registered before the run, and those that are shown.
    pub registered: Option<RegisteredItems>,
    /// Material for repeating the run, and the result of a repetition.
    pub repeat: Option<RepeatEvidence>,
    /// Findings about single trials, made while they ran.
    pub in_trials: Vec<Finding>,
    /// Observations that could not be made: (check id, reason).
    pub unobserved: Vec<(&'static str, String)>,
    /// True if the run was imported: data that the original program did not record cannot be added.
    pub imported: bool,
    /// True if the trials ran on several machines at once, or in virtual machines.
    pub several_machines: bool,
}

impl Evidence {
    /// True if a declared factor is `path` or a prefix of it by whole path components.
    pub(crate) fn declares(&self, path: &str) -> bool {
        let below = |f: &String| {
            let rest = path.strip_prefix(f.strip_prefix("controls.").unwrap_or(f));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.factors.iter().flatten().any(below)
    }

    /// Returns the treatments if there are at least two to compare.
    pub(crate) fn compared(&self) -> Result<&[TreatmentEvidence], Unevaluated> {
        match self.treatments.as_slice() {
            [] => Err(Unevaluated::Missing("the compared treatments".to_owned())),
            [_] => Err(Unevaluated::NotApplicable(
                "there is one treatment, so nothing is compared".to_owned(),
            )),
            treatments => Ok(treatments),
        }
    }

    /// Returns the treatments if there is at least one.
    pub(crate) fn measured(&self) -> Result<&[TreatmentEvidence], Unevaluated> {
        match self.treatments.as_slice() {
            [] => Err(Unevaluated::Missing("the measured treatments".to_owned())),
            treatments => Ok(treatments),
        }
    }
}
