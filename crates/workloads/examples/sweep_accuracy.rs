//! Measures the accuracy of the sweep of `block-size` on this machine:
//!
//! 1. The sweep of the ready-made experiment: six blocks of one trial with one process and one with
//!    two, 4 s each, in random order. After each block a fresh process measures random sizes that
//!    were drawn before, so that drift of the machine affects both alike; its time does not count
//!    as the sweep's.
//! 2. The fresh measurement (the median of those six processes, as the curve's level is that of
//!    several trials) at 200 of these sizes that the sweep did not visit, compared with the
//!    prediction of the curve. Printed: the share within 5 %, and the same for each fresh process
//!    alone, which differs from the others by the placement of its memory and by the minute.
//! 3. A run at 4,096 sizes, every 25 B, 20 ms each. Then ten trials measure together again: the
//!    optimum of the sweep, the size with the highest value in that run, and the size at which a
//!    curve through that run is highest. Only this second measurement is fair, because the highest
//!    of 4,096 noisy values is biased upwards. Printed: the ratios with their intervals (Student on
//!    the paired logarithms).
//!
//! `cargo run -p assay-workloads --example sweep_accuracy`; it takes about 4 minutes.
// This program prints its results for a person to read.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../../assay/tests/machine/block_size/trial.rs"]
mod trial;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use assay_model::{TrialRecord, units};
use assay_stats::rng::Rng;
use assay_stats::summary::{logs, mean_interval, median};
use assay_workloads::builtin::block_size::CurveModel;
use trial::{params, trial};

const BLOCKS: u32 = 6;
const FRESH: usize = 200;
/// More sizes are drawn, because the sweep will visit a few of them.
const DRAWN: usize = 230;
const EXHAUSTIVE: u64 = 4096;
const AGAIN: u32 = 10;

fn main() {
    // The trials are this program, started again.
    let args: Vec<String> = std::env::args().collect();
    if let [_, work, name, parameters] = &args[..]
        && work == "__work"
    {
        std::process::exit(assay_workloads::builtin::table::serve(name, parameters));
    }
    let seed = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let mut drawn = BTreeSet::new();
    while drawn.len() < DRAWN {
        drawn.insert(1 + rng.below(102_400) as u64);
    }
    let mut drawn: Vec<u64> = drawn.into_iter().collect();
    rng.shuffle(&mut drawn);
    let (one, again) = sweep(dir.path(), &mut rng, &drawn);
    let curves: Vec<Vec<[f64; 2]>> =
        one.iter().map(|r| r.curve("throughput").unwrap().points.clone()).collect();
    let model = CurveModel::fit(&curves);
    let visited: BTreeSet<u64> = model.visited().iter().copied().collect();
    let (optimum, prediction) = model.best().unwrap();
    println!(
        "   {} sizes visited; best {optimum} B: {} ({} to {})",
        visited.len(),
        rate(prediction.value),
        rate(prediction.low),
        rate(prediction.high)
    );
    fresh(&again, &model, &visited, &drawn);
    exhaustive(dir.path(), optimum);
}

fn rate(value: f64) -> String {
    units::format_value(value, "B/s")
}

/// Returns the load of the machine: the share of time in which some task waited for a CPU.
fn pressure() -> String {
    let text = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    text.split_whitespace().nth(1).unwrap_or("unknown").replace("avg10=", "") + " %"
}

fn one_trial(
    number: u32,
    changes: &[(&str, &str)],
    dir: &Path,
    previous: &[TrialRecord],
) -> TrialRecord {
    let record = trial(number, &params(changes), dir, previous).unwrap();
    assert!(record.metric("throughput").is_some(), "{}", record.error);
    record
}

/// Returns the records of the sweep with one process, and of the fresh processes between its
/// blocks.
fn sweep(dir: &Path, rng: &mut Rng, drawn: &[u64]) -> (Vec<TrialRecord>, Vec<TrialRecord>) {
    let mut took = Duration::ZERO;
    let mut records = [Vec::new(), Vec::new()];
    let mut fresh = Vec::new();
    println!("1. the sweep (CPU pressure before it: {})", pressure());
    for block in 0..BLOCKS {
        let mut order = [0, 1];
        rng.shuffle(&mut order);
        for (place, &i) in order.iter().enumerate() {
            let number = 2 * block + place as u32 + 1;
            let changes = [("processes", ["1", "2"][i])];
            let start = Instant::now();
            let record = one_trial(number, &changes, dir, &records[i]);
            took += start.elapsed();
            println!(
                "   block {block}, {} process(es): {} sizes, {}, left out {:.1} %",
                i + 1,
                record.curve("throughput").unwrap().points.len(),
                rate(record.metric("throughput").unwrap()),
                100.0 * record.metric("excluded_fraction").unwrap()
            );
            records[i].push(record);
        }
        let changes = [("buffer_size", list(drawn)), ("min_time", "15 ms".into())];
        let changes: Vec<(&str, &str)> = changes.iter().map(|(k, v)| (*k, v.as_str())).collect();
        // It reports no `throughput`, which is over powers of two.
        fresh.push(trial(100 + block, &params(&changes), dir, &[]).unwrap());
    }
    println!("   took {} without the fresh processes", units::format_duration(took));
    let [one, _] = records;
    (one, fresh)
}

