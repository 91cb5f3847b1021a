//! The interface between bindings and the language of their expressions.

use crate::exact::Exact;
use crate::tables::{Row, Table};

/// Computes the expression of a binding.
pub trait Evaluate {
    /// Evaluates `expression`. `at` is the row that `this("column")` reads, in claims of a column.
    fn evaluate(
        &self,
        expression: &str,
        at: Option<CurrentRow<'_>>,
    ) -> Result<Computed, ExpressionError>;
}

/// The row of a table that a claim of a column is judged in.
#[derive(Debug, Clone, Copy)]
pub struct CurrentRow<'a> {
    /// The table.
    pub table: &'a Table,
    /// The row.
    pub row: &'a Row,
}

/// The result of an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed {
    /// The result.
    pub outcome: Outcome,
    /// The formula with its numbers: `422782 / 402923 - 1`.
    pub formula: String,
    /// The values in it.
    pub inputs: Vec<Input>,
}

/// The result of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A number with its unit, as [`crate::unit::parse`] reads it.
    Number {
        /// The value in that unit.
        value: Exact,
        /// The unit.
        unit: String,
    },
    /// A text, such as the field of a quoted result.
    Text(String),
    /// A place in a ranking.
    Rank {
        /// The place, from 1.
        place: usize,
        /// Ranked results.
        of: usize,
        /// The day that the ranking is of.
        as_of: Option<String>,
    },
    /// No data: names the missing input.
    Missing(String),
}

/// A value that went into a result.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Input {
    /// The name of the value.
    pub label: String,
    /// The value as it is printed.
    pub value: String,
    /// Symbol of the unit; empty or `1` for a plain number.
    pub unit: String,
    /// The id of a quoted result, or the place in the text: `table 2, line 41`.
    pub source: String,
}

/// An expression that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// The reason.
    pub message: String,
    /// Bytes of the expression that it is about.
    pub span: std::ops::Range<usize>,
    /// The next step; may be empty.
    pub help: String,
}
