//! What the archive holds of a run, and how its parts are looked up.

use assay_model::{
    Analysis, Experiment, LedgerEntry, Observation, Order, Plan, Scalar, SystemDescription,
    Treatment, TrialRecord,
};

/// Earlier versions looked at the watched facts again once a second, and did not record it.
pub(super) const LOOKED_AGAIN_NS: u64 = 1_000_000_000;

/// What the archive holds of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunMaterial<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The plan.
    pub plan: &'a Plan,
    /// The latest attempt at every trial, in the order of the plan.
    pub records: &'a [TrialRecord],
    /// What was computed of them.
    pub analysis: &'a Analysis,
    /// The system under test at the start; `None`: not described.
    pub system: Option<&'a SystemDescription>,
    /// The ledger; empty: not read.
    pub ledger: &'a [LedgerEntry],
}

/// The baseline, then the others in the order of the plan.
pub(super) fn ordered(plan: &Plan) -> impl Iterator<Item = &Treatment> {
    let others = plan.treatments.iter().filter(|t| t.id != plan.baseline);
    plan.treatment(plan.baseline).into_iter().chain(others)
}

/// A treatment's label; the experiment's name where nothing differs.
pub(super) fn named(m: &RunMaterial<'_>, t: &Treatment) -> String {
    if t.levels.is_empty() { m.experiment.name.clone() } else { t.label() }
}

/// Whether another program ran the trials: which settings and work its names stand for is not known.
pub(super) fn imported(m: &RunMaterial<'_>) -> bool {
    m.experiment.design.order == Order::Unknown
}

/// The parameters of a treatment, without the folder of its revision: that is where the level is, no setting.
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

/// What was seen in the trials of a treatment; in those of all, where it is of the machine before the run.
pub(super) fn seen<'a>(
    m: &'a RunMaterial<'_>,
    of: Option<u32>,
) -> impl Iterator<Item = &'a Observation> {
    let mine = move |r: &&TrialRecord| of.is_none_or(|id| r.treatment == id);
    m.records.iter().filter(mine).flat_map(|r| &r.evidence)
}
