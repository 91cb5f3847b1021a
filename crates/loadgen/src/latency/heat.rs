//! Counts of response times over time: the data of a heat map. Counting does not allocate.

/// Power of two at which the first row begins, ns; shorter times count in it. No response arrives
/// over a socket within 16 ns.
const FIRST: u32 = 4;
/// Power of two at which the last row ends, ns; longer times count in it, as in the histograms.
const LAST: u32 = 40;
/// Rows per doubling of the time.
const PARTS: u32 = 4;
/// Number of rows in a column.
pub const ROWS: usize = ((LAST - FIRST) * PARTS) as usize;
/// Maximum number of columns.
const COLUMNS: usize = 240;

/// Counts of response times by the time of the response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heat {
    /// Number of bins of the series per column.
    together: usize,
    /// Index of the current column.
    column: usize,
    columns: Vec<[u64; ROWS]>,
}

impl Heat {
    /// Creates empty counts over a series of this number of bins.
    pub fn new(bins: usize) -> Self {
        let together = bins.div_ceil(COLUMNS).max(1);
        let columns = bins.div_ceil(together).max(1);
        Heat { together, column: 0, columns: vec![[0; ROWS]; columns] }
    }

    /// Selects the bin that the next counts belong to.
    #[inline]
    pub fn at(&mut self, bin: usize) {
        self.column = (bin / self.together).min(self.columns.len() - 1);
    }

    /// Counts responses that share a response time in ns.
    #[inline]
    pub fn count(&mut self, time: u64, answers: u64) {
        self.columns[self.column][row(time)] += answers;
    }

    /// Adds another thread's counts over the same series.
    pub fn add(&mut self, other: &Heat) {
        for (a, b) in self.columns.iter_mut().zip(&other.columns) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
    }

    /// Ends the series after this number of bins.
    pub fn end(&mut self, bins: usize) {
        self.columns.truncate(bins.div_ceil(self.together).max(1));
    }

    /// Returns the number of bins of the series per column.
    pub fn together(&self) -> usize {
        self.together
    }

    /// Returns the columns, each with its rows.
    pub fn columns(&self) -> &[[u64; ROWS]] {
        &self.columns
    }
}

/// Returns the row of a time: the power of two below it, and the quarter of the way to the next
/// one.
#[inline]
fn row(time: u64) -> usize {
    let time = time.max(1 << FIRST);
    let power = time.ilog2();
    let part = (time >> (power - 2)) & u64::from(PARTS - 1);
    (((power - FIRST) * PARTS) as usize + part as usize).min(ROWS - 1)
}

/// Returns the lower edge of a row in ns. For [`ROWS`] it is the upper edge of the last row.
pub fn edge(row: usize) -> u64 {
    let (power, part) = (row as u32 / PARTS, row as u64 % u64::from(PARTS));
    (u64::from(PARTS) + part) << (power + FIRST - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_within_the_edges_of_its_row() {
        for time in (16..5000).chain([123_456, 99_999_999, 1 << 33, (1 << 40) - 1]) {
            let r = row(time);
            assert!(edge(r) <= time && time < edge(r + 1), "{time} in {r}");
        }
        assert_eq!((row(0), row(u64::MAX)), (0, ROWS - 1));
        assert_eq!((edge(0), edge(ROWS)), (16, 1 << 40));
    }

    #[test]
    fn bins_share_columns_when_there_are_many() {
        let mut heat = Heat::new(1000);
        assert_eq!((heat.together(), heat.columns().len()), (5, 200));
        heat.at(999);
        heat.count(100, 1);
        let mut all = Heat::new(1000);
        all.add(&heat);
        all.add(&heat);
        assert_eq!(all.columns()[199][row(100)], 2);
        all.end(11);
        assert_eq!(all.columns().len(), 3);
        assert_eq!(Heat::new(3).columns().len(), 3);
    }
}
