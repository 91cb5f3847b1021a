//! Prints the rows of `src/limit.rs`: quantiles of the largest score of clean series, by their
//! length, and the step in the middle that is detected. A comment after each row has the quantile
//! for each kind of noise.
//!
//! Usage: cargo run --release -p assay-stats --example limits [REPEATS [POINTS,...]]
#![allow(clippy::print_stdout, missing_docs)]

use assay_stats::rng::Rng;
use assay_stats::series::{MIN_POINTS, largest_score, simulate::Noise};

const LENGTHS: &str = "6,7,8,9,10,11,12,13,14,15,17,20,25,30,40,60,80,89,90,100,120,140,160,200,\
    300,500,1000,2000,5000,10000";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let repeats: usize = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(4000);
    let lengths = arguments.get(1).map_or(LENGTHS, String::as_str);
    for n in lengths.split(',').filter_map(|n| n.parse::<usize>().ok()).filter(|n| *n >= MIN_POINTS)
    {
        // Long series are repeated less often, with as many points in total as at length 1,000.
        let repeats = if n <= 1000 { repeats } else { (repeats * 1000 / n).max(400) };
        let quantiles: Vec<f64> = std::thread::scope(|scope| {
            let kinds = Noise::ALL.map(|kind| scope.spawn(move || quantile(kind, n, repeats)));
            kinds.into_iter().map(|k| k.join().expect("a simulation")).collect()
        });
        let limit = quantiles.iter().copied().fold(0.0, f64::max);
        let cells: Vec<String> = quantiles.iter().map(|q| format!("{q:5.2}")).collect();
        println!("    ({n}, {limit:.2}, {:.2}), // {}", visible(n, limit), cells.join(" "));
    }
}

/// Returns the score that one clean series in 200 exceeds; for autoregressive noise, one in 33.
fn quantile(kind: Noise, n: usize, repeats: usize) -> f64 {
    let mut rng = Rng::new(20 + n as u64);
    let mut all: Vec<f64> =
        (0..repeats).map(|_| largest_score(&kind.values(&mut rng, n))).collect();
    all.sort_unstable_by(f64::total_cmp);
    let share = if matches!(kind, Noise::Ar(_)) { 0.97 } else { 0.995 };
    all[(repeats as f64 * share) as usize]
}

/// Finds by halving the step that reaches `limit` in 95 of 100 series.
fn visible(n: usize, limit: f64) -> f64 {
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..10 {
        let step = f64::midpoint(low, high);
        let mut rng = Rng::new(40 + n as u64);
        let found = (0..400).filter(|_| {
            let mut values = Noise::White.values(&mut rng, n);
            values.iter_mut().skip(n / 2).for_each(|v| *v += step);
            largest_score(&values) >= limit
        });
        if found.count() >= 380 { high = step } else { low = step }
    }
    high
}
