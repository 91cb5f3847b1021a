//! Evidence of a run in the archive. What the archive does not hold stays unrecorded.

mod build;
mod design;
mod system;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_environment::EnvDiff;
use assay_model::{
    Analysis, Comparison, Experiment, LedgerEntry, LedgerEvent, Observation, Order, Plan, Scalar,
    SystemDescription, Treatment, TrialRecord, Verdict,
};

use crate::from_nodes::placement;
use crate::{
    ComparisonEvidence, Evidence, Known, Multiplicity, RepeatEvidence, Snapshots, Statistic,
    TreatmentEvidence, Unit, VerdictBasis, WarmupRule,
};
use build::{build, tuned_on};
use design::{
    dirty, energy, exclusions, means, numbers, registered, schedule, self_comparison, stopping,
    suite,
};
use system::{binary, clock, cpus, host, os, pages, randomised, settings, snapshots, unseen};
use work::{generator, limiter, output, percentiles, series, timing, work};

/// Earlier versions looked at the watched facts again once a second, and did not record it.
const LOOKED_AGAIN_NS: u64 = 1_000_000_000;

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

/// The evidence that a run gives by itself. Nothing in it is a claim.
pub fn from_run(m: &RunMaterial<'_>) -> Evidence {
    let none = |why: &str| why.to_owned();
    let compared = m.plan.treatments.len() > 1;
    let mut shared = Shared::of(m);
    Evidence {
        treatments: ordered(m.plan).map(|t| treatment(m, t, &mut shared)).collect(),
        factors: Some(m.plan.factors.clone()),
        environment: match (compared, m.system) {
            (false, _) => Known::Absent(none("nothing is compared")),
            // One machine, one boot, and the controls that differ are factors.
            (true, Some(_)) if !imported(m) => Known::Is(EnvDiff::default()),
            // On which machines another program ran its treatments is not in its files.
            (true, _) => Known::NotRecorded,
        },
        comparisons: if compared {
            Known::Is(m.analysis.comparisons.iter().map(|c| comparison(m, c)).collect())
        } else {
            Known::Absent(none("nothing is compared"))
        },
        schedule: Some(schedule(m)),
        self_comparison: self_comparison(m),
        multiplicity: Some(Multiplicity {
            tests: m.analysis.comparisons.len() as u32,
            correction: m.experiment.compare.gate.then(|| "Holm".to_owned()),
            headline_is_best: None,
        }),
        stopping: stopping(m),
        exclusions: Some(exclusions(m)),
        suite: suite(m),
        means: means(m),
        percentiles: percentiles(m),
        claim: Known::Absent(none("a run makes no claim")),
        audited: None,
        numbers: Known::Is(numbers(m)),
        metrics: Known::Absent(none("all treatments have the metrics of one workload")),
        denominators: Known::Absent(none("totals are compared")),
        energy: energy(m),
        prices: Known::Absent(none("no price is stated")),
        quotes: Known::Absent(none("no result of others is quoted")),
        disclosures: Known::Absent(none("no benchmark with rules of its own is named")),
        registered: Some(registered(m)),
        repeat: Some(RepeatEvidence {
            raw_data: Some(true),
            scripts: Some(true),
            version: m.ledger.iter().find_map(|e| match &e.event {
                LedgerEvent::Planned { assay, .. } => Some(format!("assay {assay}")),
                _ => None,
            }),
            dirty: dirty(m),
            rerun: None,
        }),
        in_trials: m.records.iter().flat_map(|r| r.findings.iter().cloned()).collect(),
        unseen: unseen(m),
        imported: imported(m),
        several_machines: m.experiment.place.is_remote(),
    }
}

/// The baseline, then the others in the order of the plan.
fn ordered(plan: &Plan) -> impl Iterator<Item = &Treatment> {
    let others = plan.treatments.iter().filter(|t| t.id != plan.baseline);
    plan.treatment(plan.baseline).into_iter().chain(others)
}

/// A treatment's label; the experiment's name where nothing differs.
fn named(m: &RunMaterial<'_>, t: &Treatment) -> String {
    if t.levels.is_empty() { m.experiment.name.clone() } else { t.label() }
}

/// What the treatments of a run have in common, held once however many they are.
struct Shared {
    snapshots: Option<Arc<Snapshots>>,
    /// Settings of the operating system, by what controls set of them.
    os: BTreeMap<BTreeMap<String, String>, Arc<BTreeMap<String, String>>>,
}

impl Shared {
    fn of(m: &RunMaterial<'_>) -> Self {
        let snapshots = m.system.map(|s| Arc::new(snapshots(s, m.records)));
        Shared { snapshots, os: BTreeMap::new() }
    }

