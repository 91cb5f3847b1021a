//! What the workload says that dd would report, against the real dd.
//!
//! Seven rounds; in each, dd reads the file once or more at five sizes, and one trial measures the same
//! sizes. Two things must hold at every size:
//!
//! * The 95 % interval (Student, on the logarithms of the paired ratios) of `predicted / dd` meets
//!   1/3 to 3. How close the two come is measured in bench/, on a quiet machine.
//! * The best of the predictions by the best of dd's is between 1/3 and 3. Interference only ever slows, so
//!   the best of several runs is nearly free of it; a wrong unit or a formula turned round
//!   is off by far more.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // It is its own test harness.

mod block_size_run;

use std::path::Path;
use std::process::Command;

use assay_stats::summary::{logs, mean_interval};
use block_size_run::{params, trial};

const SIZES: [u64; 5] = [512, 4096, 16384, 65536, 102_400];
const ROUNDS: u32 = 7;

fn main() {
    block_size_run::work();
    if let Err(error) = Command::new("dd").arg("--version").output() {
        println!("skipped: because dd cannot be run ({error})");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let params = params(&[
        ("file_size", "32 MiB"),
        ("buffer_size", "512, 4096, 16384, 65536, 102400"),
        ("min_time", "20 ms"),
    ]);
    let mut predicted = vec![Vec::new(); SIZES.len()];
    let mut reported = vec![Vec::new(); SIZES.len()];
    for round in 1..=ROUNDS {
        let record = trial(round, &params, dir.path(), &[]).unwrap();
        let curve = record.curve("dd").unwrap_or_else(|| panic!("no curve: {record:?}"));
        let file = dir.path().join("assay-block-size.data");
        for (i, size) in SIZES.into_iter().enumerate() {
            let point = curve.points.iter().find(|p| p[0] == size as f64).unwrap();
            predicted[i].push(point[1]);
            reported[i].push(dd(&file, size));
        }
    }
    for (i, size) in SIZES.into_iter().enumerate() {
        let ratios: Vec<f64> = predicted[i].iter().zip(&reported[i]).map(|(p, d)| p / d).collect();
        let interval = mean_interval(&logs(&ratios).unwrap(), 0.95).unwrap();
        let (low, high) = (interval.low.exp(), interval.high.exp());
        let best = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let best_ratio = best(&predicted[i]) / best(&reported[i]);
        println!("{size} B: predicted/dd {low:.3}..{high:.3}, of the best {best_ratio:.3}");
        // How close they come is measured in bench/; here a formula that is wrong would be off by far more.
        assert!(low <= 3.0 && high >= 1.0 / 3.0, "{size} B: {ratios:?}");
        assert!((1.0 / 3.0..3.0).contains(&best_ratio), "{size} B: {predicted:?} {reported:?}");
    }
    println!("test the_curve_dd_is_what_dd_reports ... ok");
}

/// What dd says of reading about 0.1 s worth of `file`, bytes per second.
fn dd(file: &Path, size: u64) -> f64 {
    // As far as possible from the file's end at small sizes, the whole file at large ones.
    let count = (200_000_000 / size).min((32 << 20) / size).min(200_000);
    let output = Command::new("dd")
        .env("LC_ALL", "C")
        .arg(format!("if={}", file.display()))
        .args(["of=/dev/null", &format!("bs={size}"), &format!("count={count}")])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // `33554432 bytes (34 MB, 32 MiB) copied, 0.0123 s, 2.7 GB/s`
    let line = said.lines().find(|l| l.contains(" bytes")).unwrap_or_else(|| panic!("{said}"));
    let bytes: f64 = line.split(' ').next().unwrap().parse().unwrap();
    let copied = line.split_once("copied, ").unwrap_or_else(|| panic!("{said}")).1;
    let seconds: f64 = copied.split(' ').next().unwrap().parse().unwrap();
    bytes / seconds
}
