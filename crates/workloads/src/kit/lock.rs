//! A lock on a folder of the cache, so that two processes do not fetch or build the same thing at
//! once. The kernel lets go of it when its holder ends, however it ends.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::WorkloadError;

/// A held lock; dropping it lets go.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock that the file `path` stands for, and takes it.
    ///
    /// # Errors
    /// The file cannot be made or the file system knows no locks.
    pub fn take(path: &Path) -> Result<Self, WorkloadError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(WorkloadError::io("lock", path))?;
        file.lock().map_err(WorkloadError::io("lock", path))?;
        Ok(Lock { _file: file })
    }
}
