//! Compares runs with each other: the same treatments across runs, and what else differed.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_checks::{
    Evidence, Known, MetricIdentity, Schedule, Scheduled, TreatmentEvidence, Work, judge, rows,
};
use assay_environment::{AcceptError, DifferenceClass, EnvDiff, diff};
use assay_model::{
    Across, AcrossRow, Analysis, Better, Comparison, Difference, Experiment, Fact, Finding, Guest,
    Kind, Percentile, Plan, Row, RunId, Severity, SystemDescription, Treatment, TreatmentSummary,
    TrialRecord, Verdict,
};
use assay_stats::{CompareInput, Samples, compare, summarize};

mod drift;
mod program;

use crate::analyse::pairs::{pairs, values};
use program::{in_facts, levels, unlike};

/// One run to compare.
#[derive(Debug)]
pub struct Side<'a> {
    /// The run.
    pub id: &'a RunId,
    /// Its experiment.
    pub experiment: &'a Experiment,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its records.
    pub records: &'a [TrialRecord],
    /// Its system.
    pub system: &'a SystemDescription,
    /// Its analysis.
    pub analysis: &'a Analysis,
}

/// What a person says about the differences between runs.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    /// Paths of facts that are meant to differ.
    pub factors: Vec<String>,
    /// Soft differences that are accepted: path and reason.
    pub accepted: Vec<(String, String)>,
    /// For each run the first of its side: runs that repeat each other. Empty: each run is a side of its own.
    pub sides: Vec<usize>,
    /// A treatment of all the runs, by its label, that stays the same: values are taken relative to it, block by
    /// block, which takes the drift between the runs out.
    pub reference: Option<String>,
}

