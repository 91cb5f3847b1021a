//! Why quoted results cannot be read.

/// Why a collection of quoted results cannot be read. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuotedError {
    /// The text is not CSV.
    #[error("{name}:{line}: not CSV: {message}")]
    Malformed {
        /// The file.
        name: String,
        /// Where.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// A column that must be there is not.
    #[error("{name}:1: the column `{column}` is missing; the header must name it")]
    MissingColumn {
        /// The file.
        name: String,
        /// The column.
        column: &'static str,
    },
    /// A field does not hold what its column holds.
    #[error("{name}:{line}:{column}: `{text}` is not {expected}")]
    Field {
        /// The file.
        name: String,
        /// The line.
        line: u64,
        /// The column's name.
        column: String,
        /// What is written there.
        text: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// Two rows have one id.
    #[error(
        "{name}:{line}:id: the id `{id}` stands in line {first} already; every row needs its own"
    )]
    DuplicateId {
        /// The file.
        name: String,
        /// The second row's line.
        line: u64,
        /// The id.
        id: String,
        /// The first row's line.
        first: u64,
    },
    /// One metric has two units, so its values cannot stand in one table.
    #[error(
        "{name}:{line}:unit: mixed units: `{metric}` is in `{unit}` here and in `{first_unit}` in \
         line {first}; convert one, or give it a metric of its own"
    )]
    MixedUnits {
        /// The file.
        name: String,
        /// The row that differs.
        line: u64,
        /// The metric.
        metric: String,
        /// Its unit there.
        unit: String,
        /// The unit before.
        first_unit: String,
        /// The first row of the metric.
        first: u64,
    },
    /// One metric is better both ways.
    #[error(
        "{name}:{line}:higher_is_better: `{metric}` is better the other way in line {first}; one \
         of the two is wrong"
    )]
    MixedDirection {
        /// The file.
        name: String,
        /// The row that differs.
        line: u64,
        /// The metric.
        metric: String,
        /// The first row that gave the other direction.
        first: u64,
    },
}
