//! A bounded row of cells over time. When time runs past the end, cells become twice as wide and
//! neighbors are joined. Cells start at multiples of their width, so grids that were filled by
//! different threads can be merged.

/// Contents of a grid for one interval.
pub(crate) trait GridCell: Default + Clone {
    /// Adds the contents of another cell.
    fn join(&mut self, other: &Self);

    /// Called before cells become wider, with their current width in nanoseconds.
    fn before_widening(_cells: &mut [Self], _width_ns: u64) {}
}

#[derive(Debug, Clone)]
pub(crate) struct IntervalGrid<T> {
    width_ns: u64,
    most: usize,
    /// Number of the first cell: its start divided by the width.
    first: u64,
    cells: Vec<T>,
    /// Cell used last: its start in nanoseconds, its index, and its width, or 0 if indices have
    /// changed since. The width is cut where the cell would end after `u64::MAX`.
    last: (u64, usize, u64),
}

impl<T: GridCell> IntervalGrid<T> {
    /// Creates an empty grid of at most `most` cells of `width_ns` (at least 1).
    pub(crate) fn new(width_ns: u64, most: usize) -> Self {
        IntervalGrid {
            width_ns: width_ns.max(1),
            most,
            first: 0,
            cells: Vec::new(),
            last: (0, 0, 0),
        }
    }

    pub(crate) fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Returns the start of the first cell.
    pub(crate) fn start_ns(&self) -> u64 {
        self.first.saturating_mul(self.width_ns)
    }

    pub(crate) fn cells(&self) -> &[T] {
        &self.cells
    }

    pub(crate) fn cells_mut(&mut self) -> &mut [T] {
        &mut self.cells
    }

    /// Returns the cell that contains `t_ns`.
    #[inline]
    pub(crate) fn at(&mut self, t_ns: u64) -> &mut T {
        self.at_with_room(t_ns).0
    }

    /// Returns the cell that contains `t_ns`, and the nanoseconds from `t_ns` to the end of the
    /// cell.
    #[inline]
    pub(crate) fn at_with_room(&mut self, t_ns: u64) -> (&mut T, u64) {
        let (start, mut place, mut width) = self.last;
        let mut into = t_ns.wrapping_sub(start);
        if into >= width {
            place = self.find(t_ns);
            width = self.last.2;
            into = t_ns.wrapping_sub(self.last.0);
        }
        (&mut self.cells[place], width.saturating_sub(into))
    }

    #[cold]
    fn find(&mut self, t_ns: u64) -> usize {
        // A cell that held only the last nanosecond would have width 0.
        let t_ns = t_ns.min(u64::MAX - 1);
        self.cover(t_ns, t_ns);
        let number = t_ns / self.width_ns;
        let place = (number - self.first) as usize;
        let start = number * self.width_ns;
        self.last = (start, place, self.width_ns.min(u64::MAX - start));
        place
    }

    /// Extends the grid to cover the times `from` to `to`.
    fn cover(&mut self, from: u64, to: u64) {
        if self.cells.is_empty() {
            self.first = from / self.width_ns;
        }
        loop {
            let low = (from / self.width_ns).min(self.first);
            let end = self.first + self.cells.len() as u64;
            let high = (to / self.width_ns).saturating_add(1).max(end);
            if high - low <= self.most as u64 {
                let before = (self.first - low) as usize;
                if before > 0 {
                    self.cells.splice(0..0, std::iter::repeat_n(T::default(), before));
                    self.first = low;
                    self.last = (0, 0, 0);
                }
                self.cells.resize((high - low) as usize, T::default());
                return;
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        T::before_widening(&mut self.cells, self.width_ns);
        let odd = (self.first & 1) as usize;
        let joined = (self.cells.len() + odd).div_ceil(2);
        for i in 0..joined {
            let mut cell = T::default();
            for half in [2 * i, 2 * i + 1] {
                if let Some(old) = half.checked_sub(odd).and_then(|at| self.cells.get(at)) {
                    cell.join(old);
                }
            }
            // Cell i is made only of cells from 2 i − odd on, which are not replaced yet.
            self.cells[i] = cell;
        }
        self.cells.truncate(joined);
        self.first >>= 1;
        self.width_ns = self.width_ns.saturating_mul(2);
        self.last = (0, 0, 0);
    }

    /// Adds the contents of another grid.
    pub(crate) fn merge(&mut self, mut other: IntervalGrid<T>) {
        if other.cells.is_empty() {
            return;
        }
        while other.width_ns < self.width_ns {
            other.widen();
        }
        while self.width_ns < other.width_ns {
            self.widen();
        }
        let last = other.first + other.cells.len() as u64 - 1;
        self.cover(other.start_ns(), last.saturating_mul(other.width_ns));
        while other.width_ns < self.width_ns {
            other.widen();
        }
        let offset = (other.first - self.first) as usize;
        for (cell, more) in self.cells[offset..].iter_mut().zip(&other.cells) {
            cell.join(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Count(u64);

    impl GridCell for Count {
        fn join(&mut self, other: &Self) {
            self.0 += other.0;
        }
    }

    fn filled(times: &[u64], most: usize) -> IntervalGrid<Count> {
        let mut grid = IntervalGrid::<Count>::new(10, most);
        for t in times {
            grid.at(*t).0 += 1;
        }
        grid
    }

    #[test]
    fn cells_widen_when_time_runs_past_the_end_and_lose_nothing() {
        let grid = filled(&[35, 39, 40, 71, 5, 129, 1_000], 8);
        assert_eq!(grid.cells().iter().map(|c| c.0).sum::<u64>(), 7);
        assert!(grid.cells().len() <= 8);
        assert_eq!((grid.width_ns(), grid.start_ns()), (160, 0));
        assert_eq!(grid.cells()[0], Count(6));
        assert_eq!(grid.cells()[6], Count(1));
    }

    #[test]
    fn the_order_of_times_does_not_matter() {
        let mut rng = assay_stats::rng::Rng::new(3);
        for _ in 0..300 {
            let mut times: Vec<u64> = (0..40).map(|_| rng.below(5_000) as u64 + 700).collect();
            let a = filled(&times, 32);
            rng.shuffle(&mut times);
            let b = filled(&times, 32);
            let (mut c, d) = (filled(&times[..13], 32), filled(&times[13..], 32));
            c.merge(d);
            for other in [&b, &c] {
                assert_eq!((a.width_ns(), a.start_ns()), (other.width_ns(), other.start_ns()));
                assert_eq!(a.cells(), other.cells());
            }
        }
    }

    #[test]
    fn the_ends_of_time() {
        // Regression test, found by fuzzing: the first time of all is the last nanosecond.
        for width in [1, 10] {
            let mut grid = IntervalGrid::<Count>::new(width, 4);
            for t in [u64::MAX, u64::MAX, 0] {
                grid.at(t).0 += 1;
            }
            assert_eq!(grid.cells().iter().map(|c| c.0).sum::<u64>(), 3);
        }
        let grid = filled(&[0, u64::MAX, u64::MAX / 2], 4);
        assert_eq!(grid.cells().iter().map(|c| c.0).sum::<u64>(), 3);
    }
}
