//! Lines of a landscape during construction.

use super::definition::Definition;
use crate::quoted::QuotedResult;

/// A line during construction: the row of each value column.
#[derive(Debug, Clone)]
pub(super) struct Draft<'a> {
    pub(super) values: Vec<Option<&'a QuotedResult>>,
    /// Index of the deciding row in `values`.
    pub(super) decides: Option<usize>,
}

impl<'a> Draft<'a> {
    /// Returns the deciding row, or else any row of the line.
    pub(super) fn row(&self) -> Option<&'a QuotedResult> {
        self.deciding().or_else(|| self.values.iter().copied().flatten().next())
    }

    /// Returns the row of the value column with this key.
    pub(super) fn value(&self, definition: &Definition, key: &str) -> Option<&'a QuotedResult> {
        let column = definition.value_keys().iter().position(|k| *k == key)?;
        self.values.get(column).copied().flatten()
    }

    pub(super) fn deciding(&self) -> Option<&'a QuotedResult> {
        self.decides.and_then(|i| self.values[i])
    }
}
