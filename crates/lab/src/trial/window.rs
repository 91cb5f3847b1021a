//! Means of sampled series over a trial's measurement window.

/// Minimum share of the window that samples must cover for a mean to be used.
pub(crate) const MIN_COVERED: f64 = 0.9;

/// Mean of a series over the window.
pub(crate) struct Mean {
    /// Mean over the covered part of the window; NaN if nothing is covered.
    pub value: f64,
    /// Covered share of the window, 0 to 1.
    pub covered: f64,
}

/// Computes the mean of values that each describe the interval that ends at their time; the first
/// interval begins at `begin`. `window` must not be empty.
pub(crate) fn mean(points: &[(u64, f64)], begin: u64, window: (u64, u64)) -> Mean {
    let (mut sum, mut covered, mut from) = (0.0, 0.0, begin);
    for &(to, value) in points {
        let inside = to.min(window.1).saturating_sub(from.max(window.0));
        if value.is_finite() {
            sum += value * inside as f64;
            covered += inside as f64;
        }
        from = to;
    }
    Mean {
        value: if covered > 0.0 { sum / covered } else { f64::NAN },
        covered: covered / (window.1 - window.0) as f64,
    }
}
