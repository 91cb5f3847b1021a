//! Ranges of charts, so that charts shown side by side can share their scales.

/// Ranges that the scales of a chart must cover.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScaleRanges {
    /// Range of time, seconds from the trial's start.
    pub time_s: Option<(f64, f64)>,
    /// Smallest and largest value: of the y axis for lines, of the x axis for histograms, of the
    /// rows for heat maps.
    pub values: Option<(f64, f64)>,
    /// Largest count: the highest bar or the darkest cell.
    pub most: u64,
}

impl ScaleRanges {
    /// Returns the ranges that cover both.
    #[must_use]
    pub fn join(self, other: ScaleRanges) -> ScaleRanges {
        ScaleRanges {
            time_s: wider(self.time_s, other.time_s),
            values: wider(self.values, other.values),
            most: self.most.max(other.most),
        }
    }
}

fn wider(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_covers_both_and_nothing_covers_nothing() {
        let a = ScaleRanges { time_s: Some((0.0, 2.0)), values: None, most: 7 };
        let b = ScaleRanges { time_s: Some((-1.0, 1.0)), values: Some((3.0, 4.0)), most: 5 };
        let both = ScaleRanges { time_s: Some((-1.0, 2.0)), values: Some((3.0, 4.0)), most: 7 };
        assert_eq!((a.join(b), b.join(a)), (both, both));
        assert_eq!(ScaleRanges::default().join(a), a);
    }
}
