//! Analyses the records of a run: summaries, comparisons, curves and scaling. The terminal, the
//! pages and the exports print these results and compute nothing themselves.

pub(crate) mod aa;
pub(crate) mod across;
pub(crate) mod explain;
pub(crate) mod findings;
pub(crate) mod histograms;
pub(crate) mod hosts;
mod seen;
pub(crate) mod suite;
pub(crate) mod suite_facts;
pub(crate) mod suite_result;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use assay_model::cancel::checkpoint;
use assay_model::environment::is_emulated;
use assay_model::{
    Analysis, Better, Checks, Comparison, CurveSummary, Engine, Experiment, Finding, Guest,
    HistogramSummary, LedgerEntry, LedgerEvent, MetricKind, MetricValue, Observation, Order, Plan,
    Profile, Scalar, Scaling, Severity, Stop, SystemDescription, Treatment, TreatmentSummary,
    TrialOutcome, TrialRecord, Verdict,
};
use assay_stats::comparison::sequential;
use assay_stats::curves::scaling::Size;
use assay_stats::{CompareInput, Samples, compare_family, compare_suite, summarize};

use assay_workloads::capability::CurveChooser;
use assay_workloads::readers::BENCHMARKS;

use crate::pairs::{MetricIndex, apart, counterpart, values};
use crate::plan::margin;

/// Name, unit and direction of a metric.
struct NamedMetric {
    name: String,
    unit: String,
    better: Better,
    /// True if it is the deciding figure of a benchmark of a suite.
    benchmark: bool,
}

/// The parts of an archived run that the analysis needs.
#[derive(Debug, Clone, Copy)]
pub struct RecordedRun<'a> {
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    /// Latest attempt of each trial, in the order of the plan.
    pub records: &'a [TrialRecord],
    /// Description of the system under test at the start of the run.
    pub system: Option<&'a SystemDescription>,
    /// The ledger; empty if it is unavailable, which some checks then report.
    pub ledger: &'a [LedgerEntry],
}

