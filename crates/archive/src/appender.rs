//! A file of lines that is only ever added to.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use crate::{Error, Result};

/// The file, held open.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
    end: u64,
}

impl Appender {
    /// Opens a file whose last line is whole.
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

    /// How many bytes it has.
    pub(crate) fn len(&self) -> u64 {
        self.end
    }

    /// Adds a line (with its newline) by one write(2), so that it survives this process once this
    /// returns. When it does not fit, no part of it stays.
    pub(crate) fn append(&mut self, line: &[u8]) -> Result<()> {
        match self.file.write_all(line) {
            Ok(()) => {
                self.end += line.len() as u64;
                Ok(())
            }
            Err(e) => {
                // Cutting needs no space. Where it fails too, readers pass over the torn line.
                let _ = self.file.set_len(self.end);
                Err(Error::io("write", &self.path, e))
            }
        }
    }

    /// Waits until the storage device has all of it.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io("flush", &self.path, e))
    }
}
