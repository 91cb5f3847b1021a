//! Tests of the evidence of an archived run, and of its findings.

use std::collections::BTreeMap;

use assay_checks::{Evidence, RecordedValue, RunMaterial, evaluate, from_run};
use assay_model::{
    Analysis, Better, Checks, Comparison, Design, Experiment, Finding, HistogramSummary,
    LedgerEntry, LedgerEvent, Load, Method, MetricKind, MetricValue, Observation, Order,
    Percentile, Phase, PhaseMark, Plan, PlannedTrial, Profile, Scalar, Setting, Severity, Summary,
    Treatment, TreatmentSummary, TrialOutcome, TrialRecord, ValidationResult, Verdict,
    WorkloadSpec,
};

use super::sound;

struct Run {
    experiment: Experiment,
    plan: Plan,
    records: Vec<TrialRecord>,
    analysis: Analysis,
    ledger: Vec<LedgerEntry>,
}

fn record(trial: &PlannedTrial, value: f64) -> TrialRecord {
    let start = u64::from(trial.number) * 1_000_000_000;
    TrialRecord {
        outcome: TrialOutcome::Completed,
        end_ns: start + 500_000_000,
        metrics: vec![MetricValue::new(
            "elapsed",
            Some(value),
            "s",
            Better::Lower,
            MetricKind::Measured,
        )],
        validation: ValidationResult::Passed { detail: "compared".into() },
        ..TrialRecord::blank(trial, 1, String::new(), start)
    }
}

fn summary(id: u32, values: &[f64]) -> TreatmentSummary {
    TreatmentSummary {
        treatment: id,
        label: format!("threads={}", id + 1),
        metric: "elapsed".into(),
        unit: "s".into(),
        better: Better::Lower,
        summary: Summary { n: values.len() as u32, ..assay_stats::summarize(values, 0.95) },
        values: values.iter().copied().map(Some).collect(),
        percentile: None,
        longer_than: None,
        doubts: Vec::new(),
        virtual_machine: false,
    }
}

/// Builds a run of two alternating treatments in `blocks` blocks.
fn a_run(blocks: u32) -> Run {
    let treatment = |id: u32| Treatment {
        id,
        levels: BTreeMap::from([("threads".to_owned(), Scalar::Int(i64::from(id) + 1))]),
        names: BTreeMap::new(),
        params: BTreeMap::from([("threads".to_owned(), Scalar::Int(i64::from(id) + 1))]),
        controls: Vec::new(),
    };
    let trials: Vec<PlannedTrial> = (0..2 * blocks)
        .map(|i| PlannedTrial {
            number: i + 1,
            block: i / 2,
            treatment: (i + i / 2) % 2,
            warmup: false,
            ..PlannedTrial::default()
        })
        .collect();
    let value = |t: &PlannedTrial| {
        let wobble = 1.0 + 0.01 * f64::from(t.number % 5);
        if t.treatment == 0 { wobble } else { 0.5 * wobble }
    };
    let records: Vec<TrialRecord> = trials.iter().map(|t| record(t, value(t))).collect();
    let of = |id: u32| -> Vec<f64> {
        records.iter().filter(|r| r.treatment == id).filter_map(|r| r.metric("elapsed")).collect()
    };
    let analysis = Analysis {
        metric: "elapsed".into(),
        unit: "s".into(),
        better: Better::Lower,
        confidence: 0.95,
        guest: None,
        summaries: vec![summary(0, &of(0)), summary(1, &of(1))],
        comparisons: vec![Comparison {
            metric: "elapsed".into(),
            unit: "s".into(),
            better: Better::Lower,
            baseline: 0,
            treatment: 1,
            n: blocks,
            ratio: Some(0.5),
            interval: (blocks > 2).then(|| sound::interval(0.48, 0.52)),
            method: Method::PairedT,
            sensitivity: None,
            sensitivity_method: Method::SignedRank,
            detectable: Some(1.02),
            margin: Some(0.05),
            verdict: Verdict::Better,
            reason: String::new(),
        }],
        ranking: Vec::new(),
        benchmarks: Vec::new(),
        family: Vec::new(),
        histograms: Vec::new(),
        curves: Vec::new(),
        scaling: None,
        suite: None,
        run_metrics: Vec::new(),
        floor: None,
        findings: Vec::new(),
        checks: Checks::default(),
    };
    let entry = |seq, event| LedgerEntry { seq, at: String::new(), prev: String::new(), event };
    let planned = LedgerEvent::Planned {
        experiment_sha256: String::new(),
        plan_sha256: String::new(),
        stop_rule: "stop after the blocks".into(),
        assay: "0.1.0".into(),
        files: Vec::new(),
    };
    Run {
        experiment: Experiment {
            schema_version: 1,
            name: "a-run".into(),
            title: String::new(),
            description: String::new(),
            workload: "noop".into(),
            tags: Vec::new(),
            params: BTreeMap::new(),
            controls: BTreeMap::new(),
            result: None,
            source: None,
            factors: BTreeMap::new(),
            design: Design::default(),
            place: assay_model::ExecutionPlace::default(),
            observe: assay_model::Observe::default(),
            compare: assay_model::Compare::default(),
            fitness: assay_model::Fitness::default(),
            on: assay_model::Hooks::default(),
        },
        plan: Plan {
            schema_version: 1,
            workload: WorkloadSpec {
                name: "noop".into(),
                help: String::new(),
                params: Vec::new(),
                metrics: Vec::new(),
                suite: None,
            },
            seed: 1,
            factors: vec!["threads".into()],
            treatments: vec![treatment(0), treatment(1)],
            baseline: 0,
            metric: "elapsed".into(),
            trials,
        },
        records,
        analysis,
        ledger: vec![
            entry(0, planned),
            entry(1, LedgerEvent::TrialStarted { number: 1, attempt: 1 }),
        ],
    }
}

