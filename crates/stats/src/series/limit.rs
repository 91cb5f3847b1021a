//! The limit that a change's score must reach, and the step that is detected, by the number of
//! points in the series.
//!
//! The table is produced by simulation and never edited by hand: `cargo run --release -p
//! assay-history --example limits 10000` prints it up to 1,000 points, and with 4000 beyond that,
//! for the kinds of noise of [`crate::series::simulate`]. The limit is the one at which one clean
//! series in 200 has an alarm with the worst kind of noise (one in 33 with autoregressive noise).
//! The visible step is the step in the middle of white noise that is found in 95 of 100 series.

use crate::distribution::{normal_quantile, student_cdf, student_quantile};

/// Rows of (points, limit, visible step in standard deviations).
pub const LIMITS: [(usize, f64, f64); 30] = [
    (6, 4.09, 11.43),
    (7, 4.47, 10.94),
    (8, 4.65, 6.84),
    (9, 4.89, 6.84),
    (10, 5.31, 5.27),
    (11, 5.01, 4.49),
    (12, 5.75, 4.98),
    (13, 5.93, 4.79),
    (14, 5.39, 4.00),
    (15, 5.41, 4.20),
    (17, 5.61, 3.81),
    (20, 5.68, 3.32),
    (25, 5.68, 3.12),
    (30, 5.73, 2.73),
    (40, 5.84, 2.44),
    (60, 5.90, 2.05),
    (80, 5.97, 1.76),
    (89, 5.93, 1.56),
    (90, 4.53, 1.37),
    (100, 4.46, 1.27),
    (120, 4.47, 1.17),
    (140, 4.38, 1.07),
    (160, 4.59, 0.98),
    (200, 4.83, 0.98),
    (300, 4.90, 0.78),
    (500, 5.40, 0.68),
    (1000, 6.22, 0.59),
    (2000, 6.65, 0.39),
    (5000, 8.69, 0.29),
    (10_000, 9.72, 0.29),
];

/// Returns the limit for `n` points, interpolated over log n. Outside the table the nearest row
/// applies. For one of `family` series it is raised.
pub fn limit(n: usize, family: usize) -> f64 {
    raised(at(n, |row| row.1), n.saturating_sub(2) as f64, family)
}

/// Returns the limit that is exceeded `family` times less often, by the tail of Student's t with
/// `free` degrees of freedom.
pub(crate) fn raised(limit: f64, free: f64, family: usize) -> f64 {
    if family < 2 || free < 1.0 {
        return limit;
    }
    -student_quantile(student_cdf(-limit, free) / family as f64, free)
}

/// Returns the step in the middle of `n` points of white noise that is found in 95 of 100 series,
/// in standard deviations. For one of `family` series it grows with the limit.
pub fn visible(n: usize, family: usize) -> f64 {
    let power = normal_quantile(0.95);
    at(n, |row| row.2) * (limit(n, family) + power) / (limit(n, 1) + power)
}

fn at(n: usize, of: impl Fn((usize, f64, f64)) -> f64) -> f64 {
    let above = LIMITS.iter().position(|row| row.0 >= n).unwrap_or(LIMITS.len() - 1);
    let (low, high) = (LIMITS[above.saturating_sub(1)], LIMITS[above]);
    let log = |n: usize| (n.max(1) as f64).ln();
    let share = (log(n) - log(low.0)) / (log(high.0) - log(low.0)).max(f64::MIN_POSITIVE);
    of(low) + (of(high) - of(low)) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::series::analyse_family;
    use crate::series::simulate::Noise;

    #[test]
    fn a_clean_family_is_suspected_far_less_often_than_without_the_correction() {
        let mut rng = Rng::new(11);
        let (each, size) = (30, 60);
        let (mut all_alone, mut all_together) = (0, 0);
        for noise in Noise::ALL.into_iter().filter(|n| !matches!(n, Noise::Ar(_))) {
            let (mut alone, mut together) = (0, 0);
            for n in [9, 24, 60].repeat(each) {
                let of = |values: &[f64], family| {
                    usize::from(!analyse_family(values, &[], family).changes.is_empty())
                };
                let series: Vec<_> = (0..size).map(|_| noise.series(&mut rng, n, 0.0, 0)).collect();
                alone += series.iter().map(|v| of(v, 1)).sum::<usize>().min(1);
                together += series.iter().map(|v| of(v, size)).sum::<usize>().min(1);
            }
            println!("{}: {alone} and {together} of {} families", noise.name(), 3 * each);
            assert!(together <= 6, "{}: {together} of {}", noise.name(), 3 * each);
            (all_alone, all_together) = (all_alone + alone, all_together + together);
        }
        assert!(all_alone > 4 * all_together, "{all_alone} and {all_together}");
        assert!(limit(20, 1) < limit(20, 2) && limit(20, 2) < limit(20, 200));
        assert!(visible(20, 200) > visible(20, 1));
    }
}
