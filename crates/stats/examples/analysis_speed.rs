//! Times the analysis of 10,000 points.
//! Usage: cargo run --release -p assay-stats --example analysis_speed
#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use assay_stats::rng::Rng;
use assay_stats::series::{analyse, simulate::Noise};

fn main() {
    let mut rng = Rng::new(3);
    for steps in [0, 10, 100] {
        let mut values = Noise::White.series(&mut rng, 10_000, 0.0, 0);
        for i in 0..steps {
            let up = if i % 2 == 0 { 8.0 } else { -8.0 };
            values.iter_mut().skip((i + 1) * 10_000 / (steps + 1)).for_each(|v| *v += up);
        }
        let start = Instant::now();
        let analysis = analyse(&values);
        println!(
            "{steps} steps: {} found in {:.0} ms",
            analysis.changes.len(),
            start.elapsed().as_secs_f64() * 1e3,
        );
    }
}
