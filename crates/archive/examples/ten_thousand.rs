//! Measures the cost of archiving: of a trial while a run is written, and of listing and showing in
//! an archive of 10,000 runs. The archives are made in a temporary folder; `--runs N` sets the
//! number of runs, `--keep DIR` a folder in which the large archive is kept.

// Examples print their measurements and stop at the first failure.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use assay_archive::{Archive, NewRun, RunWriter, Search};
use assay_model::{
    Better, LedgerEvent, MetricKind, MetricValue, Plan, PlannedTrial, RunState, SCHEMA_VERSION,
    SystemDescription, Treatment, TrialOutcome, TrialRecord, ValidationResult, WorkloadSpec, units,
};
use assay_system::redact::CleanRecord;

const REPEATS: usize = 51;

fn main() {
    let mut words = std::env::args().skip_while(|a| a != "--runs").skip(1);
    let runs: usize = words.next().map_or(10_000, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();

    let archive = Archive::open(folder.path().join("one")).unwrap();
    for (name, log, trials) in
        [("that prints nothing", &b""[..], 10_000), ("that prints a line", b"done\n", 1000)]
    {
        let mut run = create(&archive, 0);
        let mut times = Vec::new();
        let begin = Instant::now();
        for number in 1..=trials {
            let start = Instant::now();
            write(&mut run, number, log);
            times.push(start.elapsed());
        }
        run.finish(RunState::Completed, "done").unwrap();
        let mean = begin.elapsed() / trials;
        let middle = middle(&mut times);
        println!("a trial {name}: median {middle}, mean with finish {}", show(mean));
    }

    let kept = std::env::args().skip_while(|a| a != "--keep").nth(1);
    let place = kept.map_or_else(|| folder.path().join("many"), std::path::PathBuf::from);
    let archive = Archive::open(place).unwrap().unflushed();
    let begin = Instant::now();
    for n in 0..runs {
        let mut run = create(&archive, n);
        for number in 1..=2 {
            write(&mut run, number, b"");
        }
        run.finish(RunState::Completed, "done").unwrap();
    }
    println!("{runs} runs of 2 trials made in {}", show(begin.elapsed()));
    let begin = Instant::now();
    assert_eq!(archive.list(&Search::default()).unwrap().len(), runs);
    println!("first list (makes the index): {}", show(begin.elapsed()));

    let all = Search::default();
    let page = Search { limit: Some(50), ..Search::default() };
    let text = Search { text: Some("experiment-77".into()), ..Search::default() };
    for (name, filter) in [("list all", &all), ("list 50", &page), ("list by text", &text)] {
        let mut times = repeat(|| archive.list(filter).unwrap().len());
        println!("{name}: median {}", middle(&mut times));
    }
    let begin = Instant::now();
    assert_eq!(archive.verify(None).unwrap(), []);
    println!("verify of all {runs}: {}", show(begin.elapsed()));
    let id = archive.list(&all).unwrap()[runs / 2].id.clone();
    let mut times = repeat(|| {
        let run = archive.run(&archive.resolve(id.as_str()).unwrap()).unwrap();
        (run.summary().unwrap(), run.records().unwrap().len())
    });
    println!("show (resolve, summary, records): median {}", middle(&mut times));
    let mut times = repeat(|| archive.resolve("last").unwrap());
    println!("resolve last: median {}", middle(&mut times));
}

fn repeat<T>(mut what: impl FnMut() -> T) -> Vec<Duration> {
    (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(what());
            start.elapsed()
        })
        .collect()
}

fn middle(times: &mut [Duration]) -> String {
    times.sort();
    show(times[times.len() / 2])
}

fn show(time: Duration) -> String {
    units::format_value(time.as_secs_f64(), "s")
}

fn create(archive: &Archive, n: usize) -> RunWriter {
    let system = SystemDescription {
        schema_version: SCHEMA_VERSION,
        taken_at: "2026-11-21T09:30:00Z".into(),
        facts: BTreeMap::new(),
    };
    let treatment = |id| Treatment {
        id,
        levels: BTreeMap::new(),
        names: BTreeMap::new(),
        params: BTreeMap::new(),
        controls: Vec::new(),
    };
    let trial = |number| PlannedTrial {
        number,
        block: (number - 1) / 2,
        treatment: (number - 1) % 2,
        warmup: false,
        ..PlannedTrial::default()
    };
    let plan = Plan {
        schema_version: SCHEMA_VERSION,
        workload: WorkloadSpec {
            name: "command".into(),
            help: "Runs a command.".into(),
            params: Vec::new(),
            metrics: Vec::new(),
            suite: None,
        },
        seed: n as u64,
        factors: Vec::new(),
        treatments: vec![treatment(0), treatment(1)],
        baseline: 0,
        metric: "elapsed".into(),
        trials: (1..=2).map(trial).collect(),
    };
    archive
        .create_run(&NewRun {
            experiment_toml: "name = \"command\"\nworkload = \"command\"\n",
            plan: &plan,
            system: &system,
            host: "lab1",
            experiment_name: &format!("experiment-{}", n % 100),
            workload: "command",
            tags: &["nightly".to_owned()],
            stop_rule: "after 1 block",
        })
        .unwrap()
}

fn write(run: &mut RunWriter, number: u32, stdout: &[u8]) {
    run.ledger(LedgerEvent::TrialStarted { number, attempt: 1 }).unwrap();
    let metric = |name: &str, value: f64| {
        MetricValue::new(name, Some(value), "s", Better::Lower, MetricKind::Measured)
    };
    let planned = PlannedTrial {
        number,
        block: (number - 1) / 2,
        treatment: (number - 1) % 2,
        ..PlannedTrial::default()
    };
    let started_at = "2026-11-21T09:30:00.000Z".into();
    let record = TrialRecord {
        outcome: TrialOutcome::Completed,
        end_ns: 2_000_000,
        metrics: vec![metric("elapsed", 0.001), metric("user", 0.0005), metric("system", 0.0004)],
        validation: ValidationResult::ExitCodeOnly,
        ..TrialRecord::blank(&planned, 1, started_at, 1_000_000)
    };
    run.write_trial(&CleanRecord::new(record, None), stdout, b"", None, &[]).unwrap();
}
