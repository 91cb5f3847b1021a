//! Interface between bindings and the language of their expressions.

use crate::exact::Exact;
use crate::tables::{Row, Table};

/// Computes the expression of a binding.
pub trait Evaluate {
    /// Evaluates `expression`. `at` is the row that `this("column")` reads, for claims of a column.
    fn evaluate(
        &self,
        expression: &str,
        at: Option<CurrentRow<'_>>,
    ) -> Result<ComputedResult, ExpressionError>;
}

/// The table row in which a claim of a column is judged.
#[derive(Debug, Clone, Copy)]
pub struct CurrentRow<'a> {
    pub table: &'a Table,
    pub row: &'a Row,
}

/// Result of an expression, with its formula and inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedResult {
    pub outcome: EvaluatedValue,
    /// Formula with its numbers: `422782 / 402923 - 1`.
    pub formula: String,
    /// Values in the formula.
    pub inputs: Vec<Input>,
}

/// Kind and value of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum EvaluatedValue {
    /// A number with its unit, as [`crate::unit::parse`] reads it.
    Number {
        /// Value in that unit.
        value: Exact,
        unit: String,
    },
    /// A text, such as the field of a quoted result.
    Text(String),
    /// A place in a ranking.
    Rank {
        /// Place in the ranking, from 1.
        place: usize,
        /// Number of ranked results.
        of: usize,
        /// Date of the ranking.
        as_of: Option<String>,
    },
    /// An input is missing; the value names it.
    Missing(String),
}

/// A value that went into a result.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Input {
    /// Name of the value.
    pub label: String,
    /// Value as it is printed.
    pub value: String,
    /// Symbol of the unit; empty or `1` for a plain number.
    pub unit: String,
    /// Id of a quoted result, or the place in the text: `table 2, line 41`.
    pub source: String,
}

/// Error for an expression that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// Reason for the failure.
    pub message: String,
    /// Byte range of the expression that the error is about.
    pub span: std::ops::Range<usize>,
    /// The next step; may be empty.
    pub help: String,
}
