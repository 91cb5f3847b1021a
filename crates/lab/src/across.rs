//! Compares runs with each other: the same treatments across runs, and what else differed.

use assay_model::{
    Across, AcrossRow, Analysis, Better, Difference, Experiment, Fact, Finding, Plan, RunId,
    Severity, SystemDescription, TrialRecord, Verdict,
};
use assay_stats::{CompareInput, Samples, compare, summarize};
use assay_sut::{FactClass, diff};

use crate::pairs::values;

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

/// Lays runs side by side in one metric; the first is the baseline. Treatments are matched by their
/// labels; runs of one treatment each are matched with each other. Samples are independent (no shared
/// blocks), so Welch's interval is used.
pub fn across(sides: &[Side<'_>], metric: &str, margin: Option<f64>) -> Across {
    let first = &sides[0];
    let named = first.analysis.summaries.iter().find(|s| s.metric == metric);
    let (unit, better) =
        named.map_or((String::new(), Better::Neither), |s| (s.unit.clone(), s.better));
    let differences = differences(sides);
    let mut findings = findings(sides, &differences);
    let rows = rows(sides, metric, &unit, better, margin);
    if rows.iter().all(|r| r.comparisons.iter().flatten().count() == 0) {
        findings.push(Finding {
            id: "F46".into(),
            name: "same-metric".into(),
            severity: Severity::Invalid,
            message: format!("no treatment has `{metric}` in more than one of the runs"),
            remedy: "name a metric that the runs share with --metric".into(),
        });
    }
    Across {
        runs: sides.iter().map(|s| s.id.clone()).collect(),
        metric: metric.to_owned(),
        unit,
        better,
        rows,
        differences,
        findings,
    }
}

fn rows(
    sides: &[Side<'_>],
    metric: &str,
    unit: &str,
    better: Better,
    margin: Option<f64>,
) -> Vec<AcrossRow> {
    let single = sides.iter().all(|s| s.plan.treatments.len() == 1);
    let mut labels: Vec<String> = Vec::new();
    for label in
        sides.iter().flat_map(|s| s.plan.treatments.iter().map(assay_model::Treatment::label))
    {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    if single {
        labels.truncate(1);
    }
    labels
        .into_iter()
        .map(|label| {
            let of = |side: &Side<'_>| {
                let fits = |t: &&assay_model::Treatment| single || t.label() == label;
                let id = side.plan.treatments.iter().find(fits)?.id;
                let found = values(side.records, id, metric);
                (found.iter().flatten().count() > 0).then_some(found)
            };
            let each: Vec<Option<Vec<Option<f64>>>> = sides.iter().map(of).collect();
            let summaries = each
                .iter()
                .zip(sides)
                .map(|(values, side)| {
                    let present: Vec<f64> = values.as_ref()?.iter().copied().flatten().collect();
                    Some(summarize(&present, side.analysis.confidence))
                })
                .collect();
            let comparisons = each
                .iter()
                .enumerate()
                .map(|(i, values)| {
                    let (baseline, treatment) = (each[0].as_ref()?, values.as_ref()?);
                    (i > 0).then(|| {
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
                    })
                })
                .collect();
            AcrossRow { label, summaries, comparisons }
        })
        .collect()
}

fn differences(sides: &[Side<'_>]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for side in &sides[1..] {
        for d in diff(sides[0].system, side.system) {
            // What neither system tells is no difference that was seen.
            let told = |f: &Option<Fact>| f.as_ref().is_some_and(|f| f.value().is_some());
            if d.class == FactClass::Volatile || !(told(&d.a) || told(&d.b)) {
                continue;
            }
            if found.iter().any(|f| f.path == d.path) {
                continue;
            }
            found.push(Difference {
                a: in_words(d.a.as_ref()),
                b: in_words(d.b.as_ref()),
                class: d.class.name().to_owned(),
                run: side.id.clone(),
                path: d.path,
            });
        }
    }
    // `hard` stands before `soft`.
    found.sort_by(|a, b| (&a.class, &a.path).cmp(&(&b.class, &b.path)));
    found
}

fn in_words(fact: Option<&Fact>) -> String {
    match fact {
        None => "not recorded".to_owned(),
        Some(Fact::Known { value }) => value.clone(),
        Some(Fact::Unknown { unknown }) => format!("unknown: {unknown}"),
    }
}

fn findings(sides: &[Side<'_>], differences: &[Difference]) -> Vec<Finding> {
    let mut found = vec![Finding {
        id: "F31".into(),
        name: "interleaved".into(),
        severity: Severity::Warning,
        message: "the runs were made one after the other, so drift between them cannot be told from the difference".into(),
        remedy: "run both as treatments of one experiment (`assay run --vs`, or a factor)".into(),
    }];
    let hard: Vec<&str> = differences
        .iter()
        .filter(|d| d.class == FactClass::Hard.name())
        .map(|d| d.path.as_str())
        .collect();
    if !hard.is_empty() {
        let shown = hard.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let more =
            if hard.len() > 5 { format!(" and {} more", hard.len() - 5) } else { String::new() };
        found.push(Finding {
            id: "F03".into(),
            name: "confounder".into(),
            severity: Severity::Warning,
            message: format!("{shown}{more} differ between the runs and may explain the result"),
            remedy: "hold them, or say that systems are compared, not one part of them".into(),
        });
    }
    let experiments: Vec<&str> = sides.iter().map(|s| s.experiment.workload.as_str()).collect();
    if experiments.iter().any(|w| *w != experiments[0]) {
        found.push(Finding {
            id: "F16".into(),
            name: "same-work".into(),
            severity: Severity::Invalid,
            message: format!("the runs did different work: {}", experiments.join(", ")),
            remedy: "compare runs of one workload".into(),
        });
    }
    let params = |s: &Side<'_>| s.experiment.params.clone();
    if sides.iter().any(|s| params(s) != params(&sides[0])) {
        found.push(Finding {
            id: "F16".into(),
            name: "same-work".into(),
            severity: Severity::Warning,
            message: "the runs have different fixed parameters".into(),
            remedy: "see their experiments; if a parameter is what you compare, make it a factor"
                .into(),
        });
    }
    found
}

/// Whether anything came out worse than the first run.
pub fn any_worse(across: &Across) -> bool {
    let mut all = across.rows.iter().flat_map(|r| r.comparisons.iter().flatten());
    all.any(|c| c.verdict == Verdict::Worse)
}
