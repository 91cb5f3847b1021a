//! A line of a landscape before its texts.

use super::definition::Definition;
use crate::quoted::QuotedResult;

/// A line before its texts: the row under each value column.
#[derive(Debug, Clone)]
pub(super) struct Draft<'a> {
    pub(super) values: Vec<Option<&'a QuotedResult>>,
    /// Which of them decides.
    pub(super) decides: Option<usize>,
}

impl<'a> Draft<'a> {
    /// The row that decides, else any of the line.
    pub(super) fn row(&self) -> Option<&'a QuotedResult> {
        self.deciding().or_else(|| self.values.iter().copied().flatten().next())
    }

    /// The row under a value column.
    pub(super) fn value(&self, definition: &Definition, key: &str) -> Option<&'a QuotedResult> {
        let column = definition.value_keys().iter().position(|k| *k == key)?;
        self.values.get(column).copied().flatten()
    }

    pub(super) fn deciding(&self) -> Option<&'a QuotedResult> {
        self.decides.and_then(|i| self.values[i])
    }
}
