//! Prints the limits of `src/limit.rs`: quantiles of the largest score of clean series, by their length.
//! Usage: cargo run --release -p assay-history --example limits [REPEATS]
#![allow(clippy::print_stdout, missing_docs)]

use assay_history::{largest_score, simulate::Noise};
use assay_stats::rng::Rng;

fn main() {
    let repeats: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(4000);
    let lengths = [8, 10, 12, 16, 20, 21, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
    println!(
        "0.995 quantiles of the largest score, {repeats} series of 200 points each (fewer of longer ones)"
    );
    for n in lengths {
        let mut rng = Rng::new(20 + n as u64);
        let repeats = if n <= 200 { repeats } else { (repeats * 200 / n).max(400) };
        let mut row = Vec::new();
        for kind in Noise::ALL {
            let mut all: Vec<f64> =
                (0..repeats).map(|_| largest_score(&kind.values(&mut rng, n))).collect();
            all.sort_unstable_by(f64::total_cmp);
            row.push(all[(repeats as f64 * 0.995) as usize]);
        }
        let worst = row.iter().copied().fold(0.0, f64::max);
        let cells: Vec<String> = row.iter().map(|r| format!("{r:5.2}")).collect();
        println!("({n}, {worst:.2}),   // {}", cells.join("  "));
    }
}