fn evidence(r: &Run) -> Evidence {
    let system = sound::system();
    from_run(&RunMaterial {
        experiment: &r.experiment,
        plan: &r.plan,
        records: &r.records,
        analysis: &r.analysis,
        system: Some(&system),
        ledger: &r.ledger,
    })
}

fn findings(r: &Run) -> Vec<Finding> {
    evaluate(&evidence(r), Profile::Lab).findings
}

fn found(r: &Run, id: &str) -> Option<(Severity, String)> {
    findings(r).into_iter().find(|f| f.id == id).map(|f| (f.severity, f.message))
}

#[test]
fn a_good_run_has_no_finding_and_what_it_lacks_is_named() {
    let r = a_run(8);
    // The archive holds no comparison of identical code.
    let ids: Vec<String> = findings(&r).into_iter().map(|f| f.id).collect();
    assert_eq!(ids, ["F37"]);
    let report = evaluate(&evidence(&r), Profile::Lab);
    let passed: Vec<&str> = report.passed.iter().map(|c| c.id).collect();
    for id in ["F01", "F02", "F03", "F13", "F17", "F28", "F29", "F31", "F32", "F36", "F39", "F40"] {
        assert!(passed.contains(&id), "{id} of {passed:?}");
    }
    let cannot: Vec<&str> = report.cannot_check.iter().map(|c| c.id).collect();
    for id in ["F04", "F11"] {
        assert!(cannot.contains(&id), "{id} of {cannot:?}");
    }
    assert!(matches!(evidence(&r).prices, RecordedValue::Absent(_)));
}

#[test]
fn few_trials_and_a_fixed_order_are_found() {
    assert_eq!(found(&a_run(4), "F28").unwrap().0, Severity::Warning);
    assert_eq!(found(&a_run(2), "F28").unwrap().0, Severity::Invalid);
    let mut r = a_run(8);
    let of = r.records[0].treatment;
    let summaries = r.analysis.summaries.iter_mut();
    summaries.filter(|s| s.treatment == of).for_each(|s| s.summary.n = 1);
    let f = findings(&r).into_iter().find(|f| f.id == "F28").unwrap();
    assert_eq!((f.severity, f.treatments), (Severity::Invalid, vec![of]));
    assert!(
        f.message.starts_with("only 1 trial of ")
            && f.message.ends_with("counts, so it has no interval")
    );
    let mut r = a_run(8);
    r.experiment.design.order = Order::Sequential;
    assert_eq!(found(&r, "F31").unwrap().0, Severity::Warning);
}

#[test]
fn outcomes_are_found() {
    let mut r = a_run(8);
    r.records[3].outcome = TrialOutcome::Invalid;
    let (severity, message) = found(&r, "F17").unwrap();
    assert_eq!(severity, Severity::Invalid);
    let of = r.records[3].treatment;
    let label = r.plan.treatment(of).unwrap().label();
    assert_eq!(message, format!("the output of 1 of 8 trials of {label} failed its check"));
    let about = findings(&r).into_iter().find(|f| f.id == "F17").unwrap().treatments;
    assert_eq!(about, [of], "the other treatment's output was right");
    let mut all = a_run(8);
    all.records.iter_mut().for_each(|r| r.outcome = TrialOutcome::Invalid);
    let f = findings(&all).into_iter().find(|f| f.id == "F17").unwrap();
    assert_eq!(
        (f.message.as_str(), f.treatments.len()),
        ("the output of 16 of 16 trials failed its check", 0)
    );
    r.records[4].outcome = TrialOutcome::Failed;
    r.records[4].error = "exit code 1".into();
    let (severity, message) = found(&r, "F40").unwrap();
    assert_eq!(severity, Severity::Warning);
    assert!(message.starts_with("1 of 16 trials failed"), "{message}");
    let mut r = a_run(8);
    r.records.iter_mut().for_each(|r| r.validation = ValidationResult::ExitCodeOnly);
    assert_eq!(found(&r, "F17").unwrap().0, Severity::Note);
}

