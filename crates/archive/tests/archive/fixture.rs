//! A small experiment: two treatments, blocks of two trials.

use std::collections::BTreeMap;

use assay_archive::{Archive, NewRun, RunReader, RunWriter};
use assay_model::{
    Better, LedgerEvent, MetricKind, MetricSpec, MetricValue, Plan, PlannedTrial, RunId, RunState,
    SCHEMA_VERSION, SampleRow, SampleSet, Scalar, SeriesKey, StreamSummary, SystemDescription,
    Treatment, TrialOutcome, TrialRecord, ValidationResult, WorkloadSpec,
};
use assay_system::redact::CleanRecord;

pub const EXPERIMENT: &str = "name = \"block-size\"\nworkload = \"stream\"\n";

/// Makes an empty archive in a temporary folder.
pub fn archive() -> (tempfile::TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path().join("archive")).unwrap();
    (folder, archive)
}

/// Returns the number of the next attempt of a trial: 1, or one more than the latest attempt that
/// was started, whether or not it ended.
pub fn next_attempt(run: &RunReader, number: u32) -> u32 {
    let attempts = run.ledger().iter().filter_map(|entry| match entry.event {
        LedgerEvent::TrialStarted { number: n, attempt }
        | LedgerEvent::TrialEnded { number: n, attempt, .. } => (n == number).then_some(attempt),
        _ => None,
    });
    attempts.max().unwrap_or(0) + 1
}

pub fn plan(trials: u32) -> Plan {
    let treatment = |id: u32, size: i64| Treatment {
        id,
        levels: BTreeMap::from([("size".to_owned(), Scalar::Int(size))]),
        names: BTreeMap::new(),
        params: BTreeMap::new(),
        controls: Vec::new(),
    };
    Plan {
        schema_version: SCHEMA_VERSION,
        workload: WorkloadSpec {
            name: "stream".into(),
            help: "Copies memory.".into(),
            params: Vec::new(),
            metrics: vec![MetricSpec {
                name: "throughput".into(),
                unit: "B/s".into(),
                better: Better::Higher,
                kind: MetricKind::Measured,
                help: "Bytes a second.".into(),
                merge: None,
                counted: false,
            }],
            suite: None,
        },
        seed: 7,
        factors: vec!["size".into()],
        treatments: vec![treatment(0, 4096), treatment(1, 8192)],
        baseline: 0,
        metric: "throughput".into(),
        trials: (1..=trials)
            .map(|number| PlannedTrial {
                number,
                block: (number - 1) / 2,
                treatment: (number - 1) % 2,
                warmup: false,
                ..PlannedTrial::default()
            })
            .collect(),
    }
}

pub fn record(number: u32, attempt: u32) -> TrialRecord {
    let planned = PlannedTrial {
        number,
        block: (number - 1) / 2,
        treatment: (number - 1) % 2,
        ..PlannedTrial::default()
    };
    let started_at = "2026-11-21T09:30:00.000Z".into();
    let start_ns = 1_000_000 * u64::from(number);
    TrialRecord {
        outcome: TrialOutcome::Completed,
        end_ns: 1_000_000 * u64::from(number) + 900_000,
        metrics: vec![MetricValue::new(
            "throughput",
            Some(f64::from(number) * 1e9),
            "B/s",
            Better::Higher,
            MetricKind::Measured,
        )],
        validation: ValidationResult::ExitCodeOnly,
        stdout: StreamSummary { bytes: 5, kept: 5 },
        notes: vec![format!("trial {number}, attempt {attempt}")],
        ..TrialRecord::blank(&planned, attempt, started_at, start_ns)
    }
}

pub fn samples(number: u32) -> SampleSet {
    let series = |subject: &str| SeriesKey {
        monitor: "cpu".into(),
        subject: subject.into(),
        field: "user".into(),
        unit: "%".into(),
    };
    SampleSet {
        series: vec![series("all"), series("cpu0")],
        rows: (0..20)
            .map(|i| SampleRow {
                t_ns: u64::from(number) * 1000 + i / 2,
                series: (i % 2) as u32,
                value: i as f64,
            })
            .collect(),
    }
}

pub fn create(archive: &Archive, name: &str, tags: &[String]) -> RunWriter {
    let system = SystemDescription {
        schema_version: SCHEMA_VERSION,
        taken_at: "2026-11-21T09:30:00Z".into(),
        facts: BTreeMap::new(),
    };
    archive
        .create_run(&NewRun {
            experiment_toml: EXPERIMENT,
            plan: &plan(8),
            system: &system,
            host: "lab1",
            experiment_name: name,
            workload: "stream",
            tags,
            stop_rule: "after 4 blocks",
        })
        .unwrap()
}

/// Writes a trial without files of a workload.
pub fn write_trial(
    run: &mut RunWriter,
    record: &TrialRecord,
    stdout: &[u8],
    stderr: &[u8],
    samples: Option<&SampleSet>,
) -> assay_archive::Result<()> {
    run.write_trial(&CleanRecord::new(record.clone(), None), stdout, stderr, samples, &[])
}

/// Writes a trial that prints `hello` and has samples.
pub fn write(run: &mut RunWriter, number: u32, attempt: u32) -> assay_archive::Result<()> {
    run.ledger(LedgerEvent::TrialStarted { number, attempt })?;
    write_trial(run, &record(number, attempt), b"hello", b"", Some(&samples(number)))
}

/// Makes a completed run with this number of trials, each with one attempt.
pub fn completed(archive: &Archive, name: &str, tags: &[String], trials: u32) -> RunId {
    let mut run = create(archive, name, tags);
    let id = run.id().clone();
    for number in 1..=trials {
        write(&mut run, number, 1).unwrap();
    }
    run.finish(RunState::Completed, "done").unwrap();
    id
}
