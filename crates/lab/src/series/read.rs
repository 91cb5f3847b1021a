//! Reads series from the archive. Each run of a history holds the reference and some revisions in
//! the same blocks. A point is the ratio of a revision to the reference, separately for each class
//! of machine.

use std::collections::{BTreeMap, BTreeSet};

use assay_archive::{Archive, RunReader, Search};
use assay_model::{
    Better, Comparison, Experiment, MetricValue, Plan, RunId, RunState, Scalar, TrialRecord,
    Verdict,
};
use assay_stats::series::{
    BenchmarkGap, Commit, Confirmation, FreshResult, HistoryData, Link, MachineSeries, Ratio,
    ReferencePoints, SeriesPoint, SuiteBenchmark, chain,
};
use assay_workloads::readers::BENCHMARKS;

use super::{confirm_tag, tag};
use crate::pairs::MetricIndex;
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

/// Pairs of one series by reference and revision.
type MeasuredPairs = BTreeMap<(String, String), Pairs>;

/// Everything measured of a history.
#[derive(Default)]
struct Measured {
    /// Pairs by machine and benchmark, which is empty for the history's metric.
    pairs: BTreeMap<(String, String), MeasuredPairs>,
    /// Benchmarks of a suite by name.
    benchmarks: BTreeMap<String, SuiteBenchmark>,
    /// Names of the benchmarks that have values, by machine and revision.
    present: BTreeMap<(String, String), BTreeSet<String>>,
}

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
    let mut all = archive.list(&Search { tag: Some(tag), ..Search::default() })?;
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
/// `reference` (a level). A suite has a series for each benchmark, or only for the metric `picked`.
///
/// # Errors
/// A run cannot be read.
pub fn read(
    archive: &Archive,
    id: &str,
    range: &[Commit],
    reference: &str,
    picked: Option<&str>,
) -> Result<HistoryData, LabError> {
    let mut past = HistoryData::default();
    let mut measured = Measured::default();
    let place = |level: &str| range.iter().position(|r| r.level == level);
    for run in runs(archive, tag(id))? {
        let excluded = run.experiment.design.exclude.iter().filter_map(|p| p.get(REV));
        past.unusable.extend(excluded.filter_map(|l| place(&l.to_text())));
        take(&run, picked, &mut measured, &mut |own| past.unusable.extend(place(own)));
    }
    for run in runs(archive, confirm_tag(id))?.iter().filter(|r| r.state != RunState::Started) {
        past.fresh.extend(fresh(run, picked));
    }
    let mut unlinked = BTreeMap::new();
    for ((machine, benchmark), pairs) in &measured.pairs {
        let points = points(pairs, range, reference, &mut past, &mut unlinked);
        let benchmark = measured.benchmarks.get(benchmark).cloned();
        if !points.is_empty() {
            let machine = machine.clone();
            past.series.push(MachineSeries { machine, benchmark, family: 1, points });
        }
    }
    // A reference that some benchmark links is not missing.
    for reference in past.series.iter().flat_map(|s| &s.points).map(|p| &p.reference) {
        unlinked.remove(reference);
    }
    (past.unlinked, past.notes) = unlinked.into_iter().unzip();
    gaps(&measured, range, reference, picked, &mut past);
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    for series in &past.series {
        *families.entry(series.machine.clone()).or_default() += 1;
    }
    for series in &mut past.series {
        series.family = families[&series.machine];
    }
    past.series.sort_by_key(|s| std::cmp::Reverse(s.points.len()));
    past.unusable.sort_unstable();
    past.unusable.dedup();
    Ok(past)
}

/// Collects the pairs of a run. `failed` is called with each revision that has no pairs although
/// the run is complete.
fn take(run: &OneRun, picked: Option<&str>, measured: &mut Measured, failed: &mut dyn FnMut(&str)) {
    let plan = &run.plan;
    let base = level(plan, plan.baseline);
    let suite: BTreeMap<&str, &MetricValue> =
        benchmarks(run).map(|(_, m)| (m.name.as_str(), m)).collect();
    let wanted = |name: &&str| picked.is_none_or(|p| p == *name);
    let is_suite = plan.metric == BENCHMARKS || suite.contains_key(plan.metric.as_str());
    // The metric of a series, and the name of its benchmark.
    let metrics: Vec<(&str, &str)> = if !is_suite || picked == Some(BENCHMARKS) {
        vec![(picked.unwrap_or(&plan.metric), "")]
    } else {
        suite.keys().copied().filter(wanted).map(|name| (name, name)).collect()
    };
    for (name, m) in suite.into_iter().filter(|_| is_suite) {
        let (name, unit) = (name.to_owned(), m.unit.clone());
        let found = SuiteBenchmark { name: name.clone(), unit, better: m.better };
        measured.benchmarks.entry(name).or_insert(found);
    }
    for (treatment, m) in benchmarks(run).filter(|_| is_suite) {
        let of = (run.machine.clone(), level(plan, treatment));
        measured.present.entry(of).or_default().insert(m.name.clone());
    }
    let index = MetricIndex::new(&run.records);
    for treatment in &plan.treatments {
        let own = level(plan, treatment.id);
        let mut any = false;
        for (metric, benchmark) in &metrics {
            let mut found = Pairs::default();
            let (references, values) = index.pairs(plan.baseline, treatment.id, metric);
            let ln = |v: Option<f64>| v.filter(|v| *v > 0.0 && v.is_finite()).map(f64::ln);
            for (r, v) in references.into_iter().zip(values) {
                if let (Some(r), Some(v)) = (ln(r), ln(v)) {
                    found.log_ratios.push(v - r);
                    found.logs.push(v);
                }
            }
            if found.logs.is_empty() {
                continue;
            }
            any = true;
            let series = (run.machine.clone(), (*benchmark).to_owned());
            let all = measured.pairs.entry(series).or_default();
            let pairs = all.entry((base.clone(), own.clone())).or_default();
            pairs.log_ratios.append(&mut found.log_ratios);
            pairs.logs.append(&mut found.logs);
            pairs.runs.push(run.id.clone());
        }
        if !any && run.state == RunState::Completed {
            failed(&own);
        }
    }
}

