//! Archived data of a run, and look-ups in it.

use assay_model::{
    Analysis, Experiment, LedgerEntry, Observation, Order, Plan, Scalar, SystemDescription,
    Treatment, TrialRecord,
};

/// Interval in ns at which earlier versions re-read the watched facts without recording it.
pub(super) const LOOKED_AGAIN_NS: u64 = 1_000_000_000;

/// Archived data of one run.
#[derive(Debug, Clone, Copy)]
pub struct RunMaterial<'a> {
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    /// The latest attempt at every trial, in the order of the plan.
    pub records: &'a [TrialRecord],
    /// Analysis of the records.
    pub analysis: &'a Analysis,
    /// The system under test at the start; `None` if it was not described.
    pub system: Option<&'a SystemDescription>,
    /// The run's ledger; empty if it was not read.
    pub ledger: &'a [LedgerEntry],
}

/// Returns the baseline, then the other treatments in the order of the plan.
pub(super) fn baseline_first(plan: &Plan) -> impl Iterator<Item = &Treatment> {
    let others = plan.treatments.iter().filter(|t| t.id != plan.baseline);
    plan.treatment(plan.baseline).into_iter().chain(others)
}

/// Returns a treatment's label, or the experiment's name if there are no levels.
pub(super) fn treatment_label(m: &RunMaterial<'_>, t: &Treatment) -> String {
    if t.levels.is_empty() { m.experiment.name.clone() } else { t.label() }
}

/// True if another program ran the trials: the settings and work behind its names are then unknown.
pub(super) fn imported(m: &RunMaterial<'_>) -> bool {
    m.experiment.design.order == Order::Unknown
}

/// Returns a treatment's parameters except the folder of its revision, which is the location of the
/// level and not a setting.
pub(super) fn params<'t>(
    m: &RunMaterial<'_>,
    t: &'t Treatment,
) -> impl Iterator<Item = (&'t String, &'t Scalar)> {
    let revisions = m.experiment.source.is_some();
    t.params.iter().filter(move |(k, _)| !(revisions && *k == "folder"))
}

pub(super) fn param(t: &Treatment, name: &str) -> Option<String> {
    t.params.get(name).map(Scalar::to_text)
}

/// Returns the observations in the trials of one treatment. `None` returns those of all trials, for
/// observations about the machine before the run.
pub(super) fn observations<'a>(
    m: &'a RunMaterial<'_>,
    of: Option<u32>,
) -> impl Iterator<Item = &'a Observation> {
    let mine = move |r: &&TrialRecord| of.is_none_or(|id| r.treatment == id);
    m.records.iter().filter(mine).flat_map(|r| &r.evidence)
}
