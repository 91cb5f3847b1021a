//! Data of a heat map: the number of values by time and by size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of columns and of rows; more could not be distinguished in the chart.
const MAX_SIDE: usize = 1_000;
const MAX_CELLS: usize = 50_000;

/// Counts of values by interval of time (columns) and interval of the value (rows).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heat {
    /// Unit of the values.
    pub unit: String,
    /// Start of the first column, nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Width of a column in nanoseconds.
    pub column_ns: u64,
    /// Lower edges of the rows, rising, followed by the upper edge of the last row: one more than
    /// there are rows.
    pub edges: Vec<u64>,
    /// Number of values, by column and row.
    pub counts: Vec<Vec<u64>>,
}

/// Reason why a heat map cannot be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeatError {
    #[error("a heat map has 1 to {MAX_SIDE} rows and at most {MAX_SIDE} columns")]
    Sides,
    #[error("a heat map has at most {MAX_CELLS} cells")]
    Cells,
    #[error("the edges of its rows do not rise")]
    Edges,
    #[error("not every column has {0} rows")]
    Columns(usize),
    #[error("the times of its columns are invalid")]
    Times,
}

impl Heat {
    /// Checks that the map can be drawn: sizes within the limits, rising edges, complete columns, a
    /// valid time.
    ///
    /// # Errors
    ///
    /// The first violation.
    pub fn check(&self) -> Result<(), HeatError> {
        let rows = self.edges.len().saturating_sub(1);
        if rows == 0 || rows > MAX_SIDE || self.counts.len() > MAX_SIDE {
            return Err(HeatError::Sides);
        }
        if rows * self.counts.len() > MAX_CELLS {
            return Err(HeatError::Cells);
        }
        if !self.edges.is_sorted_by(|a, b| a < b) {
            return Err(HeatError::Edges);
        }
        if self.counts.iter().any(|column| column.len() != rows) {
            return Err(HeatError::Columns(rows));
        }
        let end = self.column_ns.checked_mul(self.counts.len() as u64);
        if self.column_ns == 0 || end.and_then(|e| e.checked_add(self.start_ns)).is_none() {
            return Err(HeatError::Times);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let good = Heat {
            unit: "ns".into(),
            start_ns: 5,
            column_ns: 10,
            edges: vec![1, 2, 4],
            counts: vec![vec![0, 3], vec![1, 0]],
        };
        assert_eq!(good.check(), Ok(()));
        for (bad, word) in [
            (Heat { edges: vec![1], ..good.clone() }, "rows"),
            (Heat { edges: vec![1, 1, 2], ..good.clone() }, "rise"),
            (Heat { counts: vec![vec![1]], ..good.clone() }, "every column"),
            (Heat { column_ns: 0, ..good.clone() }, "time"),
            (Heat { column_ns: u64::MAX, ..good.clone() }, "time"),
        ] {
            let error = bad.check().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
