//! Outliers are flagged, so that somebody looks for the cause; they are never dropped.

use crate::summary::{mean, median};

/// Factor that turns the median absolute deviation of a normal sample into its standard deviation:
/// 1 / Φ⁻¹(3/4).
pub const MAD_TO_SIGMA: f64 = 1.4826;
/// Number of robust deviations from the median beyond which a value is flagged.
pub const LIMIT: f64 = 3.0;

/// A value that was flagged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Index of the value in the slice.
    pub index: usize,
    /// Distance from the median in robust standard deviations; negative below the median.
    pub z: f64,
}

/// Returns the robust standard deviation 1.4826 · MAD around `centre`. If more than half of the
/// values agree and the MAD is 0, the mean absolute deviation · √(π/2) replaces it (Iglewicz and
/// Hoaglin, 1993). Returns `None` without values.
fn robust_sigma(values: &[f64], centre: f64) -> Option<f64> {
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    let mad = median(&deviations)?;
    if mad > 0.0 {
        return Some(MAD_TO_SIGMA * mad);
    }
    mean(&deviations).map(|d| d * std::f64::consts::FRAC_PI_2.sqrt())
}

/// Returns the values outside median ± 3 · 1.4826 · MAD. None are flagged below five values, or if
/// all agree. Values that are not finite are missing and never flagged.
pub fn outliers(values: &[f64]) -> Vec<Outlier> {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    if finite.len() < 5 {
        return Vec::new();
    }
    let Some(centre) = median(&finite) else { return Vec::new() };
    let Some(sigma) = robust_sigma(&finite, centre).filter(|s| *s > 0.0) else { return Vec::new() };
    values
        .iter()
        .enumerate()
        .filter(|(_, v)| v.is_finite())
        .map(|(index, v)| Outlier { index, z: (v - centre) / sigma })
        .filter(|o| o.z.abs() > LIMIT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_the_far_one_only() {
        let v = [10.0, 10.1, 9.9, 10.2, 9.8, 14.0, f64::NAN];
        let found = outliers(&v);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].index, 5);
        // Median 10.05, deviations .05 .05 .15 .15 .25 3.95: MAD 0.15.
        assert!((found[0].z - 3.95 / (1.4826 * 0.15)).abs() < 1e-9);
    }

    #[test]
    fn half_the_values_equal_still_finds_it() {
        assert_eq!(outliers(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0]).len(), 1);
        assert!(outliers(&[5.0; 9]).is_empty());
        assert!(outliers(&[1.0, 2.0, 300.0, 4.0]).is_empty(), "four values carry no flag");
    }
}
