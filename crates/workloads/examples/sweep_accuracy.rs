//! How good the sweep of `block-size` is on this machine, measured against itself:
//!
//! 1. The sweep of the ready-made experiment: six blocks of one trial with one process and one with
//!    two, 4 s each, in random order.
//! 2. A fresh measurement, in a process of its own, at 200 random sizes that the sweep did not visit, with
//!    one process. Printed: the share of them within 5 % of what the curve says.
//! 3. A run at 4,096 sizes, every 25 B, 20 ms each. Then the optimum of the sweep, the size with the
//!    highest value in that run, and the size at which a curve through that run is highest are measured
//!    again side by side in ten trials: the highest of 4,096 noisy values is too high, so only a second
//!    look is fair. Printed: the ratios with their intervals (Student on the paired logarithms).
//!
//! `cargo run -p assay-workloads --example sweep_accuracy`; it takes about 4 minutes.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // It is a program for a person to read.

#[path = "../tests/block_size_run/mod.rs"]
mod block_size_run;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use assay_model::{TrialRecord, units};
use assay_stats::rng::Rng;
use assay_stats::summary::{logs, mean_interval};
use assay_workloads::block_size::CurveModel;
use block_size_run::{params, trial};

const BLOCKS: u32 = 6;
const FRESH: usize = 200;
const EXHAUSTIVE: u64 = 4096;
const AGAIN: u32 = 10;

fn main() {
    block_size_run::work();
    let seed = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let one = sweep(dir.path(), &mut rng);
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
    fresh(dir.path(), &model, &visited, &mut rng);
    exhaustive(dir.path(), optimum);
}

fn rate(value: f64) -> String {
    units::format_value(value, "B/s")
}

/// How busy the machine is with other things: the share of time that some task waited for a CPU.
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

fn sweep(dir: &Path, rng: &mut Rng) -> Vec<TrialRecord> {
    let start = Instant::now();
    let mut records = [Vec::new(), Vec::new()];
    println!("1. the sweep (CPU pressure before it: {})", pressure());
    for block in 0..BLOCKS {
        let mut order = [0, 1];
        rng.shuffle(&mut order);
        for (place, &i) in order.iter().enumerate() {
            let number = 2 * block + place as u32 + 1;
            let changes = [("processes", ["1", "2"][i])];
            let record = one_trial(number, &changes, dir, &records[i]);
            println!(
                "   block {block}, {} process(es): {} sizes, {}, left out {:.1} %",
                i + 1,
                record.curve("throughput").unwrap().points.len(),
                rate(record.metric("throughput").unwrap()),
                100.0 * record.metric("left_out").unwrap()
            );
            records[i].push(record);
        }
    }
    println!("   took {}", units::format_duration(start.elapsed()));
    let [one, _] = records;
    one
}

fn list(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn fresh(dir: &Path, model: &CurveModel, visited: &BTreeSet<u64>, rng: &mut Rng) {
    println!("2. {FRESH} random sizes that were not visited (CPU pressure: {})", pressure());
    let mut sizes = BTreeSet::new();
    while sizes.len() < FRESH {
        let size = 1 + rng.below(102_400) as u64;
        if !visited.contains(&size) {
            sizes.insert(size);
        }
    }
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let record = one_trial(100, &[("buffer_size", &list(&sizes)), ("min_time", "40 ms")], dir, &[]);
    let mut errors: Vec<f64> = record
        .curve("throughput")
        .unwrap()
        .points
        .iter()
        .map(|p| p[1] / model.predict(p[0] as u64).unwrap().value - 1.0)
        .collect();
    errors.sort_by(f64::total_cmp);
    let within = errors.iter().filter(|e| e.abs() <= 0.05).count();
    let at = |share: f64| errors[((errors.len() - 1) as f64 * share) as usize] * 100.0;
    println!(
        "   within 5 %: {within} of {} ({:.1} %); fresh/curve - 1: median {:+.2} %, \
         5th to 95th percentile {:+.2} to {:+.2} %, left out {:.1} %",
        errors.len(),
        100.0 * within as f64 / errors.len() as f64,
        at(0.5),
        at(0.05),
        at(0.95),
        100.0 * record.metric("left_out").unwrap()
    );
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
            Some(i) => units::format_ratio(mean, i.low.exp(), i.high.exp()),
            None => format!("{mean:.3}"),
        };
        println!("   optimum {optimum} B by {name} of the exhaustive run, {size} B: {text}");
    }
}
