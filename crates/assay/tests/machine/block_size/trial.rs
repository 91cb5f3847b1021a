//! Runs trials of `block-size` as the lab would, without the lab.
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_model::{
    Better, Curve, Event, Exit, MetricValue, PhaseMark, PlannedTrial, Scalar, TrialOutcome,
    TrialRecord, ValidationResult,
};
use assay_workloads::builtin::block_size::BlockSize;
use assay_workloads::{TrialContext, Workload, WorkloadError};

/// Returns the program that runs as the trial: assay, or the example itself in an example that uses
/// this file.
pub fn assay() -> PathBuf {
    option_env!("CARGO_BIN_EXE_assay")
        .map_or_else(|| std::env::current_exe().expect("a program has a path"), PathBuf::from)
}

/// Returns the default parameters with these changes.
pub fn params(changes: &[(&str, &str)]) -> BTreeMap<String, Scalar> {
    let mut params: BTreeMap<String, Scalar> = BlockSize
        .spec()
        .params
        .iter()
        .filter_map(|p| Some((p.name.clone(), p.default.clone()?)))
        .collect();
    for (name, value) in changes {
        params.insert((*name).to_owned(), Scalar::parse(value));
    }
    params
}

/// Returns the CPUs that this process may use.
pub fn cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).expect("Linux knows the affinity");
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// Runs trial `number` in `dir`, after `previous`, and reads its events.
///
/// # Errors
/// The trial cannot be prepared or launched. If its program fails, the record has that exit.
pub fn trial(
    number: u32,
    params: &BTreeMap<String, Scalar>,
    dir: &Path,
    previous: &[TrialRecord],
) -> Result<TrialRecord, WorkloadError> {
    let exe = assay();
    let cpus = cpus();
    let context = TrialContext {
        number,
        block: 0,
        treatment: 0,
        params,
        cpus: &cpus,
        trial_dir: dir,
        run_dir: dir,
        cache_dir: dir,
        exe: &exe,
        previous,
    };
    let workload = BlockSize;
    workload.check(params)?;
    workload.prepare(&context)?;
    let launch = workload.launch(&context)?;
    let events = dir.join(format!("events-{number}.jsonl"));
    let output = Command::new(&launch.argv[0])
        .args(launch.argv[1..].iter().map(AsRef::<OsStr>::as_ref))
        .env("ASSAY_METRICS", &events)
        .stdin(Stdio::null())
        .output()
        .expect("the trial can be started");
    let text = std::fs::read_to_string(&events).unwrap_or_default();
    let _ = std::fs::remove_file(&events);
    let mut record = empty(number);
    record.error = String::from_utf8_lossy(&output.stderr).into_owned();
    record.exit = output.status.code().map(Exit::Code);
    for line in text.lines() {
        let event = Event::from_line(line).expect("events are of the protocol");
        take(&mut record, event.expect("no empty lines"));
    }
    Ok(record)
}

fn empty(number: u32) -> TrialRecord {
    let planned = PlannedTrial { number, block: number, ..PlannedTrial::default() };
    TrialRecord {
        outcome: TrialOutcome::Completed,
        end_ns: 0,
        ..TrialRecord::blank(&planned, 1, String::new(), 0)
    }
}

fn take(record: &mut TrialRecord, event: Event) {
    match event {
        Event::Phase { phase, t_ns } => {
            record.phases.push(PhaseMark { phase, t_ns: t_ns.unwrap_or(0) });
        }
        Event::Metric { metric, value, unit, better, kind, counted } => {
            record.metrics.push(MetricValue {
                doubt: None,
                benchmark: false,
                counted,
                name: metric,
                value,
                better: better.unwrap_or_else(|| Better::from_unit(&unit)),
                unit,
                kind: kind.unwrap_or_default(),
            });
        }
        Event::Point { curve, x, value, x_name, x_unit, unit, kind } => {
            if let Some(known) = record.curves.iter_mut().find(|c| c.name == curve) {
                known.points.push([x, value]);
            } else {
                let kind = kind.unwrap_or_default();
                record.curves.push(Curve {
                    name: curve,
                    x_name,
                    x_unit,
                    unit,
                    kind,
                    points: vec![[x, value]],
                });
            }
        }
        Event::Note { note } => record.notes.push(note),
        Event::Valid { valid, detail } => {
            record.validation = if valid {
                ValidationResult::Passed { detail }
            } else {
                ValidationResult::Failed { detail }
            };
        }
        Event::Histogram { .. }
        | Event::Heat { .. }
        | Event::Progress { .. }
        | Event::Sample { .. }
        | Event::Finding { .. }
        | Event::Evidence { .. } => {}
    }
}
