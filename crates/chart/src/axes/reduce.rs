//! Reduces many points to few marks: the mean, the smallest and the largest value of each stretch,
//! so that no spike is lost.

use maud::{Markup, html};

use crate::axes::frame::{band, path};
use crate::axes::scale::Scale;

/// Number of marks above which a chart is aggregated.
pub const MAX_MARKS: usize = 5000;

/// A stretch of neighbouring points, summarized.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Mean of the points' x.
    pub x: f64,
    /// Mean of the finite values; NaN without any.
    pub mean: f64,
    /// Smallest finite value; NaN without any.
    pub low: f64,
    /// Largest finite value; NaN without any.
    pub high: f64,
    /// Number of finite values.
    pub n: usize,
}

/// Splits the points into at most `most` stretches of equal numbers of points, in the given order.
/// Missing values (NaN) are ignored; a stretch without any value is missing.
pub fn stretches(points: &[(f64, f64)], most: usize) -> Vec<Stretch> {
    let size = points.len().div_ceil(most.max(1)).max(1);
    points
        .chunks(size)
        .map(|chunk| {
            let x = chunk.iter().map(|p| p.0).sum::<f64>() / chunk.len() as f64;
            let there = || chunk.iter().map(|p| p.1).filter(|v| v.is_finite());
            let n = there().count();
            Stretch {
                x,
                mean: there().sum::<f64>() / n as f64,
                low: there().fold(f64::NAN, f64::min),
                high: there().fold(f64::NAN, f64::max),
                n,
            }
        })
        .collect()
}

/// Draws a series with too many points for marks: the mean of each of at most `most` stretches as a
/// line, and a band from the smallest to the largest value.
pub(crate) fn aggregated(points: &[(f64, f64)], most: usize, x: &Scale, y: &Scale) -> Markup {
    let reduced = stretches(points, most);
    html! {
        (spread(&reduced, x, y))
        (means(&reduced, x, y))
    }
}

/// Draws the band from the smallest to the largest value of each stretch.
pub(crate) fn spread(reduced: &[Stretch], x: &Scale, y: &Scale) -> Markup {
    let edges = reduced.iter().map(|s| Some((x.at(s.x)?, y.at(s.low)?, y.at(s.high)?)));
    html! { path.band d=(band(edges)) {} }
}

/// Draws the line through the means of the stretches.
pub(crate) fn means(reduced: &[Stretch], x: &Scale, y: &Scale) -> Markup {
    html! { path.line d=(path(reduced.iter().map(|s| Some((x.at(s.x)?, y.at(s.mean)?))))) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spike_is_lost_and_no_gap_is_filled() {
        let mut points: Vec<(f64, f64)> = (0..20_000).map(|i| (f64::from(i), 1.0)).collect();
        points[7777].1 = 99.0;
        for p in &mut points[10_000..12_000] {
            p.1 = f64::NAN;
        }
        let s = stretches(&points, 500);
        assert!(s.len() <= 500);
        assert_eq!(s.iter().map(|s| s.high).fold(0.0, f64::max), 99.0);
        assert!(s.iter().any(|s| s.mean.is_nan() && s.n == 0));
    }
}