/// Analyses the records of a run and evaluates the checks of the catalogue under the profile `lab`.
pub fn analyse(recorded: &RecordedRun<'_>) -> Analysis {
    let RecordedRun { experiment, plan, records, .. } = *recorded;
    // A kit whose folder is gone has no model of its curves anyway, so built-in workloads suffice.
    let workload = assay_workloads::builtin::table::find(&plan.workload.name);
    let model = workload.as_ref().and_then(|w| w.offers().chooses);
    let metrics = metrics(experiment, plan, records);
    let confidence = confidence(experiment);
    let main = &metrics[0];
    let merged = histograms::merge(plan, records);
    let guest = guest(experiment, records, recorded.system);
    let index = MetricIndex::new(records);
    let mut summaries = Vec::new();
    for metric in &metrics {
        for treatment in &plan.treatments {
            checkpoint();
            let values = index.values(treatment.id, &metric.name);
            let present: Vec<f64> = values.iter().copied().flatten().collect();
            let percentile = histograms::of_metric(&merged, treatment.id, &metric.name);
            let merged = percentile.as_ref().is_some_and(|p| p.trials > 0);
            if present.is_empty() && !merged && metric.name != main.name {
                continue;
            }
            summaries.push(TreatmentSummary {
                treatment: treatment.id,
                label: treatment.label(),
                metric: metric.name.clone(),
                unit: metric.unit.clone(),
                better: metric.better,
                summary: summarize(&present, confidence),
                values,
                percentile,
                longer_than: longer_than(records, treatment.id, metric),
                doubts: doubts(&index, treatment.id, &metric.name),
                virtual_machine: guest.is_some(),
            });
        }
    }
    let made_of = (experiment, plan, &index);
    let with_baseline = plan.treatments.iter().filter_map(|t| Some((counterpart(plan, t)?, t.id)));
    let with_baseline: Vec<Pair> = with_baseline.collect();
    let only_main = std::slice::from_ref(&main);
    let compared = |p: &[Pair]| comparisons(made_of, only_main, confidence, p, compare_family);
    let mut comparisons = compared(&with_baseline);
    let benchmarks: Vec<&NamedMetric> = metrics.iter().filter(|m| m.benchmark).collect();
    let family = comparisons_of_suite(made_of, &benchmarks, confidence, &with_baseline);
    for c in &mut comparisons {
        refuse_other_benchmarks(c, records);
    }
    let ranked = best_first(experiment, plan, &summaries, main);
    let ranking = if ranked.first().is_some_and(|(best, _)| *best == plan.baseline) {
        // The ranking consists of the same comparisons in another order.
        let by_id: BTreeMap<_, _> = comparisons.iter().map(|c| (c.treatment, c)).collect();
        ranked.iter().filter_map(|(_, id)| by_id.get(id).copied().cloned()).collect()
    } else {
        compared(&ranked)
    };
    let mut curves = curves(plan, records, &merged, model, confidence);
    for c in &mut curves {
        c.guest = guest;
    }
    let suite = suite::results(experiment, plan, records, confidence);
    let scaling = match &suite {
        Some(results) => suite::scaling(experiment, results, confidence),
        None => scaling(experiment, plan, records, &merged, main, confidence),
    };
    let mut analysis = Analysis {
        metric: main.name.clone(),
        unit: main.unit.clone(),
        better: main.better,
        confidence,
        guest,
        summaries,
        comparisons,
        ranking,
        benchmarks: benchmarks.iter().map(|m| m.name.clone()).collect(),
        family,
        curves,
        histograms: merged,
        scaling,
        suite,
        run_metrics: Vec::new(),
        floor: recorded.ledger.iter().rev().find_map(|entry| match &entry.event {
            LedgerEvent::FloorKnown { floor } => Some((**floor).clone()),
            _ => None,
        }),
        findings: Vec::new(),
        checks: Checks::default(),
    };
    analysis.run_metrics = run_metrics(&analysis);
    analysis.run_metrics.extend(aa::floor_metric(plan, records));
    let report = findings::check(recorded, &analysis, Profile::Lab);
    (analysis.checks, analysis.findings) = (report.checks(), report.findings);
    no_verdict_of_what_is_invalid(&mut analysis, records);
    analysis
}

/// Returns the kind of virtual machine that the trials ran in, if they ran in one.
fn guest(
    experiment: &Experiment,
    records: &[TrialRecord],
    system: Option<&SystemDescription>,
) -> Option<Guest> {
    if experiment.place.engine != Engine::Vm {
        // Also that of another host, below `node.`.
        let mut all = system?.facts.iter().filter(|(path, _)| path.ends_with("virt.hypervisor"));
        let emulated = all.any(|(_, f)| f.value().is_some_and(is_emulated));
        return emulated.then_some(Guest::Emulated);
    }
    let emulated = |seen: &Observation| match seen {
        Observation::GuestMachine { accelerator, .. } => accelerator == "tcg",
        _ => false,
    };
    let any = records.iter().flat_map(|r| &r.evidence).any(emulated);
    Some(if any { Guest::Emulated } else { Guest::Virtual })
}

