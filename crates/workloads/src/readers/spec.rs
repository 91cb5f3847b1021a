//! Common code for the two file formats of SPEC CPU. A benchmark in one tuning (base or peak) is a
//! treatment, and each of its timed runs is a trial. Every number is *quoted*: SPEC's names stay
//! SPEC's, and SPEC's conditions for publishing them become a finding.

use std::collections::BTreeMap;

use crate::readers::prelude::*;
use crate::readers::speccpu::{SpecResult, SpecRun, report, rsf};
use assay_model::{
    Better, MetricKind, MetricSpec, MetricValue, Observation, Scalar, TrialOutcome,
    ValidationResult,
};

pub(crate) fn detect_rsf(bytes: &[u8]) -> bool {
    rsf::detect(&json::head(bytes))
}

pub(crate) fn detect_csv(bytes: &[u8]) -> bool {
    report::detect(&json::head(bytes))
}

pub(crate) fn read_rsf(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    rsf::read(&json::text(bytes)).map(quoted)
}

pub(crate) fn read_csv(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    report::read(&json::text(bytes)).map(quoted)
}

/// Converts a parsed file to quoted numbers.
fn quoted(parsed: SpecResult) -> Vec<ForeignResult> {
    let mut result = empty();
    result.version = parsed.version;
    for run in parsed.runs {
        add(&mut result, run);
    }
    // The overall metrics keep SPEC's own names.
    result.run_metrics.extend(parsed.overall.iter().map(|(name, mean)| {
        MetricValue::new(name, Some(*mean), "1", Better::Higher, MetricKind::Quoted)
    }));
    for (name, value) in &parsed.facts {
        fact(&mut result, name, value);
    }
    if parsed.estimate || parsed.invalid {
        for trial in &mut result.trials {
            trial.evidence.push(Observation::Estimate { invalid: parsed.invalid });
        }
    }
    vec![result]
}

/// Makes a result without runs.
fn empty() -> ForeignResult {
    let quoted = |name: &str, unit: &str, better, help: &str| MetricSpec {
        kind: MetricKind::Quoted,
        ..unit::metric(name, unit, better, help)
    };
    ForeignResult {
        tool: "SPEC CPU",
        workload: "spec-cpu",
        metrics: vec![
            quoted(
                "ratio",
                "1",
                Better::Higher,
                "quoted: SPEC's ratio of the run to its reference",
            ),
            quoted("time", "s", Better::Lower, "quoted: the reported time of the run"),
        ],
        notes: vec![
            "Every number is quoted from a result of SPEC CPU; assay measured none of them. SPEC, \
             SPECrate and SPECspeed are trademarks of the Standard Performance Evaluation \
             Corporation (spec.org), whose fair-use rule lists what must be printed with them."
                .to_owned(),
        ],
        ..ForeignResult::default()
    }
}

fn add(result: &mut ForeignResult, run: SpecRun) {
    let failed = (!run.succeeded()).then(|| run.status_in_words().to_owned());
    let levels = BTreeMap::from([
        (BENCHMARK.to_owned(), Scalar::Text(run.benchmark)),
        ("tune".to_owned(), Scalar::Text(run.tune)),
    ]);
    let params = run.parallel.map(|(name, n)| (name.to_owned(), Scalar::Int(n)));
    let params: BTreeMap<String, Scalar> = params.into_iter().collect();
    let treatment = result.treatment(ForeignTreatment { levels, params });
    let metrics = vec![value(&result.metrics[0], run.ratio), value(&result.metrics[1], run.time)];
    let mut trial = ForeignTrial::new(treatment, metrics);
    if let Some(detail) = failed {
        trial.fail(detail.clone());
        if run.status == "VE" {
            trial.outcome = TrialOutcome::Invalid;
            trial.validation = ValidationResult::Failed { detail };
        }
    } else {
        trial.validation =
            ValidationResult::Passed { detail: "SPEC's tools accepted the output".to_owned() };
    }
    if run.selected {
        trial.notes.push("SPEC's tools selected this run for the result".to_owned());
    }
    result.trials.push(trial);
}

/// Facts of the system description that have a path in assay's: their names in the raw file and in
/// the CSV report, and the path.
const FACTS: [(&str, &str, &str); 5] = [
    ("hw_cpu_name", "cpu name", "cpu.model"),
    ("hw_ncores", "cores", "cpu.cores"),
    ("hw_nchips", "chips", "cpu.sockets"),
    ("hw_model", "hardware model", "dmi.product_name"),
    ("sw_os", "os", "os.name"),
];

/// Stores a fact under its own name and, if it has one, under assay's path.
fn fact(result: &mut ForeignResult, name: &str, value: &str) {
    let slug: String = name
        .trim()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let key = slug.trim_matches('_').to_owned();
    if key.is_empty() {
        return;
    }
    result.fact(&format!("spec.{key}"), value);
    let plain = name.trim().to_lowercase();
    if let Some((.., path)) = FACTS.iter().find(|(raw, csv, _)| *raw == plain || *csv == plain) {
        result.fact(path, value);
    }
}
