//! The documents that results are quoted from.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::QuotedError;

/// One document: a row of `sources.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// What `source` in a row of results names it by (`bestperf-2009-08-27`).
    pub key: String,
    /// Where it was published.
    pub site: String,
    /// When.
    pub date: String,
    /// What it is about, in this project's words.
    pub subject: String,
    /// What else must be known; empty if nothing.
    #[serde(default)]
    pub note: String,
}

/// Reads `sources.csv`. `name` is used in errors.
///
/// # Errors
/// Not CSV, or a column is missing.
pub fn read_sources(name: &str, input: impl Read) -> Result<Vec<Source>, QuotedError> {
    let mut reader = csv::Reader::from_reader(input);
    reader
        .deserialize()
        .map(|row| {
            row.map_err(|error: csv::Error| QuotedError::Malformed {
                name: name.into(),
                line: error.position().map_or(1, csv::Position::line),
                message: error.to_string(),
            })
        })
        .collect()
}
