//! Compares runs with each other: the same treatments across runs, and the other differences
//! between the runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_checks::{
    Evidence, MetricIdentity, RecordedValue, Schedule, Scheduled, TreatmentEvidence, Work, judge,
    rows,
};
use assay_model::environment::{AcceptError, DifferenceClass, EnvDiff, diff};
use assay_model::{
    Across, AcrossRow, Analysis, Better, CheckRow, Comparison, Difference, Experiment, Fact,
    Finding, Guest, MetricKind, Percentile, Plan, RunId, Severity, SystemDescription, Treatment,
    TreatmentSummary, TrialRecord, Verdict,
};
use assay_stats::{CompareInput, Samples, compare, summarize};

mod drift;
mod program;

use crate::pairs::{pairs, values};
use program::{in_facts, levels, unlike};

/// One of the runs to compare.
#[derive(Debug)]
pub struct ComparedRun<'a> {
    pub id: &'a RunId,
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    pub records: &'a [TrialRecord],
    /// System description of the run.
    pub system: &'a SystemDescription,
    pub analysis: &'a Analysis,
}

/// The user's declarations about the differences between runs.
#[derive(Debug, Clone, Default)]
pub struct DeclaredDifferences {
    /// Paths of facts that are meant to differ.
    pub factors: Vec<String>,
    /// Soft differences that the user accepts, as pairs of path and reason.
    pub accepted: Vec<(String, String)>,
    /// For each run, the index of the first run of its side; the runs of a side repeat each other.
    /// Empty if each run is a side of its own.
    pub sides: Vec<usize>,
    /// Label of a treatment that is the same in all runs. Values are taken relative to it, block by
    /// block, which removes the drift between the runs.
    pub reference: Option<String>,
}

