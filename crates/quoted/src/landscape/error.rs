//! Errors of building a landscape.

use std::path::PathBuf;

use crate::quoted::QuotedError;

/// Result of a step of building a landscape.
pub(crate) type Result<T, E = LandscapeError> = std::result::Result<T, E>;

/// Error of building a landscape.
#[derive(Debug, thiserror::Error)]
pub enum LandscapeError {
    /// A file of results is malformed.
    #[error(transparent)]
    Quoted(#[from] QuotedError),
    /// A file of definitions is malformed.
    #[error("{name}:{line}:{column}: {message}")]
    Definition {
        name: String,
        /// Line number, from 1.
        line: usize,
        /// Column number, from 1.
        column: usize,
        /// Description of the problem.
        message: String,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A file exceeds the maximum size.
    #[error("{path} has {bytes} bytes; files of results may have {most}")]
    TooBig {
        path: PathBuf,
        bytes: u64,
        /// Maximum size in bytes.
        most: u64,
    },
    /// No landscape has this name.
    #[error("there is no landscape `{name}`{hint}; `assay landscape` lists them")]
    Unknown {
        name: String,
        /// Suggestion of a similar name, as a clause; may be empty.
        hint: String,
    },
    /// A metric must be chosen, or does not exist.
    #[error("{landscape} {problem}; its metrics are `{}`", known.join("`, `"))]
    Metric {
        landscape: String,
        /// Description of the problem.
        problem: String,
        /// The metrics there are.
        known: Vec<String>,
    },
    /// A text that is not a date.
    #[error("`{0}` is not a date such as 2009-08-27")]
    Date(String),
    /// The deciding values have several units.
    #[error("{landscape}: mixed units: {a} is in `{a_unit}` and {b} in `{b_unit}`")]
    MixedUnits {
        landscape: String,
        /// Id of a row.
        a: String,
        a_unit: String,
        /// Id of a row with another unit.
        b: String,
        b_unit: String,
    },
    /// A measured run has another metric, unit or direction, so it cannot be added to this table.
    #[error(
        "run {run} measured {metric} in `{unit}`, {landscape} has {wanted}: different metrics \
         cannot be ranked together ({})",
        assay_checks::rows::SAME_METRIC.id
    )]
    OtherMetric {
        /// Id of the run.
        run: String,
        /// Metric of the run.
        metric: String,
        /// Unit of that metric.
        unit: String,
        landscape: String,
        /// Metrics and unit of the landscape.
        wanted: String,
    },
}
