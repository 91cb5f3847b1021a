//! Measures storage levels: the time to set each one up and to remove it, without the measurement
//! that is part of the setup, and the rates of the emulated disks compared with their limits.
//!
//! `storage_levels times N LEVEL...` or `storage_levels rates N DISK...`; prints Markdown. Needs
//! root.

#![allow(clippy::print_stdout)] // printing is this example's purpose

use std::time::{Duration, Instant};

use assay_model::Scalar;
use assay_system::{AppliedSettings, Controller, Root, parse_setting};

type Failed = Box<dyn std::error::Error>;

/// Duration of the shortest measurement that a level accepts.
const PROBE: Duration = Duration::from_millis(400);
const DISKS: &str = include_str!("../src/controls/storage/disks.csv");

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "storage_levels times N LEVEL... | rates N DISK...";
    let [what, n, of @ ..] = &arguments[..] else { return Err(usage.into()) };
    let n: usize = n.parse()?;
    let state = std::env::temp_dir().join(format!("assay-storage-levels-{}", std::process::id()));
    let controller = Controller::new(&state, Root::system());
    let done = match what.as_str() {
        "times" => times(&controller, n, of),
        "rates" => rates(&controller, n, of),
        _ => Err(usage.into()),
    };
    let _ = std::fs::remove_dir_all(&state);
    done
}

fn apply(controller: &Controller, level: &str) -> Result<AppliedSettings, Failed> {
    let setting = parse_setting("storage", &Scalar::Text(level.to_owned()))?;
    controller.check(std::slice::from_ref(&setting))?;
    Ok(controller.apply(&[setting])?)
}

/// Returns the median and the maximum.
fn middle(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let median = if n.is_multiple_of(2) {
        f64::midpoint(values[n / 2 - 1], values[n / 2])
    } else {
        values[n / 2]
    };
    (median, values[n - 1])
}

/// Sets up and removes all levels in turn, `n` times.
fn times(controller: &Controller, n: usize, levels: &[String]) -> Result<(), Failed> {
    let mut all = vec![(Vec::new(), Vec::new()); levels.len()];
    for _ in 0..n.max(1) {
        for (level, (up, down)) in levels.iter().zip(&mut all) {
            let probed = format!("{level},probe={}ms", PROBE.as_millis());
            let began = Instant::now();
            let applied = apply(controller, &probed).map_err(|e| format!("{level}: {e}"))?;
            up.push((began.elapsed().saturating_sub(PROBE)).as_secs_f64());
            let began = Instant::now();
            applied.restore()?;
            down.push(began.elapsed().as_secs_f64());
        }
    }
    println!("| level | set up, median (most) | taken away, median (most) |\n|---|--:|--:|");
    for (level, (up, down)) in levels.iter().zip(&mut all) {
        let ((up, up_most), (down, down_most)) = (middle(up), middle(down));
        println!("| `{level}` | {up:.2} s ({up_most:.2}) | {down:.2} s ({down_most:.2}) |");
    }
    Ok(())
}

/// Measures each disk `n` times with each of its limits.
fn rates(controller: &Controller, n: usize, disks: &[String]) -> Result<(), Failed> {
    println!("| disk | what | held to | measured, median | off by |\n|---|---|--:|--:|--:|");
    for disk in disks {
        let line = DISKS.lines().find(|l| l.split(',').next() == Some(disk));
        let line = line.ok_or_else(|| format!("there is no disk `{disk}`"))?;
        let expected: Vec<f64> =
            line.split(',').skip(1).take(4).map(str::parse).collect::<Result<_, _>>()?;
        for (limits, figures) in [
            (
                "bytes",
                [
                    ("storage_sequential_read", expected[0]),
                    ("storage_sequential_write", expected[1]),
                ],
            ),
            (
                "operations",
                [("storage_random_read", expected[2]), ("storage_random_write", expected[3])],
            ),
        ] {
            let level = format!("loop:ext4,size=1GiB,emulated={disk},limits={limits},probe=16s");
            let mut found = vec![Vec::new(); 2];
            for _ in 0..n.max(1) {
                let applied = apply(controller, &level)?;
                for ((name, _), values) in figures.iter().zip(&mut found) {
                    let metric = applied.measured().iter().find(|m| m.0.name == *name);
                    values.extend(metric.and_then(|m| m.0.value));
                }
                applied.restore()?;
            }
            for ((name, expected), values) in figures.iter().zip(&mut found) {
                let (median, _) = middle(values);
                let what = name.trim_start_matches("storage_").replace('_', " ");
                let unit = if limits == "bytes" { ("MB/s", 1e6) } else { ("ops/s", 1.0) };
                println!(
                    "| {disk} | {what} | {:.0} {} | {:.0} {} | {:+.1} % |",
                    expected / unit.1,
                    unit.0,
                    median / unit.1,
                    unit.0,
                    100.0 * (median / expected - 1.0)
                );
            }
        }
    }
    Ok(())
}