/// Returns the values of the benchmarks of a suite, with their treatments.
fn benchmarks(run: &OneRun) -> impl Iterator<Item = (u32, &MetricValue)> {
    let counted = run.records.iter().filter(|r| r.counts());
    let all = counted.flat_map(|r| r.metrics.iter().map(|m| (r.treatment, m)));
    all.filter(|(_, m)| m.benchmark && m.value.is_some())
}

/// Lists the benchmarks that some of the measured revisions lack.
fn gaps(
    measured: &Measured,
    range: &[Commit],
    reference: &str,
    picked: Option<&str>,
    past: &mut HistoryData,
) {
    let mut by_machine: BTreeMap<&str, Vec<(&Commit, &BTreeSet<String>)>> = BTreeMap::new();
    for commit in range {
        for ((machine, _), names) in
            measured.present.iter().filter(|((_, l), _)| *l == commit.level)
        {
            by_machine.entry(machine).or_default().push((commit, names));
        }
    }
    for (machine, revisions) in by_machine {
        let known = measured.present.get(&(machine.to_owned(), reference.to_owned()));
        let wanted = |name: &&String| picked.is_none_or(|p| p == *name);
        for name in measured.benchmarks.keys().filter(wanted) {
            let mut having = revisions.iter().filter(|(_, names)| names.contains(name));
            let Some((first, _)) = having.next() else { continue };
            let in_reference = known.is_some_and(|names| names.contains(name));
            let last = having.next_back().map_or(first, |(last, _)| last);
            let lacks =
                |at: Option<&(_, &BTreeSet<String>)>| at.is_some_and(|(_, n)| !n.contains(name));
            let (new, gone) = (lacks(revisions.first()), lacks(revisions.last()));
            if new || gone || !in_reference {
                past.gaps.push(BenchmarkGap {
                    machine: machine.to_owned(),
                    benchmark: name.clone(),
                    first: first.label.clone(),
                    last: last.label.clone(),
                    new,
                    gone,
                    in_reference,
                });
            }
        }
    }
}

/// Evaluates a run of two revisions that confirms the change between them: of each benchmark of a
/// suite, or of the metric `picked`.
fn fresh(run: &OneRun, picked: Option<&str>) -> Vec<FreshResult> {
    let other = run.plan.treatments.iter().find(|t| t.id != run.plan.baseline);
    // A run without a counted trial confirms nothing.
    let (Some(commit), true) = (other, run.records.iter().any(TrialRecord::counts)) else {
        return Vec::new();
    };
    let analysis = crate::analyse(&RecordedRun {
        experiment: &run.experiment,
        plan: &run.plan,
        records: &run.records,
        system: None,
        ledger: run.reader.ledger(),
    });
    let result = |benchmark: Option<String>, c: Option<&Comparison>| FreshResult {
        run: run.id.clone(),
        machine: run.machine.clone(),
        before: level(&run.plan, run.plan.baseline),
        commit: level(&run.plan, commit.id),
        found: c.and_then(|c| Some(Confirmation { ratio: c.ratio?, interval: c.interval? })),
        established: c.is_none_or(|c| {
            let clear = matches!(c.verdict, Verdict::Better | Verdict::Worse);
            benchmark.is_none() || c.better == Better::Neither || clear
        }),
        benchmark,
    };
    let metric = &run.plan.metric;
    let is_suite = metric == BENCHMARKS || analysis.benchmarks.contains(metric);
    if !is_suite || picked == Some(BENCHMARKS) {
        return vec![result(None, analysis.comparisons.first())];
    }
    let wanted = analysis.family.iter().filter(|c| picked.is_none_or(|p| p == c.metric));
    wanted.map(|c| result(Some(c.metric.clone()), Some(c))).collect()
}

/// Computes the points of a series from its pairs. `unlinked` receives references without a link,
/// with the reason.
fn points(
    measured: &MeasuredPairs,
    range: &[Commit],
    reference: &str,
    past: &mut HistoryData,
    unlinked: &mut BTreeMap<String, String>,
) -> Vec<SeriesPoint> {
    let mut points: Vec<SeriesPoint> = Vec::new();
    let links: Vec<Link> = measured
        .iter()
        .filter(|((old, new), _)| old != new && [old, new].iter().any(|r| *r == reference))
        .map(|((old, new), p)| Link { old: old.clone(), new: new.clone(), ratio: p.ratio() })
        .collect();
    for ((base, own), pairs) in measured {
        let Some(place) = range.iter().position(|r| r.level == *own) else {
            if own != reference && !past.outside.contains(own) {
                past.outside.push(own.clone());
            }
            continue;
        };
        let parts = [
            ReferencePoints { reference: reference.to_owned(), points: Vec::new() },
            ReferencePoints { reference: base.clone(), points: vec![pairs.ratio()] },
        ];
        let ratio = match chain(&parts, &links) {
            Ok(all) => all[0],
            Err(e) => {
                unlinked.insert(base.clone(), e.to_string());
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
        // If a revision was measured against two references, the requested one takes precedence.
        match points.iter_mut().find(|p| p.place == place) {
            Some(old) if base == reference => *old = point,
            Some(_) => {}
            None => points.push(point),
        }
    }
    points.sort_by_key(|p| p.place);
    points
}
