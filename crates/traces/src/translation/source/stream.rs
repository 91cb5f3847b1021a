//! Interface of all sources of records.

use crate::translation::error::Error;

pub trait AccessStream {
    /// Fills `batch` with the next records, after clearing it. It is empty at the end.
    ///
    /// # Errors
    /// If the trace cannot be read or is invalid. The source cannot be used after an error.
    fn next(&mut self, batch: &mut Vec<u64>) -> Result<(), Error>;

    /// Returns the format of the trace, as a phrase.
    fn format(&self) -> &'static str;
}

/// Approximate maximum number of records in a batch.
pub const BATCH: usize = 64 << 10;
