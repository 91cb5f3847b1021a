//! The limit that a change's score must reach, by the number of points in the series.
//!
//! Made by simulation, never typed: `cargo run --release -p assay-history --example limits` prints the
//! table for the kinds of noise of [`crate::simulate`], for one clean series in 200 with an alarm in the
//! worst kind.

/// (points, limit).
pub const LIMITS: [(usize, f64); 15] = [
    (8, 3.07),
    (10, 3.57),
    (12, 3.44),
    (16, 3.53),
    (20, 3.71),
    (21, 3.43),
    (30, 3.54),
    (50, 3.75),
    (100, 4.17),
    (200, 4.31),
    (500, 4.72),
    (1000, 4.84),
    (2000, 5.11),
    (5000, 5.52),
    (10_000, 5.63),
];

/// The limit for `n` points: interpolated over log n, the nearest outside the table.
pub fn limit(n: usize) -> f64 {
    let x = (n.max(1) as f64).ln();
    let (mut below, mut above) = (LIMITS[0], LIMITS[LIMITS.len() - 1]);
    for row in LIMITS {
        if row.0 <= n {
            below = row;
        }
    }
    for row in LIMITS.iter().rev() {
        if row.0 >= n {
            above = *row;
        }
    }
    if below.0 >= above.0 {
        return if n <= LIMITS[0].0 { LIMITS[0].1 } else { below.1 };
    }
    let (low, high) = ((below.0 as f64).ln(), (above.0 as f64).ln());
    below.1 + (above.1 - below.1) * (x - low) / (high - low)
}
