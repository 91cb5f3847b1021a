//! A format, and the reading of its bounded files.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::error::{Flaw, ForeignError};
use super::result::ForeignResult;
use super::series::ForeignSeries;

/// A format of another program's results.
#[derive(Debug)]
pub struct Format {
    /// Name, as `--as` takes it.
    pub name: &'static str,
    /// Programs that write this format, for help texts.
    pub help: &'static str,
    /// Returns true if these bytes look like it. Looks at the content alone, and takes what is cut off or
    /// wrong further down for it too, so that the reader can say where it is wrong.
    pub detect: fn(&[u8]) -> bool,
    /// Function that reads a file of this format.
    pub reader: Reader,
    /// Reads a folder of it as one content, where it is kept in folders.
    pub folder: Option<Folder>,
}

/// The reader of a format.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// Trials: a run. A file gives one result, or several when it holds numbers that no one metric can hold
    /// together (the modes of JMH).
    Run(fn(&[u8]) -> Result<Vec<ForeignResult>, Flaw>),
    /// Points over revisions: series.
    Series(fn(&[u8]) -> Result<ForeignSeries, Flaw>),
}

/// A folder that holds results.
#[derive(Debug, Clone, Copy)]
pub struct Folder {
    /// The file in it by which it is known.
    pub marker: &'static str,
    /// Reads the results in it.
    pub read: fn(&Path) -> Result<Vec<u8>, ForeignError>,
}

/// The most that is read of a file.
pub const MAX_FILE: u64 = 64 << 20;

/// Reads a file of at most [`MAX_FILE`] bytes.
pub(super) fn bounded(path: &Path) -> Result<Vec<u8>, ForeignError> {
    let fail = |error| ForeignError::Io(path.to_owned(), error);
    let meta = fs::metadata(path).map_err(fail)?;
    if !meta.is_file() {
        return Err(ForeignError::NotAFile(path.to_owned()));
    }
    let mut bytes = Vec::with_capacity(meta.len().min(MAX_FILE) as usize);
    let mut found = meta.len();
    if found <= MAX_FILE {
        // The file may grow between the look and the read.
        let file = File::open(path).map_err(fail)?;
        found = file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(fail)? as u64;
    }
    if found > MAX_FILE {
        return Err(ForeignError::TooLarge { path: path.to_owned(), found, limit: MAX_FILE });
    }
    if bytes.trim_ascii().is_empty() {
        return Err(ForeignError::Empty(path.to_owned()));
    }
    Ok(bytes)
}
