//! Places labels next to points so that no two overlap.

use crate::axes::frame::{PlotArea, text_width};

#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn touches(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Tracks the occupied areas of a plot.
pub(crate) struct Placer {
    inner: PlotArea,
    taken: Vec<Area>,
}

impl Placer {
    pub(crate) fn new(inner: PlotArea) -> Self {
        Placer { inner, taken: Vec::new() }
    }

    /// Marks the surroundings of a point as occupied.
    pub(crate) fn block(&mut self, x: f64, y: f64, r: f64) {
        self.taken.push(Area { left: x - r, top: y - r, right: x + r, bottom: y + r });
    }

    /// Finds a free place for `text` near `(x, y)` and returns the left end of its baseline; `None`
    /// if all candidates are occupied (the text is then only in the mark's title).
    pub(crate) fn place(&mut self, text: &str, x: f64, y: f64) -> Option<(f64, f64)> {
        let width = text_width(text);
        // Above, below, and increasingly farther away; centred, then to the left and to the right.
        let heights = [-12.0, 22.0, -28.0, 38.0, -44.0, 54.0, -60.0, 70.0, -76.0, 86.0];
        let lefts = [x - width / 2.0, x - width - 10.0, x + 10.0];
        let candidates = heights.iter().flat_map(|dy| lefts.map(|left| (left, y + dy)));
        for (left, base) in candidates {
            let area = Area {
                left: left - 2.0,
                top: base - 11.0,
                right: left + width + 2.0,
                bottom: base + 3.0,
            };
            let inside = area.left >= self.inner.left
                && area.right <= self.inner.right
                && area.top >= self.inner.top
                && area.bottom <= self.inner.bottom;
            if inside && !self.taken.iter().any(|t| t.touches(&area)) {
                self.taken.push(area);
                return Some((left, base));
            }
        }
        None
    }
}

/// Stacks labels centred at their x positions in rows, so that labels in a row do not overlap.
/// Labels are kept between `left` and `right`. Returns `(row, left end)` for each label; rows count
/// from 0.
pub(crate) fn rows(labels: &[(f64, &str)], left: f64, right: f64) -> Vec<(usize, f64)> {
    let mut ends: Vec<f64> = Vec::new();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| labels[*a].0.total_cmp(&labels[*b].0));
    let mut answer = vec![(0, 0.0); labels.len()];
    for i in order {
        let (centre, text) = labels[i];
        let width = text_width(text);
        let start = (centre - width / 2.0).max(left).min((right - width).max(left));
        let row = ends.iter().position(|end| *end + 6.0 <= start).unwrap_or(ends.len());
        if row == ends.len() {
            ends.push(0.0);
        }
        ends[row] = start + width;
        answer[i] = (row, start);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_at_one_place_do_not_overlap() {
        let inner = PlotArea { left: 0.0, right: 300.0, top: 0.0, bottom: 200.0, width: 314.0 };
        let mut placer = Placer::new(inner);
        let mut seen = Vec::new();
        while let Some(at) = placer.place("best 4 KiB", 150.0, 100.0) {
            seen.push(at);
        }
        assert!(seen.len() >= 9);
        for (i, a) in seen.iter().enumerate() {
            for b in &seen[..i] {
                let apart =
                    (a.0 - b.0).abs() >= text_width("best 4 KiB") || (a.1 - b.1).abs() >= 14.0;
                assert!(apart, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn crowded_marks_are_stacked() {
        let placed =
            rows(&[(100.0, "L1 32 KiB"), (104.0, "L2 512 KiB"), (300.0, "L3")], 0.0, 400.0);
        assert_ne!(placed[0].0, placed[1].0);
        assert_eq!(placed[2].0, 0);
    }
}
