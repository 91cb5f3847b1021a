//! Scales, which map values to positions.

/// Layout of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleKind {
    /// Linear: equal differences have equal lengths.
    Linear,
    /// Logarithmic: equal ratios have equal lengths; ticks at powers of two.
    Log2,
    /// Logarithmic: equal ratios have equal lengths; ticks at 1, 2 and 5 times powers of ten.
    Log10,
}

impl ScaleKind {
    /// Returns true if only positive values have a position.
    pub(crate) fn is_log(self) -> bool {
        self != ScaleKind::Linear
    }
}

/// Mapping of a domain of values to a range of positions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    kind: ScaleKind,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

impl Scale {
    /// Maps `domain` to `range`. An empty or invalid domain is replaced by a valid one, so that
    /// every scale can place its own ends.
    pub(crate) fn new(kind: ScaleKind, domain: (f64, f64), range: (f64, f64)) -> Self {
        let (mut from, mut to) = domain;
        if !(from.is_finite() && to.is_finite()) {
            (from, to) = (1.0, 2.0);
        }
        if kind.is_log() && from <= 0.0 {
            from = if to > 0.0 { to / 1000.0 } else { 1.0 };
        }
        if to <= from {
            to = if kind.is_log() || from > 0.0 { from * 2.0 } else { from + 1.0 };
        }
        Scale { kind, from, to, start: range.0, end: range.1 }
    }

    /// Returns the position of `value`; `None` if it is missing or has no position on this scale.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.kind.is_log() && value <= 0.0) {
            return None;
        }
        let share = if self.kind.is_log() {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        Some(self.start + share * (self.end - self.start))
    }

    /// Like [`Scale::at`], clamped to the range.
    pub(crate) fn clamped(&self, value: f64) -> Option<f64> {
        let (low, high) = (self.start.min(self.end), self.start.max(self.end));
        self.at(value).map(|p| p.clamp(low, high))
    }

    pub(crate) fn kind(&self) -> ScaleKind {
        self.kind
    }
}

/// Returns the smallest and largest finite value; `None` without any.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |seen, v| match seen {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equal_lengths() {
        let s = Scale::new(ScaleKind::Log2, (1.0, 16.0), (0.0, 400.0));
        assert!((s.at(2.0).unwrap() - 100.0).abs() < 1e-9);
        assert!((s.at(4.0).unwrap() - 200.0).abs() < 1e-9);
        assert!(s.at(0.0).is_none());
        assert!(s.at(f64::NAN).is_none());
    }

    #[test]
    fn an_empty_domain_still_places_its_value() {
        for kind in [ScaleKind::Linear, ScaleKind::Log2, ScaleKind::Log10] {
            for domain in [(5.0, 5.0), (0.0, 0.0), (f64::NAN, 1.0), (-3.0, -3.0)] {
                let s = Scale::new(kind, domain, (10.0, 20.0));
                assert!(s.at(s.from).unwrap().is_finite(), "{kind:?} {domain:?}");
            }
        }
    }
}