#[test]
fn a_change_of_the_system_is_found_and_a_disputed_shape_too() {
    let mut r = a_run(8);
    r.records[5].changed.insert("thp.enabled".into(), "always".into());
    assert_eq!(found(&r, "F13").unwrap().0, Severity::Invalid);
    let mut r = a_run(8);
    r.analysis.comparisons[0].verdict = Verdict::Inconclusive;
    r.analysis.comparisons[0].reason = "the shape of the data decides".into();
    r.analysis.comparisons[0].sensitivity = Some(sound::interval(0.4, 1.1));
    assert!(found(&r, "F42").unwrap().1.contains("the shape of the data decides"));
}

#[test]
fn a_limit_that_stops_one_treatment_more_than_the_other_voids_the_comparison() {
    // `of` returns a trial's throttled periods, of 100, and how often it hit the memory limit.
    let limited = |of: &dyn Fn(&TrialRecord) -> (u64, u64)| {
        let mut r = a_run(8);
        for record in &mut r.records {
            let (stopped, memory) = of(record);
            let seen = Observation::Limited { periods: 100, stopped, stopped_s: 0.1, memory };
            record.evidence.push(seen);
        }
        r
    };
    let f07 = |r: &Run| found(r, "F07").filter(|f| f.1.starts_with("limits of control groups"));
    let one = limited(&|r| (if r.treatment == 1 { 60 } else { 3 }, 0));
    let (severity, message) = f07(&one).unwrap();
    assert_eq!(severity, Severity::Invalid);
    assert!(message.contains("threads=2 in 60 % of periods and threads=1 in 3 %"), "{message}");
    assert!(f07(&limited(&|r| (90 + u64::from(r.treatment), 0))).is_none(), "both alike");
    assert!(f07(&limited(&|r| (if r.number == 1 { 99 } else { 0 }, 0))).is_none(), "one trial");
    let mut memory = limited(&|r| (0, u64::from(r.treatment)));
    assert_eq!(f07(&memory).unwrap().0, Severity::Invalid);
    // A limit that the experiment sets is the subject of the measurement.
    let setting = || Setting {
        control: "memory".into(),
        key: String::new(),
        value: Scalar::Text("64 MiB".into()),
    };
    memory.plan.treatments.iter_mut().for_each(|t| t.controls.push(setting()));
    assert!(f07(&memory).is_none());
}

#[test]
fn nodes_that_were_never_steady_together_say_nothing_of_the_clock() {
    let mut r = a_run(8);
    let clock = Observation::Clock { resolution: 1e-9, overhead: 5e-8 };
    r.records.iter_mut().for_each(|r| r.evidence.push(clock.clone()));
    let passes =
        |r: &Run| evaluate(&evidence(r), Profile::Lab).passed.iter().any(|c| c.id == "F15");
    assert!(passes(&r));
    // The last node reached its steady phase after the first had left it.
    let mark = |phase, t_ns| PhaseMark { phase, t_ns };
    for record in &mut r.records {
        record.phases = vec![mark(Phase::Steady, 2_000), mark(Phase::RampDown, 1_000)];
    }
    assert_eq!(found(&r, "F15"), None);
    assert!(!passes(&r));
}

#[test]
fn a_ledger_that_is_not_read_cannot_speak() {
    let mut r = a_run(8);
    r.ledger.clear();
    let report = evaluate(&evidence(&r), Profile::Lab);
    assert!(report.cannot_check.iter().any(|c| c.id == "F39"));
}

#[test]
fn percentiles_of_merged_histograms_are_counted() {
    let status = |r: &Run, id: &str| {
        let report = evaluate(&evidence(r), Profile::Lab);
        let of = |found: bool, word: &'static str| found.then_some(word);
        of(report.passed.iter().any(|c| c.id == id), "passed")
            .or(of(report.findings.iter().any(|f| f.id == id), "found"))
            .or(of(report.cannot_check.iter().any(|c| c.id == id), "cannot check"))
    };
    let percentile = |samples: u64, value: Option<f64>| Percentile {
        quantile: 0.99,
        metric: Some("p99".into()),
        value,
        samples,
        beyond: samples / 100,
        trials: 8,
        load: Some(Load::Open),
        withheld: String::new(),
    };
    let with = |p: Percentile| {
        let mut r = a_run(8);
        r.analysis.histograms.push(HistogramSummary {
            treatment: 0,
            label: "threads=1".into(),
            name: "response_time".into(),
            unit: "s".into(),
            at: None,
            minimum: Some(1e-6),
            maximum: Some(1.0),
            timed_out: 0,
            percentiles: vec![p],
        });
        r
    };
    let enough = with(percentile(1000, Some(0.1)));
    assert_eq!((status(&enough, "F23"), status(&enough, "F24")), (Some("passed"), Some("passed")));
    let few = with(percentile(999, Some(0.1)));
    assert_eq!(found(&few, "F24").unwrap().0, Severity::Invalid);
    // A withheld percentile is not stated.
    let withheld = with(percentile(999, None));
    assert_eq!(status(&withheld, "F24"), None);
    let unknown = with(Percentile { load: None, ..percentile(1000, Some(0.1)) });
    assert_eq!(status(&unknown, "F23"), Some("cannot check"));
}
