//! Why there is no landscape.

use std::path::PathBuf;

use crate::quoted::QuotedError;

/// Why there is no landscape.
#[derive(Debug, thiserror::Error)]
pub enum LandscapeError {
    /// A file of results is wrong.
    #[error(transparent)]
    Quoted(#[from] QuotedError),
    /// A file of definitions is wrong.
    #[error("{name}:{line}:{column}: {message}")]
    Definition {
        /// The file.
        name: String,
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is larger than what is read.
    #[error("{path} has {bytes} bytes; files of results may have {most}")]
    TooBig {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// No landscape has this name.
    #[error("there is no landscape `{name}`{hint}; `assay landscape` lists them")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The name that was probably meant, as a clause; empty if none.
        hint: String,
    },
    /// A metric must be chosen, or does not exist.
    #[error("{landscape} {problem}; its metrics are {known}")]
    Metric {
        /// The landscape.
        landscape: String,
        /// What is wrong.
        problem: String,
        /// The metrics there are.
        known: String,
    },
    /// A day that is none.
    #[error("`{0}` is not a date such as 2009-08-27")]
    Date(String),
    /// The values that decide have several units.
    #[error("{landscape}: mixed units: {a} is in `{a_unit}` and {b} in `{b_unit}`")]
    MixedUnits {
        /// The landscape.
        landscape: String,
        /// A row.
        a: String,
        /// Its unit.
        a_unit: String,
        /// Another row.
        b: String,
        /// Its unit.
        b_unit: String,
    },
    /// A measured run has another metric, so it cannot stand in this table.
    #[error(
        "run {run} measured {metric} in `{unit}`, {landscape} has {wanted}: different metrics \
         cannot be ranked together ({})",
        assay_checks::rows::SAME_METRIC.id
    )]
    OtherMetric {
        /// The run.
        run: String,
        /// What it measured.
        metric: String,
        /// In what.
        unit: String,
        /// The landscape.
        landscape: String,
        /// What the landscape has.
        wanted: String,
    },
}