fn list(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn fresh(again: &[TrialRecord], model: &CurveModel, visited: &BTreeSet<u64>, drawn: &[u64]) {
    let sizes: Vec<u64> =
        drawn.iter().copied().filter(|s| !visited.contains(s)).take(FRESH).collect();
    println!("2. {} random sizes that were not visited", sizes.len());
    let at = |record: &TrialRecord, size: u64| {
        let points = &record.curve("throughput").unwrap().points;
        points.iter().find(|p| p[0] == size as f64).map(|p| p[1])
    };
    let errors = |records: &[TrialRecord]| -> Vec<f64> {
        let of = |size: &u64| {
            let values: Vec<f64> = records.iter().filter_map(|r| at(r, *size)).collect();
            Some(median(&values)? / model.predict(*size)?.value - 1.0)
        };
        let mut errors: Vec<f64> = sizes.iter().filter_map(of).collect();
        errors.sort_by(f64::total_cmp);
        errors
    };
    let within = |e: &[f64]| e.iter().filter(|e| e.abs() <= 0.05).count();
    let all = errors(again);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize] * 100.0;
    println!(
        "   within 5 %: {} of {} ({:.1} %); fresh/curve - 1: median {:+.2} %, \
         5th to 95th percentile {:+.2} to {:+.2} %",
        within(&all),
        all.len(),
        100.0 * within(&all) as f64 / all.len() as f64,
        at(0.5),
        at(0.05),
        at(0.95),
    );
    for (block, record) in again.iter().enumerate() {
        let alone = errors(std::slice::from_ref(record));
        println!(
            "   the process after block {block} alone: {} of {}, median {:+.2} %",
            within(&alone),
            alone.len(),
            100.0 * alone[alone.len() / 2]
        );
    }
}

fn exhaustive(dir: &Path, optimum: u64) {
    println!("3. {EXHAUSTIVE} sizes, exhaustively (CPU pressure: {})", pressure());
    let sizes: Vec<u64> = (1..=EXHAUSTIVE).map(|k| 25 * k).collect();
    let changes = [("buffer_size", list(&sizes)), ("min_time", "20 ms".into())];
    let changes: Vec<(&str, &str)> = changes.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let record = one_trial(200, &changes, dir, &[]);
    let points = record.curve("throughput").unwrap().points.clone();
    let highest = points.iter().max_by(|a, b| a[1].total_cmp(&b[1])).unwrap();
    let (smooth, _) = CurveModel::fit(std::slice::from_ref(&points)).best().unwrap();
    println!("   highest {} B ({}), on the curve {smooth} B", highest[0], rate(highest[1]));
    let others = [("the highest", highest[0] as u64), ("the best of the curve", smooth)];
    let mut ratios = [Vec::new(), Vec::new()];
    println!("   again, side by side (CPU pressure: {})", pressure());
    for number in 0..AGAIN {
        let sizes = list(&[optimum, others[0].1, others[1].1]);
        let changes = [("buffer_size", sizes.as_str()), ("min_time", "300 ms")];
        let record = one_trial(300 + number, &changes, dir, &[]);
        let points = &record.curve("throughput").unwrap().points;
        let at = |size: u64| points.iter().find(|p| p[0] == size as f64).unwrap()[1];
        for (ratios, (_, size)) in ratios.iter_mut().zip(others) {
            ratios.push(at(optimum) / at(size));
        }
    }
    for (ratios, (name, size)) in ratios.iter().zip(others) {
        let of = logs(ratios).unwrap();
        let mean = (of.iter().sum::<f64>() / of.len() as f64).exp();
        let text = match mean_interval(&of, 0.95) {
            Some(i) => units::ratio(mean, i.low.exp(), i.high.exp()).to_string(),
            None => format!("{mean:.3}"),
        };
        println!("   optimum {optimum} B by {name} of the exhaustive run, {size} B: {text}");
    }
}
