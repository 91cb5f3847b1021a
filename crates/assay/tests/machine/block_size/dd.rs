//! Compares the throughput that the workload predicts for dd with the real dd.
//!
//! In each of seven rounds, dd reads the file at five sizes, and one trial measures the same sizes.
//! Two conditions must hold at every size:
//!
//! * The 95 % interval (Student, on the logarithms of the paired ratios) of `predicted / dd`
//!   overlaps 0.7 to 1.4.
//! * The median of the paired ratios is between 0.6 and 1.7; a wrong unit or an inverted formula is
//!   off by far more. The ratio of the best values is not used, because a clock that rises in one
//!   round of seven would decide it.
//!
//! The bounds come from the machine, not from the formula: one dd takes 5 ms, and a machine that
//! was idle before reads half as fast in its first 50 ms as later (its clock rises, and the file
//! comes back into the caches). So dd runs repeatedly until the machine is awake, and only runs
//! whose CPU ran no other program count, as in a trial.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_stats::summary::{logs, mean_interval, median};
use assay_system::process::{Limits, ProgramSpec, Runner};
use assay_testing::alone;

use super::trial::{params, trial};

const SIZES: [u64; 5] = [512, 4096, 16384, 65536, 102_400];
const ROUNDS: u32 = 7;
/// Time for which dd runs repeatedly before its results count.
const AWAKE: Duration = Duration::from_millis(150);
/// Number of undisturbed runs of dd whose median is one value.
const COUNTED: usize = 9;
/// Maximum number of runs of dd for one value.
const TRIED: usize = 200;

#[test]
fn the_curve_dd_is_what_dd_reports() {
    let (_alone, folder) = (alone(), tempfile::tempdir().unwrap());
    let dir = folder.path();
    if let Err(error) = Command::new("dd").arg("--version").output() {
        println!("skipped: because dd cannot be run ({error})");
        return;
    }
    let params = params(&[
        ("file_size", "32 MiB"),
        ("buffer_size", "512, 4096, 16384, 65536, 102400"),
        ("min_time", "60 ms"),
    ]);
    let mut predicted = vec![Vec::new(); SIZES.len()];
    let mut reported = vec![Vec::new(); SIZES.len()];
    for round in 1..=ROUNDS {
        let record = trial(round, &params, dir, &[]).unwrap();
        let curve = record.curve("dd").unwrap_or_else(|| panic!("no curve: {record:?}"));
        let file = dir.join("assay-block-size.data");
        for (i, size) in SIZES.into_iter().enumerate() {
            let point = curve.points.iter().find(|p| p[0] == size as f64).unwrap();
            predicted[i].push(point[1]);
            let Some(rate) = dd_awake(&file, size) else {
                println!("skipped: because other programs took the CPU in nearly every run of dd");
                return;
            };
            reported[i].push(rate);
        }
    }
    for (i, size) in SIZES.into_iter().enumerate() {
        let ratios: Vec<f64> = predicted[i].iter().zip(&reported[i]).map(|(p, d)| p / d).collect();
        let interval = mean_interval(&logs(&ratios).unwrap(), 0.95).unwrap();
        let (low, high) = (interval.low.exp(), interval.high.exp());
        let middle = median(&ratios).unwrap();
        println!("{size} B: predicted/dd {low:.3}..{high:.3}, median {middle:.3}");
        assert!(low <= 1.4 && high >= 0.7, "{size} B: {ratios:?}");
        assert!((0.6..1.7).contains(&middle), "{size} B: {predicted:?} {reported:?}");
    }
}

/// Returns dd's reported throughput for reading `file` on a machine that is awake, in bytes per
/// second, or `None` if too many runs were disturbed.
fn dd_awake(file: &Path, size: u64) -> Option<f64> {
    let began = Instant::now();
    while began.elapsed() < AWAKE {
        dd(file, size);
    }
    let undisturbed = (0..TRIED).filter_map(|_| dd(file, size)).take(COUNTED);
    let counted: Vec<f64> = undisturbed.collect();
    (counted.len() == COUNTED).then(|| median(&counted)).flatten()
}

/// Returns dd's reported throughput for reading some 4 ms worth of `file`, in bytes per second, or
/// `None` if the copy took longer than dd's CPU time, which means that another program ran on its
/// CPU meanwhile.
fn dd(file: &Path, size: u64) -> Option<f64> {
    let count = if size < 4096 { 8192 } else { (32 << 20) / size };
    let argv: Vec<OsString> = [
        "dd".to_owned(),
        format!("if={}", file.display()),
        "of=/dev/null".to_owned(),
        format!("bs={size}"),
        format!("count={count}"),
    ]
    .map(OsString::from)
    .to_vec();
    let env = [("LC_ALL".into(), "C".into())];
    let program = ProgramSpec { argv: &argv, env: &env, ..ProgramSpec::default() };
    let limits = Limits {
        timeout: Duration::from_secs(60),
        grace: Duration::from_secs(1),
        keep_bytes: 4096,
    };
    let mut runner = Runner::new(None);
    let ran = runner.run(&program, &limits, &mut ()).unwrap();
    let stderr = String::from_utf8(runner.stderr.bytes()).unwrap();
    // `33554432 bytes (34 MB, 32 MiB) copied, 0.0123 s, 2.7 GB/s`
    let line = stderr.lines().find(|l| l.contains(" bytes")).unwrap_or_else(|| panic!("{stderr}"));
    let bytes: f64 = line.split(' ').next().unwrap().parse().unwrap();
    let copied = line.split_once("copied, ").unwrap_or_else(|| panic!("{stderr}")).1;
    let seconds: f64 = copied.split(' ').next().unwrap().parse().unwrap();
    (seconds <= ran.resources.user_s + ran.resources.system_s).then_some(bytes / seconds)
}
