//! Runs trials of `block-size` as the lab would, without the lab: this very program stands in for
//! assay, and so brings its own `main`, which is [`main`].
#![allow(dead_code)] // Each of the programs that share this file uses a part of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use assay_model::{
    Better, Curve, Event, Exit, MetricValue, Outcome, PhaseMark, PlannedTrial, Scalar, TrialRecord,
    ValidationResult,
};
use assay_workloads::block_size::BlockSize;
use assay_workloads::{TrialContext, Workload, WorkloadError};
use libtest_mimic::{Arguments, Trial};

/// A name, and what is done under it in a folder of its own.
pub type Test = (&'static str, fn(&Path));

/// Does [`work`]; if there is none, runs the tests, one at a time, with the options and the words of the usual harness.
pub fn main(tests: &[Test]) -> ! {
    work();
    let one = |&(name, test): &Test| {
        Trial::test(name, move || {
            static ALONE: Mutex<()> = Mutex::new(());
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            test(tempfile::tempdir()?.path());
            Ok(())
        })
    };
    let mut arguments = Arguments::from_args();
    // With one thread a test's own output would stand in the line that says how it went.
    arguments.test_threads = Some(2);
    libtest_mimic::run(&arguments, tests.iter().map(one).collect()).exit()
}

/// Does what `assay __work NAME JSON` does and ends, if that is what this program was started for.
pub fn work() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).map(String::as_str) == Some("__work") {
        let text = |i: usize| args.get(i).map_or("", String::as_str);
        std::process::exit(assay_workloads::work::serve(text(2), text(3)));
    }
}

/// The defaults with these changed.
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

/// The CPUs that this process may use.
pub fn cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).expect("Linux knows the affinity");
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// Runs trial `number` in `dir`, after `previous`, and reads its events.
///
/// # Errors
/// Preparing or launching failed. A program that failed is a record with that exit.
pub fn trial(
    number: u32,
    params: &BTreeMap<String, Scalar>,
    dir: &Path,
    previous: &[TrialRecord],
) -> Result<TrialRecord, WorkloadError> {
    let exe = std::env::current_exe().expect("a program has a path");
    let cpus = cpus();
    let context = TrialContext {
        number,
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
        .expect("this program can be started again");
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
        outcome: Outcome::Completed,
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
