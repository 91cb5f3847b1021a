//! Documents that results are quoted from.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::QuotedError;

/// A document: one row of `sources.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct QuotedSource {
    /// Key that the column `source` of the results refers to (`bestperf-2009-08-27`).
    pub key: String,
    pub site: String,
    pub date: String,
    /// Subject of the document, in this project's words.
    pub subject: String,
    /// Further remarks; may be empty.
    #[serde(default)]
    pub note: String,
}

/// Reads `sources.csv`. `name` is used in errors.
///
/// # Errors
/// Not CSV, or a column is missing.
pub fn read_sources(name: &str, input: impl Read) -> Result<Vec<QuotedSource>, QuotedError> {
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
