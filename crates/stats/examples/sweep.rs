//! Counts the steps that the detector finds, over lengths, sizes, places, shapes and kinds of
//! noise.
//!
//! Usage: cargo run --release -p assay-stats --example sweep [SERIES [FILE [POINTS,...]]]
//!
//! FILE receives some of the series for other detectors: label, place, values.
#![allow(clippy::print_stdout, missing_docs)]

use std::fmt::Write as _;

use assay_stats::rng::Rng;
use assay_stats::series::{MIN_SIDE, analyse_with, simulate::Noise};

const LENGTHS: &str = "5,8,10,15,20,21,25,30,40,60,80,100,200,400,1000";
const STEPS: [f64; 5] = [2.0, 3.0, 6.0, 10.0, 20.0];

/// One cell of the sweep.
#[derive(Clone, Copy)]
struct Cell {
    kind: Noise,
    points: usize,
    step: f64,
    /// Index of the first point at the new level.
    at: usize,
    /// Number of points at the new level.
    long: usize,
    /// True if points come with their own standard errors.
    errors: bool,
}

/// Number of series with an alarm, with one within [`MIN_SIDE`] points of the step, and with one
/// within one point.
#[derive(Clone, Copy, Default)]
struct Counts {
    alarms: usize,
    found: usize,
    placed: usize,
}

/// Simulates a series of this cell.
fn make(cell: Cell, rng: &mut Rng) -> Vec<f64> {
    let mut noise = cell.kind.values(rng, cell.points);
    for v in noise.iter_mut().skip(cell.at).take(cell.long) {
        *v += cell.step;
    }
    // One standard deviation is 5 % of the level.
    noise.iter().map(|v| (0.05 * v).exp()).collect()
}

fn generator(cell: Cell) -> Rng {
    Rng::new(7 + cell.points as u64)
}

/// Writes the first 100 series of a cell as lines.
fn written(cell: Cell, label: &str, series: usize, out: &mut String) {
    let mut rng = generator(cell);
    for _ in 0..series.min(100) {
        let place = if cell.step == 0.0 { String::new() } else { cell.at.to_string() };
        let values: Vec<String> = make(cell, &mut rng).iter().map(|v| format!("{v:.6}")).collect();
        let _ = writeln!(out, "{label},{place},{}", values.join(","));
    }
}

fn count(cell: Cell, series: usize) -> Counts {
    let mut rng = generator(cell);
    let mut counts = Counts::default();
    for _ in 0..series {
        let values = make(cell, &mut rng);
        let errors = if cell.errors { vec![Some(0.05); cell.points] } else { Vec::new() };
        let changes = analyse_with(&values, &errors).changes;
        counts.alarms += usize::from(!changes.is_empty());
        let near = |within| changes.iter().any(|c| c.at.abs_diff(cell.at) <= within);
        counts.found += usize::from(near(MIN_SIDE));
        counts.placed += usize::from(near(1));
    }
    counts
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let series: usize = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(500);
    let lengths = arguments.get(2).map_or(LENGTHS, String::as_str);
    let share = |k: usize| format!("{:.1}", 100.0 * k as f64 / series as f64);
    println!(
        "{series} series for each cell; noise 5 %; % of series; \
        found: within {MIN_SIDE} points of the place"
    );
    println!(
        "points noise     intervals | alarm without a step | shape: found at steps of 2, 3, 6, 10, \
        20 sd (within one point)"
    );
    let (mut cells, mut file) = (0, String::new());
    for points in lengths.split(',').filter_map(|n| n.parse().ok()) {
        for kind in Noise::ALL {
            for errors in [false, true] {
                let clean = Cell { kind, points, step: 0.0, at: 0, long: 0, errors };
                let head =
                    format!("{points:6} {:9} {:9}", kind.name(), if errors { "with" } else { "" });
                if !errors {
                    written(clean, &format!("{points} {} clean", kind.name()), series, &mut file);
                }
                println!("{head} | alarm {}", share(count(clean, series).alarms));
                for (name, at, long, sign) in shapes(points) {
                    for step in [6.0, 20.0] {
                        if !errors && (name == "5 at end" || name == "up 50 %") {
                            let label = format!("{points} {} {step} sd {name}", kind.name());
                            let cell = Cell { step: sign * step, at, long, ..clean };
                            written(cell, &label, series, &mut file);
                        }
                    }
                    let row: Vec<String> = std::thread::scope(|scope| {
                        let all = STEPS.map(|step| {
                            let cell = Cell { step: sign * step, at, long, ..clean };
                            scope.spawn(move || count(cell, series))
                        });
                        let all = all.map(|c| c.join().expect("a cell"));
                        all.map(|c| format!("{} ({})", share(c.found), share(c.placed))).into()
                    });
                    println!("{head} | {name:10} {}", row.join("  "));
                    cells += STEPS.len();
                }
                cells += 1;
            }
        }
    }
    println!("{cells} cells");
    if let Some(path) = arguments.get(1) {
        std::fs::write(path, file).expect("the file of series");
    }
}

/// Lists the shapes: name, first point at the new level, number of points there, and direction.
fn shapes(points: usize) -> Vec<(String, usize, usize, f64)> {
    let mut all = Vec::new();
    if points < 2 * MIN_SIDE {
        return all;
    }
    let at = |share: usize| (points * share / 100).clamp(MIN_SIDE, points - MIN_SIDE);
    for share in [10, 25, 50, 75, 90] {
        all.push((format!("up {share} %"), at(share), points, 1.0));
    }
    all.push(("down 50 %".into(), at(50), points, -1.0));
    if points >= 3 * MIN_SIDE {
        all.push(("and back".into(), at(40), (points / 5).max(MIN_SIDE), 1.0));
    }
    if points >= 11 {
        all.push(("5 at end".into(), points - 5, 5, 1.0));
    }
    if points >= 12 {
        all.push(("6 at end".into(), points - 6, 6, 1.0));
    }
    all
}
