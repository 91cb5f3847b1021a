//! A lock on a folder of the cache, so that two processes do not fetch or build the same thing at
//! the same time. The kernel releases it when its holder ends, for whatever reason.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::WorkloadError;

/// A held lock; dropping it releases it.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock on the file `path` and takes it.
    ///
    /// # Errors
    /// Fails if the file cannot be created or the file system does not support locks.
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
