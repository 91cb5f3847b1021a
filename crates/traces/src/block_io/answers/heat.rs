//! Heat maps for charts: I/O counts by time and by a second quantity (latency by powers of two, or
//! address by equal regions).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::answers::grid::{GridCell, IntervalGrid};

/// Maximum number of columns (time intervals).
pub const MAX_COLUMNS: usize = 128;
/// Number of rows before empty ones are dropped.
const ROWS: usize = 64;

#[derive(Debug, Clone)]
struct HeatColumn([u64; ROWS]);

impl Default for HeatColumn {
    fn default() -> Self {
        HeatColumn([0; ROWS])
    }
}

impl GridCell for HeatColumn {
    fn join(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a += b;
        }
    }
}

/// Initial column width: a trace of a tenth of a second has a hundred columns.
const FIRST_WIDTH_NS: u64 = 1_000_000;

/// Heat map of latency over time. Row 0 is below 1 ns; row `r` is from 2^(r−1) ns to twice that.
#[derive(Debug, Clone)]
pub(crate) struct LatencyHeat(IntervalGrid<HeatColumn>);

impl LatencyHeat {
    /// Creates a map whose columns are at least `column_ns` wide.
    pub(crate) fn of_width(column_ns: u64) -> Self {
        LatencyHeat(IntervalGrid::new(column_ns.max(FIRST_WIDTH_NS), MAX_COLUMNS))
    }

    #[inline]
    pub(crate) fn add(&mut self, t_ns: u64, latency_ns: u64, n: u64) {
        let row = (64 - latency_ns.leading_zeros() as usize).min(ROWS - 1);
        self.0.at(t_ns).0[row] += n;
    }

    pub(crate) fn merge(&mut self, other: LatencyHeat) {
        self.0.merge(other.0);
    }

    pub(crate) fn report(&self) -> HeatMap {
        let bounds = (0..ROWS as u32).map(|r| if r == 0 { 0 } else { 1u64 << (r - 1) });
        HeatMap::from_grid(&self.0, &bounds.collect::<Vec<_>>())
    }
}

/// Heat map of address over time, with 64 equal regions from block 0, each a power of two of
/// blocks.
#[derive(Debug, Clone)]
pub(crate) struct AddressHeat {
    grid: IntervalGrid<HeatColumn>,
    shift: u32,
}

impl AddressHeat {
    /// Creates a map whose columns are at least `column_ns` wide.
    pub(crate) fn of_width(column_ns: u64) -> Self {
        AddressHeat {
            grid: IntervalGrid::new(column_ns.max(FIRST_WIDTH_NS), MAX_COLUMNS),
            shift: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, t_ns: u64, sector: u64, n: u64) {
        let mut row = (sector >> self.shift) as usize;
        while row >= ROWS {
            self.widen();
            row >>= 1;
        }
        self.grid.at(t_ns).0[row] += n;
    }

    #[cold]
    fn widen(&mut self) {
        for HeatColumn(rows) in self.grid.cells_mut() {
            for i in 0..ROWS / 2 {
                rows[i] = rows[2 * i] + rows[2 * i + 1];
            }
            rows[ROWS / 2..].fill(0);
        }
        self.shift += 1;
    }

    pub(crate) fn merge(&mut self, mut other: AddressHeat) {
        while other.shift < self.shift {
            other.widen();
        }
        while self.shift < other.shift {
            self.widen();
        }
        self.grid.merge(other.grid);
    }

    pub(crate) fn report(&self) -> HeatMap {
        let bounds: Vec<u64> = (0..ROWS as u64).map(|r| r << self.shift).collect();
        HeatMap::from_grid(&self.grid, &bounds)
    }
}

/// Heat map with counts by column (time) and row (value): `counts[column][row]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMap {
    /// Start of the first column, in nanoseconds of the trace's clock.
    pub start_ns: u64,
    /// Width of a column, in nanoseconds.
    pub column_ns: u64,
    /// Smallest value of each row. Empty rows at both ends are omitted.
    pub rows: Vec<u64>,
    /// I/Os by column and row.
    pub counts: Vec<Vec<u64>>,
}

impl HeatMap {
    fn from_grid(grid: &IntervalGrid<HeatColumn>, bounds: &[u64]) -> HeatMap {
        let used = |r: &usize| grid.cells().iter().any(|c| c.0[*r] > 0);
        let first = (0..ROWS).find(used).unwrap_or(0);
        let end = (0..ROWS).rfind(used).map_or(first, |r| r + 1);
        HeatMap {
            start_ns: grid.start_ns(),
            column_ns: grid.width_ns(),
            rows: bounds[first..end].to_vec(),
            counts: grid.cells().iter().map(|c| c.0[first..end].to_vec()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_rows_are_powers_of_two() {
        let mut h = LatencyHeat::of_width(0);
        h.add(0, 1024, 1);
        h.add(0, 2047, 1);
        h.add(2_000_000, 4096, 1);
        let r = h.report();
        assert_eq!(r.rows, [1024, 2048, 4096]);
        assert_eq!(r.counts, [[2, 0, 0], [0, 0, 0], [0, 0, 1]]);
        h.add(5, u64::MAX, 1);
        assert_eq!(h.report().rows.last(), Some(&(1 << 62)));
    }

    #[test]
    fn columns_are_as_wide_as_what_is_counted_at_once() {
        let mut h = LatencyHeat::of_width(1_000_000_000);
        (0..12).for_each(|s| h.add(s * 1_000_000_000 + 999_999_999, 5_000, 100));
        let r = h.report();
        assert_eq!((r.column_ns, r.counts.len()), (1_000_000_000, 12));
        assert!(r.counts.iter().all(|c| c.iter().sum::<u64>() == 100), "no gaps");
    }

    #[test]
    fn addresses_widen_and_merge() {
        let (mut a, mut b, mut both) =
            (AddressHeat::of_width(0), AddressHeat::of_width(0), AddressHeat::of_width(0));
        for i in 0..500u64 {
            let half = if i % 2 == 0 { &mut a } else { &mut b };
            let (t, sector) = (i * 3_000_000, i * i * (1 + i % 2 * 5000));
            half.add(t, sector, 1);
            both.add(t, sector, 1);
        }
        a.merge(b);
        assert_eq!(a.report(), both.report());
        assert_eq!(a.report().counts.iter().flatten().sum::<u64>(), 500);
        a.add(0, u64::MAX, 1);
        assert_eq!(a.report().counts.iter().flatten().sum::<u64>(), 501);
    }
}
