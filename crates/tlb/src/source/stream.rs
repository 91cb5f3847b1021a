//! A source of records, as whoever counts them sees it.

use crate::error::Error;

/// A stream of records.
pub trait Source {
    /// Puts the next records into `batch`, which is emptied first; none at the end.
    ///
    /// # Errors
    /// The trace cannot be read, or what is read is wrong. Nothing more can be had then.
    fn next(&mut self, batch: &mut Vec<u64>) -> Result<(), Error>;

    /// What is read, as a phrase.
    fn format(&self) -> &'static str;
}

/// How many records a batch has at most, about.
pub const BATCH: usize = 64 << 10;
