//! Errors of reading quoted results.

/// Error of reading a collection of quoted results. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuotedError {
    #[error("{name}:{line}: not CSV: {message}")]
    Malformed {
        name: String,
        line: u64,
        /// Description of the problem.
        message: String,
    },
    /// A required column is missing.
    #[error("{name}:1: the column `{column}` is missing; the header must name it")]
    MissingColumn { name: String, column: &'static str },
    /// A field does not have the type of its column.
    #[error("{name}:{line}:{column}: `{text}` is not {expected}")]
    Field {
        name: String,
        line: u64,
        column: String,
        /// Text of the field.
        text: String,
        /// Description of valid contents.
        expected: &'static str,
    },
    /// Two rows have the same id.
    #[error("{name}:{line}:id: line {first} has the id `{id}` already; every row needs its own")]
    DuplicateId {
        name: String,
        /// Line of the second row.
        line: u64,
        id: String,
        /// Line of the first row.
        first: u64,
    },
    /// One metric has two units, so its values cannot share a table.
    #[error(
        "{name}:{line}:unit: mixed units: `{metric}` is in `{unit}` here and in `{first_unit}` in \
         line {first}; convert one, or give it a metric of its own"
    )]
    MixedUnits {
        name: String,
        /// Line of the row that differs.
        line: u64,
        metric: String,
        /// Unit in that row.
        unit: String,
        /// Unit in the first row of the metric.
        first_unit: String,
        /// Line of the first row of the metric.
        first: u64,
    },
    /// The rows of one metric disagree on its direction.
    #[error(
        "{name}:{line}:higher_is_better: `{metric}` is better the other way in line {first}; one \
         of the two is wrong"
    )]
    MixedDirection {
        name: String,
        /// Line of the row that differs.
        line: u64,
        metric: String,
        /// Line of the first row of the metric.
        first: u64,
    },
}
