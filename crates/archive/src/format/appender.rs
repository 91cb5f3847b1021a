//! A file of lines that is only ever appended to.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use crate::{Error, Result};

#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
    end: u64,
}

impl Appender {
    /// Opens a file that ends with a complete line.
    pub(crate) fn open(path: PathBuf) -> Result<Self> {
        let open = || {
            let file = OpenOptions::new().append(true).open(&path)?;
            let end = file.metadata()?.len();
            Ok((file, end))
        };
        match open() {
            Ok((file, end)) => Ok(Appender { file, path, end }),
            Err(e) => Err(Error::io("write", &path, e)),
        }
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.end
    }

    /// Appends a line (including its newline) with one write(2), so that the line survives a crash
    /// of this process once the call returns. If the line does not fit on the device, no part of it
    /// is kept.
    pub(crate) fn append(&mut self, line: &[u8]) -> Result<()> {
        match self.file.write_all(line) {
            Ok(()) => {
                self.end += line.len() as u64;
                Ok(())
            }
            Err(e) => {
                // Truncating needs no space. If it fails too, readers skip the torn line.
                let _ = self.file.set_len(self.end);
                Err(Error::io("write", &self.path, e))
            }
        }
    }

    /// Waits until the whole file is on the storage device.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io("flush", &self.path, e))
    }
}