/// Compares runs in one metric, with the first run as the baseline. Treatments are matched by all
/// of their levels; runs of one treatment each are matched with each other.
///
/// A verdict needs an estimate of the drift between the runs. If each side has three or more runs,
/// the means of the runs are compared (Welch's interval), or all their trials if that interval is
/// wider; the result is at the first run of the second side. If there is a reference treatment, the
/// trials are compared relative to it. Otherwise the ratio has neither an interval nor a verdict.
/// If an undeclared hard difference separates a run from the first, or if a run is invalid on its
/// own, the verdict is invalid and the ratio is withheld.
///
/// # Errors
/// An accepted difference is hard, has no reason or does not exist, or a run lacks the reference
/// treatment.
pub fn across(
    sides: &[ComparedRun<'_>],
    metric: &str,
    margin: Option<f64>,
    declared: &DeclaredDifferences,
) -> Result<Across, AcrossError> {
    let first = &sides[0];
    let named = first.analysis.summaries.iter().find(|s| s.metric == metric);
    let (unit, better) =
        named.map_or((String::new(), Better::Neither), |s| (s.unit.clone(), s.better));
    let diffs = environments(sides, declared)?;
    let mut found = findings(sides, &diffs, declared);
    let groups = if declared.sides.len() == sides.len() {
        declared.sides.clone()
    } else {
        (0..sides.len()).collect()
    };
    for (i, found) in found.iter_mut().enumerate() {
        let run = i + 1;
        // Similarities between the first run and a repetition of it are not findings.
        if groups[run] == groups[0] {
            found.clear();
        }
        if groups[run] != run || repeated(&groups, run) && in_turns(sides, &groups, run) {
            found.retain(|f| f.id != rows::INTERLEAVED.id);
        }
    }
    let mut rows = rows(sides, metric, &unit, better, margin, &groups, declared)?;
    let reasons: Vec<Option<String>> = (0..sides.len())
        .map(|i| {
            let repeats = || drift::not_repeated(&sides[groups[i]], &sides[i], declared);
            if groups[i] == groups[0] {
                return repeats();
            }
            let (side, diff, found) = (&sides[i], &diffs[i - 1], &found[i - 1]);
            repeats()
                .or_else(|| hard(diff))
                .or_else(|| unlike(first, side, declared))
                .or_else(|| computed_in_one(first, side, metric))
                .or_else(|| invalid(found))
        })
        .collect();
    let single = sides.iter().all(|s| s.plan.treatments.len() == 1);
    let mut own: Vec<Finding> = Vec::new();
    for row in &mut rows {
        for (i, comparison) in row.comparisons.iter_mut().enumerate() {
            let same_side = |j: &usize| groups[*j] == groups[i] || groups[*j] == groups[0];
            let compared: Vec<usize> = (0..sides.len()).filter(same_side).collect();
            let by_itself = compared.iter().filter_map(|j| {
                let fits = |t: &&Treatment| single || t.key() == row.key;
                let treatment = sides[*j].plan.treatments.iter().find(fits)?.id;
                invalid_by_itself(&sides[*j], treatment, repeated(&groups, i))
            });
            let by_itself: Vec<Finding> =
                if comparison.is_some() { by_itself.collect() } else { Vec::new() };
            let reason = compared.iter().find_map(|j| reasons[*j].clone());
            let reason = reason.or_else(|| invalid(&by_itself));
            if let (Some(comparison), Some(reason)) = (comparison, reason) {
                withhold(comparison, &reason);
            }
            own.extend(by_itself);
        }
    }
    found.push(own);
    let mut findings: Vec<Finding> = Vec::new();
    for f in found.into_iter().flatten() {
        if !findings.contains(&f) {
            findings.push(f);
        }
    }
    if rows.iter().all(|r| r.comparisons.iter().flatten().count() == 0) {
        let metrics = sides.iter().map(|s| identity(s, metric)).collect();
        let evidence = Evidence { metrics: RecordedValue::Is(metrics), ..Evidence::default() };
        findings.extend(judge(&rows::SAME_METRIC, &evidence));
    }
    Ok(Across {
        runs: sides.iter().map(|s| s.id.clone()).collect(),
        metric: metric.to_owned(),
        unit,
        better,
        compared: compared(&diffs, declared),
        guests: guests(sides),
        floors: sides.iter().map(|s| s.analysis.floor.clone()).collect(),
        rows,
        differences: differences(sides, &diffs),
        findings,
    })
}

fn guests(sides: &[ComparedRun<'_>]) -> Vec<Option<Guest>> {
    let all: Vec<_> = sides.iter().map(|s| s.analysis.guest).collect();
    if all.iter().all(Option::is_none) { Vec::new() } else { all }
}

/// Compares the runs in every metric of the block I/O tracer that the first run has. Empty if that
/// run was not traced.
///
/// # Errors
/// The same errors as [`across`].
pub fn across_io(
    sides: &[ComparedRun<'_>],
    declared: &DeclaredDifferences,
) -> Result<Vec<Across>, AcrossError> {
    let mut metrics: Vec<&str> = Vec::new();
    for s in &sides[0].analysis.summaries {
        if s.metric.starts_with("io.") && !metrics.contains(&s.metric.as_str()) {
            metrics.push(&s.metric);
        }
    }
    metrics.into_iter().map(|m| across(sides, m, None, declared)).collect()
}

/// Compares the system of each later run with that of the first.
fn environments(
    sides: &[ComparedRun<'_>],
    declared: &DeclaredDifferences,
) -> Result<Vec<EnvDiff>, AcceptError> {
    let factors = in_facts(&declared.factors);
    let mut diffs: Vec<EnvDiff> =
        sides[1..].iter().map(|s| diff(sides[0].system, s.system, &factors)).collect();
    for (diff, side) in diffs.iter_mut().zip(&sides[1..]) {
        // A parameter, a setting or the program has an effect if its levels differ, whatever the
        // facts say.
        let levels = [levels(&sides[0]), levels(side)];
        diff.factors_without_effect
            .retain(|f| *f != "used" && levels.iter().all(|l| !l.contains_key(f)));
    }
    for (path, reason) in &declared.accepted {
        let mut last = Err(AcceptError::NoSuchDifference(path.clone()));
        let mut accepted = false;
        for diff in &mut diffs {
            match diff.accept(path, reason) {
                Ok(()) => accepted = true,
                // An accepted difference need not occur in every run.
                Err(e @ AcceptError::NoSuchDifference(_)) => last = Err(e),
                Err(e) => return Err(e),
            }
        }
        if !accepted {
            last?;
        }
    }
    Ok(diffs)
}

fn compared(diffs: &[EnvDiff], declared: &DeclaredDifferences) -> String {
    if diffs.iter().any(|d| d.system_against_system) {
        "system against system".to_owned()
    } else {
        declared.factors.join(", ")
    }
}

/// Reason why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcrossError {
    /// The user accepted a difference that cannot be accepted.
    #[error("--accept: {0}")]
    Accept(#[from] AcceptError),
    /// A run lacks the reference treatment.
    #[error("--reference {reference}: run {run} has no such treatment; it has {labels}")]
    Reference {
        /// Label of the reference treatment.
        reference: String,
        run: RunId,
        /// Labels of the treatments of the run.
        labels: String,
    },
}

/// Returns true if `run` and the first run are both repeated often enough to compare the means of
/// their runs.
fn repeated(groups: &[usize], run: usize) -> bool {
    let many = |i: usize| groups.iter().filter(|g| **g == groups[i]).count();
    groups[0] != groups[run] && many(0).min(many(run)) >= drift::LEAST
}

/// Returns true if the runs of the first side and of `run`'s side were made in turns, not one side
/// after the other.
fn in_turns(sides: &[ComparedRun<'_>], groups: &[usize], run: usize) -> bool {
    let of = |i: &usize| groups[*i] == groups[0] || groups[*i] == groups[run];
    let mut all: Vec<usize> = (0..sides.len()).filter(of).collect();
    all.sort_by_key(|i| sides[*i].id);
    all.windows(2).filter(|pair| groups[pair[0]] != groups[pair[1]]).count() > 1
}

/// Returns a finding that makes a treatment of a run invalid on its own. If each run is one value,
/// it is allowed to be a single process.
fn invalid_by_itself(side: &ComparedRun<'_>, treatment: u32, repeated: bool) -> Option<Finding> {
    let about = |f: &&Finding| f.treatments.is_empty() || f.treatments.contains(&treatment);
    let one_process = |f: &&Finding| repeated && f.id == rows::UNIT_OF_REPLICATION.id;
    let mut found = side.analysis.findings.iter().filter(|f| about(f) && !one_process(f));
    let mut first = found.find(|f| f.severity == Severity::Invalid)?.clone();
    first.message = format!("run {}: {}", side.id, first.message);
    first.treatments.clear();
    Some(first)
}

/// Turns the first invalid finding into a reason not to compare.
fn invalid(found: &[Finding]) -> Option<String> {
    let first = found.iter().find(|f| f.severity == Severity::Invalid)?;
    Some(format!("{} {}: {}", first.id, first.name, first.message))
}

/// Removes the numbers from a comparison that is not valid.
fn withhold(c: &mut Comparison, reason: &str) {
    c.verdict = Verdict::Invalid;
    c.reason = format!("not a comparison: {reason}");
    (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
}

/// Describes the hard differences as a reason not to compare.
fn hard(diff: &EnvDiff) -> Option<String> {
    let first = diff.hard().next()?;
    let more = match diff.hard().count() - 1 {
        0 => String::new(),
        more => format!(", and {more} more facts differ"),
    };
    Some(format!(
        "{} differs ({} and {}){more}",
        first.path,
        in_words(first.a.as_ref()),
        in_words(first.b.as_ref())
    ))
}

/// Returns a reason not to compare if one run measured the metric and the other computed it.
/// Earlier versions subtracted a shell's start-up time from `elapsed`, which made it derived.
fn computed_in_one(a: &ComparedRun<'_>, b: &ComparedRun<'_>, metric: &str) -> Option<String> {
    let kind = |side: &ComparedRun<'_>| {
        let counting = side.records.iter().filter(|r| r.counts());
        counting.flat_map(|r| &r.metrics).find(|m| m.name == metric).map(|m| m.kind)
    };
    let (measured, derived) = match (kind(a)?, kind(b)?) {
        (MetricKind::Measured, MetricKind::Derived) => (a, b),
        (MetricKind::Derived, MetricKind::Measured) => (b, a),
        _ => return None,
    };
    Some(format!("`{metric}` was measured in {} and computed in {}", measured.id, derived.id))
}

/// Describes the metric of a run that would be compared: `metric` if the run has it, else the
/// metric that decides in the run.
fn identity(side: &ComparedRun<'_>, metric: &str) -> MetricIdentity {
    let all = &side.analysis.summaries;
    let has = |name: &str| all.iter().find(|s| s.metric == name && s.centre().is_some());
    let found = has(metric).or_else(|| has(&side.analysis.metric));
    let labels: Vec<String> = side.plan.treatments.iter().map(Treatment::key).collect();
    MetricIdentity {
        label: side.id.to_string(),
        metric: found.map(|s| s.metric.clone()),
        unit: found.map(|s| s.unit.clone()),
        // Treatments are compared with treatments of the same levels.
        category: if labels.len() > 1 {
            [("the treatments".to_owned(), labels.join("; "))].into()
        } else {
            BTreeMap::new()
        },
        ..MetricIdentity::default()
    }
}

/// Returns the values of a treatment in each run, relative to the reference in the same block if
/// there is a reference.
fn in_each(
    sides: &[ComparedRun<'_>],
    treatment: &[Option<u32>],
    metric: &str,
    reference: Option<&[u32]>,
) -> Vec<Option<Vec<Option<f64>>>> {
    let of = |(i, side): (usize, &ComparedRun<'_>)| {
        let id = treatment[i]?;
        let found = match reference {
            None => values(side.records, id, metric),
            Some(reference) => {
                let (base, own) = pairs(side.records, reference[i], id, metric);
                let relative =
                    |(b, v): (&Option<f64>, &Option<f64>)| Some((*v)? / b.filter(|b| *b > 0.0)?);
                base.iter().zip(&own).map(relative).collect()
            }
        };
        (found.iter().flatten().count() > 0).then_some(found)
    };
    sides.iter().enumerate().map(of).collect()
}

/// Finds the reference treatment in each run.
fn references(
    sides: &[ComparedRun<'_>],
    declared: &DeclaredDifferences,
) -> Result<Option<Vec<u32>>, AcrossError> {
    let Some(reference) = &declared.reference else { return Ok(None) };
    let in_run = |side: &ComparedRun<'_>| {
        let all = &side.plan.treatments;
        let level = format!("={reference}");
        let is = |t: &&Treatment| t.label() == *reference || t.label().ends_with(&level);
        let found = all.iter().find(is).map(|t| t.id);
        found.ok_or_else(|| AcrossError::Reference {
            reference: reference.clone(),
            run: side.id.clone(),
            labels: all.iter().map(Treatment::label).collect::<Vec<_>>().join(", "),
        })
    };
    sides.iter().map(in_run).collect::<Result<Vec<u32>, _>>().map(Some)
}

fn rows(
    sides: &[ComparedRun<'_>],
    metric: &str,
    unit: &str,
    better: Better,
    margin: Option<f64>,
    groups: &[usize],
    declared: &DeclaredDifferences,
) -> Result<Vec<AcrossRow>, AcrossError> {
    let references = references(sides, declared)?;
    let single = sides.iter().all(|s| s.plan.treatments.len() == 1);
    let mut treatments: Vec<&Treatment> = Vec::new();
    for treatment in sides.iter().flat_map(|s| &s.plan.treatments) {
        if !treatments.iter().any(|t| t.levels == treatment.levels) {
            treatments.push(treatment);
        }
    }
    if single {
        treatments.truncate(1);
    }
    let mut found = sides.iter().flat_map(|s| &s.analysis.findings);
    let one_process = found.any(|f| f.id == rows::UNIT_OF_REPLICATION.id);
    let row = |treatment: &Treatment| {
        let in_run = |side: &ComparedRun<'_>| {
            let fits = |t: &&Treatment| single || t.levels == treatment.levels;
            side.plan.treatments.iter().find(fits).map(|t| t.id)
        };
        let ids: Vec<Option<u32>> = sides.iter().map(in_run).collect();
        let each = in_each(sides, &ids, metric, None);
        let summaries = each
            .iter()
            .zip(sides)
            .map(|(values, side)| {
                let present: Vec<f64> = values.as_ref()?.iter().copied().flatten().collect();
                Some(summarize(&present, side.analysis.confidence))
            })
            .collect();
        let relative = references.as_deref().filter(|r| ids[0] != Some(r[0]));
        let judged =
            relative.map_or_else(|| each.clone(), |r| in_each(sides, &ids, metric, Some(r)));
        let members = |group: usize| {
            (0..sides.len()).filter(move |i| groups[*i] == group).map(|i| judged[i].as_deref())
        };
        let means = |group: usize| -> Vec<Option<f64>> {
            members(group).map(|values| drift::of_run(values?)).collect()
        };
        let trials = |group: usize| members(group).flatten().flatten().copied().collect::<Vec<_>>();
        let against_first = |i: usize| {
            let (baseline, treatment) = (judged[0].as_ref()?, judged[i].as_ref()?);
            let repeated = repeated(groups, i);
            if groups[i] == groups[0] || repeated && groups[i] != i {
                return None;
            }
            let by = |baseline: &[Option<f64>], treatment: &[Option<f64>]| {
                compare(&CompareInput {
                    metric,
                    unit,
                    better,
                    baseline: 0,
                    treatment: i as u32,
                    samples: Samples::Independent { baseline, treatment },
                    confidence: sides[0].analysis.confidence,
                    margin,
                    gate: false,
                })
            };
            if repeated {
                // Three means can agree by chance better than their trials allow. Repetitions in
                // one process are no trials.
                let width = |c: &Comparison| c.interval.map_or(f64::INFINITY, |i| i.high - i.low);
                let (of_means, of_trials) = (by(&means(0), &means(i)), by(&trials(0), &trials(i)));
                let wider = !one_process && width(&of_trials) > width(&of_means);
                let mut c = if wider { of_trials } else { of_means };
                let (a, b) = (members(0).count(), members(i).count());
                c.reason = format!("{}; of {a} runs and {b}", c.reason);
                return Some(c);
            }
            let mut c = by(baseline, treatment);
            if let Some(reference) = declared.reference.as_ref().filter(|_| relative.is_some()) {
                c.reason = format!("{}; relative to {reference}", c.reason);
            } else {
                let remedy = drift::remedy(&sides[0], &sides[i]);
                drift::not_established(&mut c, &remedy);
            }
            Some(c)
        };
        AcrossRow {
            label: treatment.label(),
            key: treatment.key(),
            summaries,
            percentiles: percentiles(sides, &ids, metric),
            comparisons: (0..sides.len()).map(against_first).collect(),
            doubts: doubts(sides, &ids, metric),
        }
    };
    Ok(treatments.into_iter().map(row).collect())
}

/// Returns the merged percentile of a treatment in each run; empty if the metric is not a
/// percentile.
fn percentiles(
    sides: &[ComparedRun<'_>],
    ids: &[Option<u32>],
    metric: &str,
) -> Vec<Option<Percentile>> {
    let of = |(side, id): (_, &Option<u32>)| {
        summary(side, *id, metric).and_then(|s| s.percentile.clone())
    };
    let all: Vec<Option<Percentile>> = sides.iter().zip(ids).map(of).collect();
    if all.iter().all(Option::is_none) { Vec::new() } else { all }
}

/// Returns the doubts about the value in each run; empty if no run has any.
fn doubts(sides: &[ComparedRun<'_>], ids: &[Option<u32>], metric: &str) -> Vec<Vec<String>> {
    let of = |(side, id): (_, &Option<u32>)| {
        summary(side, *id, metric).map_or_else(Vec::new, |s| s.doubts.clone())
    };
    let all: Vec<Vec<String>> = sides.iter().zip(ids).map(of).collect();
    if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
}

/// Finds the summary of a treatment in one run.
fn summary<'a>(
    side: &'a ComparedRun<'_>,
    id: Option<u32>,
    metric: &str,
) -> Option<&'a TreatmentSummary> {
    let id = id?;
    side.analysis.summaries.iter().find(|s| s.metric == metric && s.treatment == id)
}

fn differences(sides: &[ComparedRun<'_>], diffs: &[EnvDiff]) -> Vec<Difference> {
    let mut found: Vec<(DifferenceClass, Difference)> = Vec::new();
    for (side, diff) in sides[1..].iter().zip(diffs) {
        for d in &diff.differences {
            // A fact that is unknown in both systems is not an observed difference.
            let known = |f: &Option<Fact>| f.as_ref().is_some_and(|f| f.value().is_some());
            if d.class == DifferenceClass::Volatile || !(known(&d.a) || known(&d.b)) {
                continue;
            }
            if found.iter().any(|(_, f)| f.path == d.path) {
                continue;
            }
            let difference = Difference {
                a: in_words(d.a.as_ref()),
                b: in_words(d.b.as_ref()),
                class: d.class.name().to_owned(),
                reason: d.reason.clone(),
                accepted: d.accepted.clone(),
                run: side.id.clone(),
                path: d.path.clone(),
            };
            found.push((d.class, difference));
        }
    }
    // The classes are ordered from the most serious to the least serious.
    found.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
    found.into_iter().map(|(_, d)| d).collect()
}

fn in_words(fact: Option<&Fact>) -> String {
    match fact {
        None => "not recorded".to_owned(),
        Some(Fact::Known { value }) => value.clone(),
        Some(Fact::Unknown { unknown }) => format!("unknown: {unknown}"),
    }
}

/// The checks that concern differences between two sides.
const BETWEEN: [&CheckRow; 5] = [
    &rows::FACTOR_DECLARED,
    &rows::CONFOUNDER,
    &rows::OS_TUNABLES,
    &rows::SAME_WORK,
    &rows::INTERLEAVED,
];

/// Evaluates the checks of the catalogue that concern the differences between the sides:
/// environment, work, schedule and metric.
fn findings(
    sides: &[ComparedRun<'_>],
    diffs: &[EnvDiff],
    declared: &DeclaredDifferences,
) -> Vec<Vec<Finding>> {
    let of = |(side, diff): (&ComparedRun<'_>, &EnvDiff)| {
        let evidence = between(&sides[0], side, diff, declared);
        let checks = BETWEEN.iter().filter_map(|row| assay_checks::find(row.id));
        let mut found: Vec<Finding> = checks.flat_map(|check| check.findings(&evidence)).collect();
        for f in found.iter_mut().filter(|f| f.id == rows::CONFOUNDER.id) {
            let factors = in_facts(&declared.factors);
            let more = diff.remedy(sides[0].system, side.system, &factors);
            f.remedy = format!(
                "if that is meant or does not matter: `{}{more}`",
                command(sides, declared)
            );
        }
        for f in found.iter_mut().filter(|f| f.id == rows::INTERLEAVED.id) {
            f.remedy = drift::remedy(&sides[0], side);
        }
        found
    };
    sides[1..].iter().zip(diffs).map(of).collect()
}

/// Returns the command line that compares these runs.
fn command(sides: &[ComparedRun<'_>], declared: &DeclaredDifferences) -> String {
    let ids = sides.iter().map(|s| format!(" {}", s.id));
    let factors = declared.factors.iter().map(|f| format!(" --factor {f}"));
    let accepted = declared.accepted.iter().map(|(path, why)| format!(" --accept '{path}={why}'"));
    ids.chain(factors).chain(accepted).fold("assay compare".to_owned(), |all, one| all + &one)
}

/// Presents two runs as two treatments, one after the other.
fn between(
    a: &ComparedRun<'_>,
    b: &ComparedRun<'_>,
    diff: &EnvDiff,
    declared: &DeclaredDifferences,
) -> Evidence {
    let treatment = |side: &ComparedRun<'_>| TreatmentEvidence {
        label: side.id.to_string(),
        levels: levels(side),
        os: Some(Arc::new(controls(side))),
        work: Some(Work {
            input: Some(side.experiment.workload.clone()),
            parameters: params(side),
            ..Work::default()
        }),
        ..TreatmentEvidence::default()
    };
    let trials = |treatment: usize, side: &ComparedRun<'_>| -> Vec<Scheduled> {
        let counting = side.records.iter().filter(|r| r.counts());
        // Clocks of different boots cannot be compared, but the order of the runs' ids can.
        let offset = treatment as f64 * 1e12;
        counting
            .map(|r| Scheduled {
                treatment,
                start_s: offset + r.start_ns as f64 / 1e9,
                end_s: offset + r.end_ns as f64 / 1e9,
                // The drift within a run does not show the drift between runs.
                value: None,
            })
            .collect()
    };
    // If the programs differ and no factor is declared, nobody asked for this difference: the list
    // of factors is then known to be empty.
    let unasked = unlike(a, b, declared).is_some() && declared.factors.is_empty();
    Evidence {
        treatments: vec![treatment(a), treatment(b)],
        factors: (unasked || !declared.factors.is_empty()).then(|| declared.factors.clone()),
        environment: RecordedValue::Is(diff.clone()),
        schedule: Some(Schedule {
            trials: trials(0, a).into_iter().chain(trials(1, b)).collect(),
            order: None,
        }),
        ..Evidence::default()
    }
}

/// Returns the settings that the run's controls make for all treatments. The system descriptions
/// lack these, because they are made before anything is set.
fn controls(side: &ComparedRun<'_>) -> BTreeMap<String, String> {
    side.experiment.controls.iter().map(|(k, v)| (k.clone(), v.to_text())).collect()
}

fn params(side: &ComparedRun<'_>) -> BTreeMap<String, String> {
    side.experiment.params.iter().map(|(k, v)| (k.clone(), v.to_text())).collect()
}

/// Returns true if any treatment is worse than in the first run.
pub fn any_worse(across: &Across) -> bool {
    let mut all = across.rows.iter().flat_map(|r| r.comparisons.iter().flatten());
    all.any(|c| c.verdict == Verdict::Worse)
}
