//! Counts false alarms and located steps of the detector on simulated series. Writes the series to
//! a file on which other detectors can be scored (`bench/history.sh`).
//!
//! Usage: cargo run --release -p assay-stats --example score [SERIES] [--series FILE]
#![allow(clippy::print_stdout, missing_docs)]

use std::io::Write as _;

use assay_stats::rng::Rng;
use assay_stats::series::{analyse, simulate::Noise};

const POINTS: usize = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: usize = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(500);
    let mut file =
        arguments.iter().position(|a| a == "--series").and_then(|i| arguments.get(i + 1)).map(
            |p| std::io::BufWriter::new(std::fs::File::create(p).expect("the file of series")),
        );
    println!(
        "{:10} {:>5} {:>9} {:>9} {:>9} {:>8}",
        "noise", "step", "within 1", "within 3", "series +", "others"
    );
    let ar = Noise::Ar(0.5);
    let cases: Vec<(Noise, f64)> = Noise::ALL
        .into_iter()
        .map(|k| (k, 0.0))
        .chain([(Noise::White, 3.0), (Noise::Outliers, 3.0), (Noise::Skewed, 3.0), (ar, 3.0)])
        .chain([(Noise::White, 2.0), (ar, 2.0), (Noise::White, 1.0), (Noise::Skewed, 2.0)])
        .collect();
    for (kind, step) in cases {
        let mut rng = Rng::new(if step == 0.0 { 1 } else { 2 });
        let (mut near, mut nearer, mut others, mut with) = (0, 0, 0, 0);
        let (mut held, mut sized, mut hits) = (0usize, 0usize, 0usize);
        for _ in 0..count {
            let at = 20 + rng.below(POINTS - 40);
            let values = kind.series(&mut rng, POINTS, step, at);
            if let Some(file) = &mut file {
                let at = if step > 0.0 { at.to_string() } else { String::new() };
                let cells: Vec<String> = values.iter().map(f64::to_string).collect();
                writeln!(file, "{} {step},{at},{}", kind.name(), cells.join(",")).expect("written");
            }
            let found = analyse(&values).changes;
            let away = |i: usize| i.abs_diff(at);
            if step > 0.0 {
                nearer += usize::from(found.iter().any(|f| away(f.at) <= 1));
                near += usize::from(found.iter().any(|f| away(f.at) <= 3));
                if let Some(hit) = found.iter().find(|f| away(f.at) <= 8) {
                    hits += 1;
                    held += usize::from((hit.place.0..=hit.place.1).contains(&at));
                    sized += usize::from(hit.difference.contains(2.0 * step));
                }
            }
            let other = found.iter().filter(|f| step == 0.0 || away(f.at) > 3).count();
            others += other;
            with += usize::from(other > 0);
        }
        let share = |k: usize| 100.0 * k as f64 / count as f64;
        println!(
            "{:10} {step:5.1} {:8.1}% {:8.1}% {:8.1}% \
            {others:8}   place covered {:.1}%, size {:.1}%",
            kind.name(),
            share(nearer),
            share(near),
            share(with),
            100.0 * held as f64 / hits.max(1) as f64,
            100.0 * sized as f64 / hits.max(1) as f64,
        );
    }
}
