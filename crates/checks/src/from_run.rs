//! Builds evidence from an archived run. Fields that the archive does not hold stay unrecorded.

mod build;
mod design;
mod material;
mod placement;
mod system;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_model::environment::EnvDiff;
use assay_model::{
    Comparison, LedgerEvent, Observation, SystemDescription, Treatment, TrialRecord, Verdict,
};

use crate::{
    ComparisonEvidence, Evidence, FirstTrial, Multiplicity, RecordedValue, RepeatEvidence,
    Snapshots, Statistic, TreatmentEvidence, Unit,
};
use build::{build, tuned_on};
use design::{
    dirty, energy, exclusions, means, numbers, registered, schedule, self_comparison, stopping,
    suite,
};
pub use material::RunMaterial;
use material::{baseline_first, imported, treatment_label};
use placement::placement;
use system::{binary, clock, cpus, host, os, pages, randomised, settings, snapshots, unobserved};
use work::{generator, limiter, output, percentiles, series, timing, work};

/// Builds the evidence of a run by itself. A run makes no claim.
pub fn from_run(m: &RunMaterial<'_>) -> Evidence {
    let none = |why: &str| why.to_owned();
    let compared = m.plan.treatments.len() > 1;
    let mut shared = SharedEvidence::from_material(m);
    Evidence {
        treatments: baseline_first(m.plan).map(|t| treatment(m, t, &mut shared)).collect(),
        factors: Some(m.plan.factors.clone()),
        environment: match (compared, m.system) {
            (false, _) => RecordedValue::Absent(none("nothing is compared")),
            // All trials ran on one machine in one boot, and the controls that differ are factors.
            (true, Some(_)) if !imported(m) => RecordedValue::Is(EnvDiff::default()),
            // The files of another program do not say on which machines it ran its treatments.
            (true, _) => RecordedValue::NotRecorded,
        },
        comparisons: if compared {
            RecordedValue::Is(m.analysis.comparisons.iter().map(|c| comparison(m, c)).collect())
        } else {
            RecordedValue::Absent(none("nothing is compared"))
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
        claim: RecordedValue::Absent(none("a run makes no claim")),
        audited: None,
        numbers: RecordedValue::Is(numbers(m)),
        metrics: RecordedValue::Absent(none("all treatments have the metrics of one workload")),
        denominators: RecordedValue::Absent(none("totals are compared")),
        energy: energy(m),
        prices: RecordedValue::Absent(none("no price is stated")),
        quotes: RecordedValue::Absent(none("no result of others is quoted")),
        disclosures: RecordedValue::Absent(none("no benchmark with rules of its own is named")),
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
        unobserved: unobserved(m),
        imported: imported(m),
        several_machines: m.experiment.place.is_remote(),
    }
}

/// Evidence that all treatments of a run share; held once.
struct SharedEvidence {
    snapshots: Option<Arc<Snapshots>>,
    /// Operating-system settings, keyed by the controls that set them.
    os: BTreeMap<BTreeMap<String, String>, Arc<BTreeMap<String, String>>>,
}

impl SharedEvidence {
    fn from_material(m: &RunMaterial<'_>) -> Self {
        let snapshots = m.system.map(|s| Arc::new(snapshots(s, m.records)));
        SharedEvidence { snapshots, os: BTreeMap::new() }
    }

    fn os(&mut self, system: &SystemDescription, t: &Treatment) -> Arc<BTreeMap<String, String>> {
        let set = settings(t);
        self.os.entry(set).or_insert_with_key(|set| Arc::new(os(system, set))).clone()
    }
}

fn treatment(m: &RunMaterial<'_>, t: &Treatment, shared: &mut SharedEvidence) -> TreatmentEvidence {
    let summary =
        m.analysis.summaries.iter().find(|s| s.treatment == t.id && s.metric == m.analysis.metric);
    let of: Vec<&TrialRecord> =
        m.records.iter().filter(|r| r.treatment == t.id && !r.warmup).collect();
    let counting = of.iter().filter(|r| r.counts()).count() as u32;
    TreatmentEvidence {
        label: treatment_label(m, t),
        id: Some(t.id),
        levels: t.levels.iter().map(|(k, v)| (k.clone(), v.to_text())).collect(),
        n: Some(summary.map_or(0, |s| s.summary.n)),
        processes: processes(&of),
        values: summary.map(|s| s.values.iter().copied().flatten().collect()),
        statistic: Some(Statistic::Geomean),
        warmup: Some(m.experiment.design.all_warmup_blocks()),
        snapshots: shared.snapshots.clone(),
        cpus: cpus(m, t),
        placement: (!imported(m)).then(|| placement(m.system, &settings(t), &of)),
        pages: m.system.map(|s| pages(m, s, t)),
        os: m.system.map(|s| shared.os(s, t)).filter(|settings| !settings.is_empty()),
        first: first(m, t),
        layouts: randomised(m, t)
            .map(|yes| if yes { builds(m, t).unwrap_or(counting).min(counting) } else { 1 }),
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

fn first(m: &RunMaterial<'_>, t: &Treatment) -> Option<FirstTrial> {
    let record = m.records.iter().filter(|r| r.treatment == t.id).min_by_key(|r| r.number)?;
    let wrote = record.evidence.iter().find_map(|seen| match seen {
        Observation::FolderWritten { files } => Some(files.clone()),
        _ => None,
    });
    Some(FirstTrial {
        value: record.metric(&m.analysis.metric),
        warmup: record.warmup,
        wrote: wrote.unwrap_or_default(),
    })
}

/// Returns the number of builds behind a treatment's layouts: the builds of its revision, if it is
/// built from source.
fn builds(m: &RunMaterial<'_>, t: &Treatment) -> Option<u32> {
    let source = m.experiment.source.as_ref().filter(|s| !s.build.is_empty())?;
    t.levels.contains_key("rev").then_some(source.builds.unwrap_or(1))
}

/// Returns the number of processes behind the counting trials, or `None` if no record says that
/// trials share one.
fn processes(of: &[&TrialRecord]) -> Option<u32> {
    let counting: Vec<&&TrialRecord> = of.iter().filter(|r| r.counts()).collect();
    let repeats = |r: &&&TrialRecord| {
        r.evidence.iter().any(|o| matches!(o, Observation::Repetition { index } if *index > 0))
    };
    let shared = counting.iter().filter(|r| repeats(r)).count();
    (shared > 0).then(|| (counting.len() - shared) as u32)
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
        verdict: Some(c.verdict),
        disputed: disputed.then(|| c.reason.clone()),
        median_ratio: None,
    }
}