/// Lays runs side by side in one metric; the first is the baseline. Treatments are matched by their
/// levels in full; runs of one treatment each are matched with each other. A verdict needs the drift between runs:
/// of sides with three runs or more the runs' means are compared (Welch's interval), at the first run of the second
/// side; with a reference treatment the trials are, relative to it. Else the ratio has neither
/// interval nor verdict. Where a hard difference that is not declared stands between a run and the first, or a run
/// is invalid by itself, there is no comparison: the verdict is invalid and the ratio withheld.
///
/// # Errors
/// A difference is accepted that is hard, that has no reason, or that is not there; a run lacks the reference.
pub fn across(
    sides: &[Side<'_>],
    metric: &str,
    margin: Option<f64>,
    declared: &Declared,
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
        // What a repetition of the first has in common with it is no finding.
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
        let evidence = Evidence { metrics: Known::Is(metrics), ..Evidence::default() };
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

fn guests(sides: &[Side<'_>]) -> Vec<Option<Guest>> {
    let all: Vec<_> = sides.iter().map(|s| s.analysis.guest).collect();
    if all.iter().all(Option::is_none) { Vec::new() } else { all }
}

/// The same in every metric of the tracer of block I/O that the first run has; nothing where it was not traced.
///
/// # Errors
/// As [`across`].
pub fn across_io(sides: &[Side<'_>], declared: &Declared) -> Result<Vec<Across>, AcrossError> {
    let mut metrics: Vec<&str> = Vec::new();
    for s in &sides[0].analysis.summaries {
        if s.metric.starts_with("io.") && !metrics.contains(&s.metric.as_str()) {
            metrics.push(&s.metric);
        }
    }
    metrics.into_iter().map(|m| across(sides, m, None, declared)).collect()
}

/// What each later run's system differs in from the first's.
fn environments(sides: &[Side<'_>], declared: &Declared) -> Result<Vec<EnvDiff>, AcceptError> {
    let factors = in_facts(&declared.factors);
    let mut diffs: Vec<EnvDiff> =
        sides[1..].iter().map(|s| diff(sides[0].system, s.system, &factors)).collect();
    for (diff, side) in diffs.iter_mut().zip(&sides[1..]) {
        // What is a parameter, a setting or the program has an effect where that differs, whatever the facts say.
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
                // It need not differ in every run.
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

fn compared(diffs: &[EnvDiff], declared: &Declared) -> String {
    if diffs.iter().any(|d| d.system_against_system) {
        "system against system".to_owned()
    } else {
        declared.factors.join(", ")
    }
}

/// Why runs cannot be laid side by side.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcrossError {
    /// A difference cannot be accepted.
    #[error("--accept: {0}")]
    Accept(#[from] AcceptError),
    /// A run has no such treatment.
    #[error("--reference {reference}: run {run} has no such treatment; it has {labels}")]
    Reference {
        /// The label asked for.
        reference: String,
        /// The run.
        run: RunId,
        /// The labels of its treatments.
        labels: String,
    },
}

/// Whether a run and the first are repeated often enough for the means of the runs to be compared.
fn repeated(groups: &[usize], run: usize) -> bool {
    let many = |i: usize| groups.iter().filter(|g| **g == groups[i]).count();
    groups[0] != groups[run] && many(0).min(many(run)) >= drift::LEAST
}

/// Whether the runs of the first side and of a run's were not all made one side after the other.
fn in_turns(sides: &[Side<'_>], groups: &[usize], run: usize) -> bool {
    let of = |i: &usize| groups[*i] == groups[0] || groups[*i] == groups[run];
    let mut all: Vec<usize> = (0..sides.len()).filter(of).collect();
    all.sort_by_key(|i| sides[*i].id);
    all.windows(2).filter(|pair| groups[pair[0]] != groups[pair[1]]).count() > 1
}

/// What makes a treatment of a run invalid by itself. Where each run is one value, it may have been one process.
fn invalid_by_itself(side: &Side<'_>, treatment: u32, repeated: bool) -> Option<Finding> {
    let about = |f: &&Finding| f.treatments.is_empty() || f.treatments.contains(&treatment);
    let one_process = |f: &&Finding| repeated && f.id == rows::UNIT_OF_REPLICATION.id;
    let mut found = side.analysis.findings.iter().filter(|f| about(f) && !one_process(f));
    let mut first = found.find(|f| f.severity == Severity::Invalid)?.clone();
    first.message = format!("run {}: {}", side.id, first.message);
    first.treatments.clear();
    Some(first)
}

/// What a check calls invalid, as a reason not to compare.
fn invalid(found: &[Finding]) -> Option<String> {
    let first = found.iter().find(|f| f.severity == Severity::Invalid)?;
    Some(format!("{} {}: {}", first.id, first.name, first.message))
}

/// Takes the numbers out of a comparison that says nothing.
fn withhold(c: &mut Comparison, reason: &str) {
    c.verdict = Verdict::Invalid;
    c.reason = format!("not a comparison: {reason}");
    (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
}

/// The hard differences, as a reason not to compare.
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

/// One run measured the metric and the other computed it, as a reason not to compare. Earlier versions took a
/// shell's start-up off `elapsed`, which made it derived.
fn computed_in_one(a: &Side<'_>, b: &Side<'_>, metric: &str) -> Option<String> {
    let kind = |side: &Side<'_>| {
        let counting = side.records.iter().filter(|r| r.counts());
        counting.flat_map(|r| &r.metrics).find(|m| m.name == metric).map(|m| m.kind)
    };
    let (measured, derived) = match (kind(a)?, kind(b)?) {
        (Kind::Measured, Kind::Derived) => (a, b),
        (Kind::Derived, Kind::Measured) => (b, a),
        _ => return None,
    };
    Some(format!("`{metric}` was measured in {} and computed in {}", measured.id, derived.id))
}

/// The metric of a run that would be compared: the one asked for, else the one that it decided by.
fn identity(side: &Side<'_>, metric: &str) -> MetricIdentity {
    let all = &side.analysis.summaries;
    let has = |name: &str| all.iter().find(|s| s.metric == name && s.centre().is_some());
    let found = has(metric).or_else(|| has(&side.analysis.metric));
    let labels: Vec<String> = side.plan.treatments.iter().map(Treatment::key).collect();
    MetricIdentity {
        label: side.id.to_string(),
        metric: found.map(|s| s.metric.clone()),
        unit: found.map(|s| s.unit.clone()),
        // Treatments are compared with those of the same levels.
        category: if labels.len() > 1 {
            [("the treatments".to_owned(), labels.join("; "))].into()
        } else {
            BTreeMap::new()
        },
        ..MetricIdentity::default()
    }
}

/// The values of a treatment in each run; relative to the reference, if there is one, in the same block.
fn in_each(
    sides: &[Side<'_>],
    treatment: &[Option<u32>],
    metric: &str,
    reference: Option<&[u32]>,
) -> Vec<Option<Vec<Option<f64>>>> {
    let of = |(i, side): (usize, &Side<'_>)| {
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

/// The reference treatment in each run.
fn references(sides: &[Side<'_>], declared: &Declared) -> Result<Option<Vec<u32>>, AcrossError> {
    let Some(reference) = &declared.reference else { return Ok(None) };
    let in_run = |side: &Side<'_>| {
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
    sides: &[Side<'_>],
    metric: &str,
    unit: &str,
    better: Better,
    margin: Option<f64>,
    groups: &[usize],
    declared: &Declared,
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
    let row = |treatment: &Treatment| {
        let in_run = |side: &Side<'_>| {
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
        let means = |group: usize| -> Vec<Option<f64>> {
            let members = (0..sides.len()).filter(|i| groups[*i] == group);
            members.map(|i| drift::of_run(judged[i].as_ref()?)).collect()
        };
        let against_first = |i: usize| {
            let (baseline, treatment) = (judged[0].as_ref()?, judged[i].as_ref()?);
            let repeated = repeated(groups, i);
            if groups[i] == groups[0] || repeated && groups[i] != i {
                return None;
            }
            let runs = repeated.then(|| (means(0), means(i)));
            let (baseline, treatment) =
                runs.as_ref().map_or((baseline, treatment), |(a, b)| (a, b));
            let mut c = compare(&CompareInput {
                metric,
                unit,
                better,
                baseline: 0,
                treatment: i as u32,
                samples: Samples::Independent { baseline, treatment },
                confidence: sides[0].analysis.confidence,
                margin,
                gate: false,
            });
            if repeated {
                c.reason =
                    format!("{}; of {} runs and {}", c.reason, baseline.len(), treatment.len());
            } else if let Some(reference) =
                declared.reference.as_ref().filter(|_| relative.is_some())
            {
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

/// The merged percentile of a treatment in each run; empty where the metric is none.
fn percentiles(sides: &[Side<'_>], ids: &[Option<u32>], metric: &str) -> Vec<Option<Percentile>> {
    let of = |(side, id): (_, &Option<u32>)| {
        summary(side, *id, metric).and_then(|s| s.percentile.clone())
    };
    let all: Vec<Option<Percentile>> = sides.iter().zip(ids).map(of).collect();
    if all.iter().all(Option::is_none) { Vec::new() } else { all }
}

/// What makes the value doubtful in each run; empty where nothing was seen in any.
fn doubts(sides: &[Side<'_>], ids: &[Option<u32>], metric: &str) -> Vec<Vec<String>> {
    let of = |(side, id): (_, &Option<u32>)| {
        summary(side, *id, metric).map_or_else(Vec::new, |s| s.doubts.clone())
    };
    let all: Vec<Vec<String>> = sides.iter().zip(ids).map(of).collect();
    if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
}

/// The summary of a treatment in one of the runs.
fn summary<'a>(side: &'a Side<'_>, id: Option<u32>, metric: &str) -> Option<&'a TreatmentSummary> {
    let id = id?;
    side.analysis.summaries.iter().find(|s| s.metric == metric && s.treatment == id)
}

fn differences(sides: &[Side<'_>], diffs: &[EnvDiff]) -> Vec<Difference> {
    let mut found: Vec<(DifferenceClass, Difference)> = Vec::new();
    for (side, diff) in sides[1..].iter().zip(diffs) {
        for d in &diff.differences {
            // What neither system tells is no difference that was seen.
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
    // The order of the classes is from the most serious.
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

/// The checks that are about what differs between two sides.
const BETWEEN: [&Row; 5] = [
    &rows::FACTOR_DECLARED,
    &rows::CONFOUNDER,
    &rows::OS_TUNABLES,
    &rows::SAME_WORK,
    &rows::INTERLEAVED,
];

/// What the catalogue says of the runs laid side by side: of its checks those that are about what
/// differs between the sides (environment, work, schedule, metric).
fn findings(sides: &[Side<'_>], diffs: &[EnvDiff], declared: &Declared) -> Vec<Vec<Finding>> {
    let of = |(side, diff): (&Side<'_>, &EnvDiff)| {
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

/// The command that compares these runs.
fn command(sides: &[Side<'_>], declared: &Declared) -> String {
    let ids = sides.iter().map(|s| format!(" {}", s.id));
    let factors = declared.factors.iter().map(|f| format!(" --factor {f}"));
    let accepted = declared.accepted.iter().map(|(path, why)| format!(" --accept '{path}={why}'"));
    ids.chain(factors).chain(accepted).fold("assay compare".to_owned(), |all, one| all + &one)
}

/// Two runs as two treatments, one after the other.
fn between(a: &Side<'_>, b: &Side<'_>, diff: &EnvDiff, declared: &Declared) -> Evidence {
    let treatment = |side: &Side<'_>| TreatmentEvidence {
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
    let trials = |treatment: usize, side: &Side<'_>| -> Vec<Scheduled> {
        let counting = side.records.iter().filter(|r| r.counts());
        // Clocks of different boots cannot be laid beside each other; the runs' ids can.
        let offset = treatment as f64 * 1e12;
        counting
            .map(|r| Scheduled {
                treatment,
                start_s: offset + r.start_ns as f64 / 1e9,
                end_s: offset + r.end_ns as f64 / 1e9,
                // A drift within each run says nothing about that between them.
                value: None,
            })
            .collect()
    };
    // Unlike programs without a word are compared by nobody's question.
    let unasked = unlike(a, b, declared).is_some() && declared.factors.is_empty();
    Evidence {
        treatments: vec![treatment(a), treatment(b)],
        factors: (unasked || !declared.factors.is_empty()).then(|| declared.factors.clone()),
        environment: Known::Is(diff.clone()),
        schedule: Some(Schedule {
            trials: trials(0, a).into_iter().chain(trials(1, b)).collect(),
            order: None,
        }),
        ..Evidence::default()
    }
}

/// What the run's controls set for all its treatments. The descriptions, which are made before anything is set,
/// do not have it.
fn controls(side: &Side<'_>) -> BTreeMap<String, String> {
    side.experiment.controls.iter().map(|(k, v)| (k.clone(), v.to_text())).collect()
}

fn params(side: &Side<'_>) -> BTreeMap<String, String> {
    side.experiment.params.iter().map(|(k, v)| (k.clone(), v.to_text())).collect()
}

/// Whether anything is worse than in the first run.
pub fn any_worse(across: &Across) -> bool {
    let mut all = across.rows.iter().flat_map(|r| r.comparisons.iter().flatten());
    all.any(|c| c.verdict == Verdict::Worse)
}