/// Withholds verdicts: if a check calls a run, a treatment or a counted trial invalid, no output
/// shows a verdict.
fn no_verdict_of_what_is_invalid(analysis: &mut Analysis, records: &[TrialRecord]) {
    let grave = |f: &&Finding| f.severity == Severity::Invalid;
    let why = |f: &Finding| format!("{} {}: {}", f.id, f.name, f.message);
    let of_run = analysis.findings.iter().filter(grave).find(|f| f.treatments.is_empty()).map(why);
    let of_treatment = |id: u32| {
        let about = analysis.findings.iter().filter(grave).find(|f| f.treatments.contains(&id));
        let counted = records.iter().filter(|r| r.treatment == id && r.counts());
        about.or_else(|| counted.flat_map(|r| &r.findings).find(grave)).map(why)
    };
    let reason = |c: &Comparison| {
        let sides = || of_treatment(c.treatment).or_else(|| of_treatment(c.baseline));
        of_run.clone().or_else(sides)
    };
    let reasons: Vec<Option<String>> = analysis
        .comparisons
        .iter()
        .chain(&analysis.ranking)
        .chain(&analysis.family)
        .map(reason)
        .collect();
    let all =
        analysis.comparisons.iter_mut().chain(&mut analysis.ranking).chain(&mut analysis.family);
    for (c, reason) in all.zip(reasons) {
        if let Some(reason) = reason {
            (c.verdict, c.reason) = (Verdict::Invalid, reason);
            (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
        }
    }
    for c in analysis.suite.iter_mut().flat_map(|s| &mut s.comparisons) {
        if let Some(reason) = &of_run {
            (c.geomean.verdict, c.geomean.reason) = (Verdict::Invalid, reason.clone());
            let g = &mut c.geomean;
            (g.ratio, g.interval, g.sensitivity, g.detectable) = (None, None, None, None);
        }
    }
}

/// For the metric `elapsed`, returns the shortest duration in seconds of a treatment's trials if
/// all of them timed out: the true value is longer.
fn longer_than(records: &[TrialRecord], treatment: u32, metric: &NamedMetric) -> Option<f64> {
    if metric.name != "elapsed" {
        return None;
    }
    let mut of = records.iter().filter(|r| r.treatment == treatment && !r.warmup).peekable();
    of.peek()?;
    of.map(|r| {
        let ended = r.outcome == TrialOutcome::TimedOut;
        ended.then(|| r.end_ns.saturating_sub(r.start_ns) as f64 / 1e9)
    })
    .try_fold(f64::INFINITY, |least, s| Some(least.min(s?)))
}

/// Returns the reasons why the values of a treatment's metric are doubtful, each once.
fn doubts(index: &MetricIndex<'_>, treatment: u32, metric: &str) -> Vec<String> {
    let values = index.metrics(treatment, metric);
    let found: BTreeSet<&String> = values.iter().filter_map(|m| m.doubt.as_ref()).collect();
    found.into_iter().cloned().collect()
}

/// Returns the confidence level of the intervals: the configured one, or the adjusted one if the
/// run may stop early after a look at its results.
fn confidence(experiment: &Experiment) -> f64 {
    match experiment.design.stop {
        Stop::Clear => sequential::CONFIDENCE,
        Stop::Fixed => experiment.compare.confidence,
    }
}

/// Lists all metrics: the deciding one first, then the declared ones, then others that programs
/// reported.
fn metrics(experiment: &Experiment, plan: &Plan, records: &[TrialRecord]) -> Vec<NamedMetric> {
    let declared = plan.workload.metrics.iter().map(|m| (&m.name, &m.unit, m.better, false));
    let reported =
        records.iter().flat_map(|r| &r.metrics).map(|m| (&m.name, &m.unit, m.better, m.benchmark));
    let mut known: HashSet<&str> = HashSet::new();
    let mut found: Vec<NamedMetric> = Vec::new();
    for (name, unit, better, benchmark) in declared.chain(reported) {
        if known.insert(name) {
            let own = experiment.compare.rule(name).and_then(|rule| rule.better);
            let (name, unit, better) = (name.clone(), unit.clone(), own.unwrap_or(better));
            found.push(NamedMetric { name, unit, better, benchmark });
        }
    }
    match found.iter().position(|f| f.name == plan.metric) {
        Some(i) => found[..=i].rotate_right(1),
        None => found.insert(
            0,
            NamedMetric {
                name: plan.metric.clone(),
                unit: String::new(),
                better: Better::Neither,
                benchmark: false,
            },
        ),
    }
    found
}

/// Ids of the reference treatment and of the treatment that is compared with it.
type Pair = (u32, u32);

/// Pairs the best treatment with each other one, in the order of their values. Empty for a suite,
/// whose treatments do different work, for imported trials, and for a metric without a better
/// direction.
fn best_first(
    experiment: &Experiment,
    plan: &Plan,
    summaries: &[TreatmentSummary],
    metric: &NamedMetric,
) -> Vec<Pair> {
    let sign = match metric.better {
        Better::Lower => 1.0,
        Better::Higher => -1.0,
        Better::Neither => return Vec::new(),
    };
    if plan.workload.suite.is_some() || experiment.design.order == Order::Unknown {
        return Vec::new();
    }
    let of_metric = summaries.iter().filter(|s| s.metric == metric.name);
    let mut values: Vec<(f64, u32)> =
        of_metric.filter_map(|s| Some((sign * s.centre()?, s.treatment))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(((_, best), others)) = values.split_first() else { return Vec::new() };
    others.iter().map(|(_, other)| (*best, *other)).collect()
}

fn comparisons(
    (experiment, plan, index): (&Experiment, &Plan, &MetricIndex<'_>),
    metrics: &[&NamedMetric],
    confidence: f64,
    pairs_of: &[Pair],
    judge: fn(&[CompareInput<'_>]) -> Vec<Comparison>,
) -> Vec<Comparison> {
    let imported = experiment.design.order == Order::Unknown;
    // Quoted values are shown as their source printed them, and no verdict is computed from them.
    let quoted = |metric: &NamedMetric| {
        plan.workload.metric(&metric.name).is_some_and(|m| m.kind == MetricKind::Quoted)
    };
    let alike = |id: u32| plan.treatment(id).is_some_and(|t| same_benchmark(plan, t));
    let of_all = metrics.iter().flat_map(|m| pairs_of.iter().map(move |pair| (*m, *pair)));
    let sides: Vec<ComparedValues<'_>> = of_all
        .filter(|(metric, (_, treatment))| !imported || (!quoted(metric) && alike(*treatment)))
        .map(|(metric, (reference, treatment))| {
            checkpoint();
            let (base, other) = index.pairs(reference, treatment, &metric.name);
            ComparedValues {
                metric,
                reference,
                treatment,
                // Imported trials have an unknown order and so no blocks.
                independent: imported || apart(plan, reference, treatment),
                paired: base.into_iter().zip(other).collect(),
                baseline: index.values(reference, &metric.name),
                treated: index.values(treatment, &metric.name),
            }
        })
        .collect();
    let inputs: Vec<CompareInput<'_>> = sides
        .iter()
        .map(|a| CompareInput {
            metric: &a.metric.name,
            unit: &a.metric.unit,
            better: a.metric.better,
            baseline: a.reference,
            treatment: a.treatment,
            // If a side has no values, the message must name that side, so the samples are not
            // paired.
            samples: if a.independent
                || [&a.baseline, &a.treated].iter().any(|v| !v.iter().any(Option::is_some))
            {
                Samples::Independent { baseline: &a.baseline, treatment: &a.treated }
            } else {
                Samples::Paired(&a.paired)
            },
            confidence,
            margin: margin(experiment, &a.metric.name),
            gate: experiment.compare.gate,
        })
        .collect();
    let mut all = judge(&inputs);
    for comparison in &mut all {
        refuse_wrong_output(comparison, index.records());
    }
    all
}

/// Compares every benchmark that both treatments ran.
fn comparisons_of_suite(
    made_of: (&Experiment, &Plan, &MetricIndex<'_>),
    benchmarks: &[&NamedMetric],
    confidence: f64,
    pairs_of: &[Pair],
) -> Vec<Comparison> {
    let mut all = Vec::new();
    for pair in pairs_of {
        let [a, b] = [pair.0, pair.1].map(|id| benchmarks_of(made_of.2.records(), id));
        let only = &made_of.0.compare.only;
        let both = |m: &&&NamedMetric| {
            a.contains(m.name.as_str())
                && b.contains(m.name.as_str())
                && (only.is_empty() || only.contains(&m.name))
        };
        let both: Vec<&NamedMetric> = benchmarks.iter().filter(both).copied().collect();
        all.extend(comparisons(
            made_of,
            &both,
            confidence,
            std::slice::from_ref(pair),
            compare_suite,
        ));
    }
    all
}

/// Returns the names of the benchmarks of which a treatment has values above 0.
fn benchmarks_of(records: &[TrialRecord], treatment: u32) -> BTreeSet<&str> {
    let of = records.iter().filter(|r| r.treatment == treatment && r.counts());
    of.flat_map(values_of_benchmarks).collect()
}

fn values_of_benchmarks(trial: &TrialRecord) -> impl Iterator<Item = &str> {
    let values = trial.metrics.iter().filter(|m| m.benchmark && m.value > Some(0.0));
    values.map(|m| m.name.as_str())
}

/// Withholds the ratio of the geometric means of two suites that ran different benchmarks, and of
/// trials that did: a mean without a benchmark that others have is one of other work.
fn refuse_other_benchmarks(c: &mut Comparison, records: &[TrialRecord]) {
    if c.metric != BENCHMARKS {
        return;
    }
    let [a, b] = [c.baseline, c.treatment].map(|id| benchmarks_of(records, id));
    let of = |r: &&TrialRecord| [c.baseline, c.treatment].contains(&r.treatment) && r.counts();
    let has_mean = |m: &MetricValue| m.name == BENCHMARKS && m.value.is_some();
    let with_mean = records.iter().filter(of).filter(|r| r.metrics.iter().any(has_mean));
    let counts: Vec<usize> = with_mean.map(|r| values_of_benchmarks(r).count()).collect();
    let lacking = counts.iter().filter(|n| **n < a.len()).count();
    let reason = if a != b {
        let differ = a.symmetric_difference(&b).count();
        format!("{differ} of the benchmarks have a value in only one of the two")
    } else if lacking > 0 {
        format!("{lacking} of {} trials lack benchmarks that others have", counts.len())
    } else {
        return;
    };
    (c.verdict, c.reason) = (Verdict::Invalid, reason);
    (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
}

/// Values of the two treatments of a comparison.
struct ComparedValues<'a> {
    metric: &'a NamedMetric,
    reference: u32,
    treatment: u32,
    /// True if the trials of the two treatments share no blocks.
    independent: bool,
    paired: Vec<(Option<f64>, Option<f64>)>,
    baseline: Vec<Option<f64>>,
    treated: Vec<Option<f64>>,
}

/// Returns true if an imported treatment ran the baseline's benchmark. A ratio between two
/// benchmarks would compare different work.
fn same_benchmark(plan: &Plan, treatment: &Treatment) -> bool {
    let of = |t: &Treatment| t.levels.get("benchmark").cloned();
    plan.treatment(plan.baseline).is_some_and(|b| of(b) == of(treatment))
}

/// Marks a comparison invalid if a trial of either treatment produced wrong output.
fn refuse_wrong_output(comparison: &mut Comparison, records: &[TrialRecord]) {
    for id in [comparison.baseline, comparison.treatment] {
        let of = |r: &&TrialRecord| r.treatment == id && !r.warmup;
        let mut wrong = records.iter().filter(of).filter(|r| r.outcome == TrialOutcome::Invalid);
        if let Some(first) = wrong.next() {
            let (wrong, all) = (1 + wrong.count(), records.iter().filter(of).count());
            comparison.verdict = Verdict::Invalid;
            comparison.reason = format!(
                "the output of {wrong} of {all} trials of treatment {id} is wrong; trial {}: {}",
                first.number, first.error
            );
        }
    }
}

fn curves(
    plan: &Plan,
    records: &[TrialRecord],
    histograms: &[HistogramSummary],
    model: Option<&dyn CurveChooser>,
    confidence: f64,
) -> Vec<CurveSummary> {
    let mut found = Vec::new();
    for treatment in &plan.treatments {
        let of: Vec<&TrialRecord> =
            records.iter().filter(|r| r.treatment == treatment.id && r.counts()).collect();
        let mut names: Vec<&str> = Vec::new();
        for curve in of.iter().flat_map(|r| &r.curves) {
            if !names.contains(&curve.name.as_str()) {
                names.push(&curve.name);
            }
        }
        for name in names {
            let each: Vec<&assay_model::Curve> = of.iter().filter_map(|r| r.curve(name)).collect();
            let Some(first) = each.first() else { continue };
            let trials: Vec<Vec<[f64; 2]>> = each.iter().map(|c| c.points.clone()).collect();
            let better = plan
                .workload
                .metric(name)
                .map_or_else(|| Better::from_unit(&first.unit), |m| m.better);
            let percentiles = histograms::of_curve(histograms, treatment.id, name);
            let mut merged = if percentiles.is_empty() {
                assay_stats::curves::curve::merge(&trials, better, confidence)
            } else {
                // A merged percentile has no trials to compute an interval from.
                let points: Vec<[f64; 2]> =
                    percentiles.iter().filter_map(|(x, p)| Some([*x, p.value?])).collect();
                let mut merged = assay_stats::curves::curve::merge(&[points], better, confidence);
                for point in &mut merged.points {
                    let of = percentiles.iter().find(|(x, _)| *x == point.x);
                    point.n = of.map_or(point.n, |(_, p)| p.trials);
                }
                merged
            };
            // A latency percentile is smallest without load, so it cannot select a best point.
            if !percentiles.is_empty() {
                (merged.best, merged.efficient, merged.smoothness) = (None, None, None);
            }
            let (best, efficient, judged) = match model.and_then(|m| m.choose(name, &trials)) {
                Some(c) => (Some(c.best), Some(c.efficient), c.judged),
                None => (merged.best, merged.efficient, "judged with its near neighbours"),
            };
            found.push(CurveSummary {
                treatment: treatment.id,
                label: treatment.label(),
                name: name.to_owned(),
                x_name: first.x_name.clone(),
                quantile: percentiles.first().map(|(_, p)| p.quantile),
                x_unit: first.x_unit.clone(),
                unit: first.unit.clone(),
                better,
                kind: first.kind,
                points: merged.points,
                best,
                efficient,
                judged: judged.to_owned(),
                smoothness: merged.smoothness,
                guest: None,
            });
        }
    }
    found
}

/// Computes the growth of the metric with the factor that the experiment names. The other factors
/// must be at the baseline's level.
fn scaling(
    experiment: &Experiment,
    plan: &Plan,
    records: &[TrialRecord],
    merged: &[HistogramSummary],
    metric: &NamedMetric,
    confidence: f64,
) -> Option<Scaling> {
    let factor = experiment.compare.scaling.as_ref()?;
    let baseline = plan.treatment(plan.baseline)?;
    let same_otherwise = |t: &&Treatment| {
        t.levels.iter().all(|(k, v)| k == factor || baseline.levels.get(k) == Some(v))
    };
    let of = || plan.treatments.iter().filter(same_otherwise);
    let sizes: Vec<Size> = of()
        .filter_map(|t| {
            let count = t.levels.get(factor)?.as_f64()?;
            Some(Size { count, values: values(records, t.id, &metric.name) })
        })
        .collect();
    let mut found = assay_stats::curves::scaling::scaling(
        factor,
        (&metric.name, &metric.unit),
        metric.better,
        &sizes,
        confidence,
    );
    for point in &mut found.points {
        let at = of().find(|t| t.levels.get(factor).and_then(Scalar::as_f64) == Some(point.count));
        let merged = at.and_then(|t| histograms::of_metric(merged, t.id, &metric.name));
        // Speedups use the trials' own percentiles, by block. The value shown is the merged
        // percentile, because a mean of percentiles is not a percentile.
        point.value = merged.and_then(|p| p.value).unwrap_or(point.value);
    }
    Some(found)
}

/// Computes the metrics of the run as a whole.
fn run_metrics(analysis: &Analysis) -> Vec<MetricValue> {
    let mut worst: BTreeMap<&str, f64> = BTreeMap::new();
    for comparison in &analysis.comparisons {
        if let Some(detectable) = comparison.detectable {
            let entry = worst.entry("detectable_effect").or_insert(detectable);
            *entry = entry.max(detectable);
        }
    }
    worst
        .into_iter()
        .map(|(name, value)| {
            MetricValue::new(name, Some(value - 1.0), "1", Better::Lower, MetricKind::Derived)
        })
        .collect()
}
