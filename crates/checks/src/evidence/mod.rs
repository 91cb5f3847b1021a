//! What the checks look at. Everything is optional: what nobody recorded is `None` or
//! [`Known::NotRecorded`], and a check that needs it says that it cannot check.

mod claim;
mod design;
mod process;
mod quantities;
mod treatment;
mod work;

pub use claim::*;
pub use design::*;
pub use process::*;
pub use quantities::*;
pub use treatment::*;
pub use work::*;

use assay_environment::EnvDiff;
use assay_model::Finding;

use crate::check::Stop;

/// Something that may be known to be absent: a page without prices is not a page whose prices
/// nobody recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Known<T> {
    /// Nobody recorded whether it is there.
    #[default]
    NotRecorded,
    /// It is known not to be there: why, as a sentence without a full stop.
    Absent(String),
    /// It is there.
    Is(T),
}

impl<T> Known<T> {
    /// What is there.
    pub fn get(&self) -> Option<&T> {
        match self {
            Known::Is(value) => Some(value),
            _ => None,
        }
    }

    /// What is there, or why a check that looks at it ends.
    pub(crate) fn need(&self, what: &str) -> Result<&T, Stop> {
        match self {
            Known::Is(value) => Ok(value),
            Known::Absent(why) => Err(Stop::NotApplicable(why.clone())),
            Known::NotRecorded => Err(Stop::Missing(what.to_owned())),
        }
    }
}

/// What is known about a comparison, a claim or a page. `Default` knows nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// The treatments that are compared, the baseline first. One: nothing is compared.
    pub treatments: Vec<TreatmentEvidence>,
    /// What is meant to differ: a parameter's name, or a path of facts; it covers what is below it.
    pub factors: Option<Vec<String>>,
    /// What else differs between the treatments' systems.
    pub environment: Known<EnvDiff>,
    /// The comparisons made. Absent: nothing is compared.
    pub comparisons: Known<Vec<ComparisonEvidence>>,
    /// When the trials ran, in which order.
    pub schedule: Option<Schedule>,
    /// The last comparison of identical code. Absent: none was made, which F37 reports.
    pub self_comparison: Known<SelfComparison>,
    /// How many comparisons were made, and whether that was corrected for.
    pub multiplicity: Option<Multiplicity>,
    /// By which rule sampling stopped.
    pub stopping: Option<Stopping>,
    /// What the ledger says of trials that are not in the result.
    pub exclusions: Option<Exclusions>,
    /// A suite's members. Absent: no suite.
    pub suite: Known<SuiteEvidence>,
    /// Means over members or tests. Absent: no mean is taken.
    pub means: Known<Vec<MeanUse>>,
    /// Percentiles that are stated. Absent: none.
    pub percentiles: Known<Vec<PercentileEvidence>>,
    /// The sentence that compares. Absent: no claim is made.
    pub claim: Known<ClaimEvidence>,
    /// A claim of an audited text. Where there is one, every check looks at it alone.
    pub audited: Option<AuditedClaim>,
    /// The numbers that are shown. Absent: none.
    pub numbers: Known<Vec<NumberEvidence>>,
    /// The metric of each treatment or system.
    pub metrics: Known<Vec<MetricIdentity>>,
    /// What values are divided by. Absent: totals only.
    pub denominators: Known<DenominatorEvidence>,
    /// Power or energy. Absent: neither is stated.
    pub energy: Known<Vec<EnergyEvidence>>,
    /// Prices. Absent: none is stated.
    pub prices: Known<Vec<PriceEvidence>>,
    /// Results of others. Absent: none is quoted.
    pub quotes: Known<Vec<QuoteEvidence>>,
    /// What a benchmark's rules want beside its numbers. Absent: no such benchmark is named.
    pub disclosures: Known<Vec<DisclosureEvidence>>,
    /// What was registered before the run, and what of it is shown.
    pub registered: Option<Registered>,
    /// What somebody would need to repeat it, and what a repetition gave.
    pub repeat: Option<RepeatEvidence>,
    /// What was found about single trials as they ran.
    pub in_trials: Vec<Finding>,
    /// What could not be looked at, by the check that needs it: why.
    pub unseen: Vec<(&'static str, String)>,
    /// Whether the run was imported: what the program that made it did not record nobody can add.
    pub imported: bool,
    /// Whether the trials ran on several machines at once, or in virtual ones.
    pub several_machines: bool,
}

impl Evidence {
    /// Whether a declared factor is `path`, or a prefix of it by whole parts.
    pub(crate) fn declares(&self, path: &str) -> bool {
        let below = |f: &String| {
            let rest = path.strip_prefix(f.strip_prefix("controls.").unwrap_or(f));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.factors.iter().flatten().any(below)
    }

    /// The treatments, if there are two to compare.
    pub(crate) fn compared(&self) -> Result<&[TreatmentEvidence], Stop> {
        match self.treatments.as_slice() {
            [] => Err(Stop::Missing("what is compared".to_owned())),
            [_] => Err(Stop::NotApplicable(
                "there is one treatment, so nothing is compared".to_owned(),
            )),
            treatments => Ok(treatments),
        }
    }

    /// The treatments, at least one.
    pub(crate) fn measured(&self) -> Result<&[TreatmentEvidence], Stop> {
        match self.treatments.as_slice() {
            [] => Err(Stop::Missing("what was measured".to_owned())),
            treatments => Ok(treatments),
        }
    }
}
