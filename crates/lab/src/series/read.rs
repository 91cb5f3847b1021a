//! Reads series from the archive. Each run of a history holds the reference and some revisions in
//! the same blocks. A point is the ratio of a revision to the reference, separately for each class
//! of machine.

use std::collections::BTreeMap;

use assay_archive::{Archive, Filter, RunReader};
use assay_model::{Experiment, Plan, RunId, RunState, Scalar, TrialRecord};
use assay_stats::series::{
    Commit, Confirmation, FreshResult, HistoryData, Link, MachineSeries, Ratio, ReferencePoints,
    SeriesPoint, chain,
};

use super::{confirm_tag, tag};
use crate::analyse::pairs::pairs;
use crate::{LabError, REV, RecordedRun};

/// Paired measurements of one revision and one reference.
#[derive(Debug, Default)]
struct Pairs {
    log_ratios: Vec<f64>,
    logs: Vec<f64>,
    runs: Vec<RunId>,
}

impl Pairs {
    fn ratio(&self) -> Ratio {
        let n = self.log_ratios.len() as f64;
        let mean = self.log_ratios.iter().sum::<f64>() / n;
        let square: f64 = self.log_ratios.iter().map(|r| (r - mean).powi(2)).sum();
        Ratio { value: mean.exp(), log_error: (n >= 2.0).then(|| (square / (n - 1.0) / n).sqrt()) }
    }
}

/// Pairs by machine, reference and revision.
type MeasuredPairs = BTreeMap<(String, String, String), Pairs>;

/// Parts of a run that are needed here.
struct OneRun {
    id: RunId,
    state: RunState,
    reader: RunReader,
    experiment: Experiment,
    plan: Plan,
    records: Vec<TrialRecord>,
    machine: String,
}

/// Returns the runs with a tag, the oldest first.
fn runs(archive: &Archive, tag: String) -> Result<Vec<OneRun>, LabError> {
    let mut all = archive.list(&Filter { tag: Some(tag), ..Filter::default() })?;
    all.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    let one = |summary: assay_model::RunSummary| -> Result<OneRun, LabError> {
        let reader = archive.run(&summary.id)?;
        let system = reader.system()?;
        let machine = format!("{}, {} CPUs", system.text("cpu.model"), system.text("cpu.threads"));
        Ok(OneRun {
            id: summary.id,
            state: summary.state,
            experiment: crate::read_experiment("experiment.toml", &reader.experiment_toml()?)?,
            plan: reader.plan()?,
            records: reader.records()?,
            reader,
            machine,
        })
    };
    all.into_iter().map(one).collect()
}

fn level(plan: &Plan, id: u32) -> String {
    let of = plan.treatment(id).and_then(|t| t.levels.get(REV));
    of.map(Scalar::to_text).unwrap_or_default()
}

/// Reads all runs of a history. The points are those of the commits in `range`, as ratios to
/// `reference` (a level).
///
/// # Errors
/// A run cannot be read.
pub fn read(
    archive: &Archive,
    id: &str,
    range: &[Commit],
    reference: &str,
) -> Result<HistoryData, LabError> {
    let mut past = HistoryData::default();
    let mut measured: MeasuredPairs = BTreeMap::new();
    let place = |level: &str| range.iter().position(|r| r.level == level);
    for run in runs(archive, tag(id))? {
        let excluded = run.experiment.design.exclude.iter().filter_map(|p| p.get(REV));
        past.unusable.extend(excluded.filter_map(|l| place(&l.to_text())));
        take(&run, &mut measured, &mut |own| past.unusable.extend(place(own)));
    }
    for run in runs(archive, confirm_tag(id))?.iter().filter(|r| r.state != RunState::Started) {
        past.fresh.extend(fresh(run));
    }
    points(&measured, range, reference, &mut past);
    past.unusable.sort_unstable();
    past.unusable.dedup();
    Ok(past)
}

