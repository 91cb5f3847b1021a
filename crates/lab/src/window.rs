//! Means of sampled series over a trial's measurement window.

/// A mean is used only when samples cover so much of the window.
pub(crate) const MIN_COVERED: f64 = 0.9;

/// What a series says of the window.
pub(crate) struct Mean {
    /// The mean over the part of the window that it covers; NaN if it covers nothing.
    pub value: f64,
    /// That part, 0 to 1.
    pub covered: f64,
}

/// The mean of values that each stand for the interval that ends at their time; the first begins at `begin`.
/// `window` is not empty.
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