    fn os(&mut self, system: &SystemDescription, t: &Treatment) -> Arc<BTreeMap<String, String>> {
        let set = settings(t);
        self.os.entry(set).or_insert_with_key(|set| Arc::new(os(system, set))).clone()
    }
}

fn treatment(m: &RunMaterial<'_>, t: &Treatment, shared: &mut Shared) -> TreatmentEvidence {
    let summary =
        m.analysis.summaries.iter().find(|s| s.treatment == t.id && s.metric == m.analysis.metric);
    let of: Vec<&TrialRecord> =
        m.records.iter().filter(|r| r.treatment == t.id && !r.warmup).collect();
    let counting = of.iter().filter(|r| r.counts()).count() as u32;
    TreatmentEvidence {
        label: named(m, t),
        id: Some(t.id),
        levels: t.levels.iter().map(|(k, v)| (k.clone(), v.to_text())).collect(),
        n: Some(summary.map_or(0, |s| s.summary.n)),
        processes: processes(&of),
        values: summary.map(|s| s.values.iter().copied().flatten().collect()),
        statistic: Some(Statistic::Geomean),
        warmup: Some(match m.experiment.design.all_warmup_blocks() {
            0 => WarmupRule::None,
            blocks => WarmupRule::Fixed(blocks),
        }),
        snapshots: shared.snapshots.clone(),
        cpus: cpus(m, t),
        placement: (!imported(m)).then(|| placement(m.system, &settings(t), &of)),
        pages: m.system.map(|s| pages(m, s, t)),
        os: m.system.map(|s| shared.os(s, t)).filter(|settings| !settings.is_empty()),
        layouts: randomised(m, t).map(|yes| if yes { counting } else { 1 }),
        work: (!imported(m)).then(|| work(m, t)),
        output: Some(output(&of)),
        binary: binary(m, t),
        host: host(m),
        clock: clock(m, t),
        timing: timing(m, &of),
        limiter: limiter(m, t, &of),
        generator: generator(m, t),
        series: series(m, t),
        tuned_on: tuned_on(m, t),
        build: build(m, t),
        ..TreatmentEvidence::default()
    }
}

/// The processes that the counting trials ran in, where their records say that some share one.
fn processes(of: &[&TrialRecord]) -> Option<u32> {
    let counting: Vec<&&TrialRecord> = of.iter().filter(|r| r.counts()).collect();
    let repeats = |r: &&&TrialRecord| {
        r.evidence.iter().any(|o| matches!(o, Observation::Repetition { index } if *index > 0))
    };
    let shared = counting.iter().filter(|r| repeats(r)).count();
    (shared > 0).then(|| (counting.len() - shared) as u32)
}

/// Whether another program ran the trials: which settings and work its names stand for is not known.
fn imported(m: &RunMaterial<'_>) -> bool {
    m.experiment.design.order == Order::Unknown
}

/// The parameters of a treatment, without the folder of its revision: that is where the level is, no setting.
fn params<'t>(
    m: &RunMaterial<'_>,
    t: &'t Treatment,
) -> impl Iterator<Item = (&'t String, &'t Scalar)> {
    let revisions = m.experiment.source.is_some();
    t.params.iter().filter(move |(k, _)| !(revisions && *k == "folder"))
}

fn comparison(m: &RunMaterial<'_>, c: &Comparison) -> ComparisonEvidence {
    let label = m.plan.treatment(c.treatment).map_or_else(String::new, Treatment::label);
    let disputed = c.verdict == Verdict::Inconclusive && c.reason.contains("shape");
    ComparisonEvidence {
        label,
        n: Some(c.n),
        ratio: c.ratio,
        interval: c.interval,
        method: Some(c.method),
        unit: Some(Unit::Trials),
        sensitivity: c.sensitivity,
        detectable: c.detectable,
        margin: c.margin,
        // The experiment's file is in the ledger before the first trial.
        margin_declared_before: c.margin.map(|_| true),
        verdict: Some(c.verdict),
        basis: Some(VerdictBasis::RatioInterval),
        disputed: disputed.then(|| c.reason.clone()),
        median_ratio: None,
    }
}

fn param(t: &Treatment, name: &str) -> Option<String> {
    t.params.get(name).map(Scalar::to_text)
}

/// What was seen in the trials of a treatment; in those of all, where it is of the machine before the run.
fn seen<'a>(m: &'a RunMaterial<'_>, of: Option<u32>) -> impl Iterator<Item = &'a Observation> {
    let mine = move |r: &&TrialRecord| of.is_none_or(|id| r.treatment == id);
    m.records.iter().filter(mine).flat_map(|r| &r.evidence)
}