/// Collects the pairs of a run. `failed` is called with each revision that has no pairs although
/// the run is complete.
fn take(run: &OneRun, measured: &mut MeasuredPairs, failed: &mut dyn FnMut(&str)) {
    let plan = &run.plan;
    let base = level(plan, plan.baseline);
    for treatment in &plan.treatments {
        let own = level(plan, treatment.id);
        let mut found = Pairs::default();
        let (references, values) = pairs(&run.records, plan.baseline, treatment.id, &plan.metric);
        let ln = |v: Option<f64>| v.filter(|v| *v > 0.0 && v.is_finite()).map(f64::ln);
        for (r, v) in references.into_iter().zip(values) {
            if let (Some(r), Some(v)) = (ln(r), ln(v)) {
                found.log_ratios.push(v - r);
                found.logs.push(v);
            }
        }
        if found.logs.is_empty() {
            if run.state == RunState::Completed {
                failed(&own);
            }
            continue;
        }
        let pairs = measured.entry((run.machine.clone(), base.clone(), own)).or_default();
        pairs.log_ratios.append(&mut found.log_ratios);
        pairs.logs.append(&mut found.logs);
        pairs.runs.push(run.id.clone());
    }
}

/// Evaluates a run of two revisions that confirms the change between them.
fn fresh(run: &OneRun) -> Option<FreshResult> {
    let commit = run.plan.treatments.iter().find(|t| t.id != run.plan.baseline)?;
    let analysis = crate::analyse(&RecordedRun {
        experiment: &run.experiment,
        plan: &run.plan,
        records: &run.records,
        system: None,
        ledger: run.reader.ledger(),
    });
    // A run without a counted trial confirms nothing.
    run.records.iter().find(|r| r.counts())?;
    let found = analysis.comparisons.first();
    Some(FreshResult {
        run: run.id.clone(),
        machine: run.machine.clone(),
        commit: level(&run.plan, commit.id),
        found: found.and_then(|c| Some(Confirmation { ratio: c.ratio?, interval: c.interval? })),
    })
}

/// Computes the points from the pairs.
fn points(measured: &MeasuredPairs, range: &[Commit], reference: &str, past: &mut HistoryData) {
    let mut by_machine: BTreeMap<String, Vec<SeriesPoint>> = BTreeMap::new();
    for ((machine, base, own), pairs) in measured {
        let Some(place) = range.iter().position(|r| r.level == *own) else {
            if own != reference && !past.outside.contains(own) {
                past.outside.push(own.clone());
            }
            continue;
        };
        let links: Vec<Link> = measured
            .iter()
            .filter(|((m, old, new), _)| m == machine && old != new)
            .map(|((_, old, new), p)| Link { old: old.clone(), new: new.clone(), ratio: p.ratio() })
            .collect();
        let parts = [
            ReferencePoints { reference: reference.to_owned(), points: Vec::new() },
            ReferencePoints { reference: base.clone(), points: vec![pairs.ratio()] },
        ];
        let ratio = match chain(&parts, &links) {
            Ok(all) => all[0],
            Err(e) => {
                if !past.unlinked.contains(base) {
                    past.unlinked.push(base.clone());
                }
                let note = e.to_string();
                if !past.notes.contains(&note) {
                    past.notes.push(note);
                }
                continue;
            }
        };
        let revision = &range[place];
        let point = SeriesPoint {
            place,
            commit: revision.level.clone(),
            label: revision.label.clone(),
            subject: revision.subject.clone(),
            author_date: revision.author_date.clone(),
            ratio: ratio.value,
            log_error: if own == reference { Some(0.0) } else { ratio.log_error },
            value: (pairs.logs.iter().sum::<f64>() / pairs.logs.len() as f64).exp(),
            blocks: pairs.logs.len(),
            reference: base.clone(),
            runs: pairs.runs.clone(),
        };
        let points = by_machine.entry(machine.clone()).or_default();
        // If a revision was measured against two references, the requested one takes precedence.
        match points.iter_mut().find(|p| p.place == place) {
            Some(old) if base == reference => *old = point,
            Some(_) => {}
            None => points.push(point),
        }
    }
    for (machine, mut points) in by_machine {
        points.sort_by_key(|p| p.place);
        past.series.push(MachineSeries { machine, points });
    }
    past.series.sort_by_key(|s| std::cmp::Reverse(s.points.len()));
}
