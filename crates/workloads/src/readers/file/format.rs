//! The description of a format, and a size-limited file reader.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::readers::file::error::{Flaw, ForeignError};
use crate::readers::file::json::LOOK;
use crate::readers::result::ForeignResult;
use crate::readers::result::series::ForeignSeries;

/// A function that limits a tool's command line to the benchmarks of these names.
pub type BenchmarkFilter = fn(&[String], &[&str]) -> Option<Vec<String>>;

/// A format of another program's results.
#[derive(Debug)]
pub struct ForeignFormat {
    /// Name of the format for `--as`.
    pub name: &'static str,
    /// Programs that write this format, for help texts.
    pub help: &'static str,
    /// Returns true if the bytes look like this format. Looks only at the content and also accepts
    /// files that are truncated or invalid further down, so that the reader can report where they
    /// are invalid.
    pub detect: fn(&[u8]) -> bool,
    /// True if the format is the output of a benchmark tool, so that a trial can be read with it.
    pub live: bool,
    /// True if other programs print such lines too, so that a name may select the reader where
    /// `detect` does not.
    pub by_name: bool,
    /// Returns the words of a command line with the tool's own filter for some benchmarks; `None`
    /// if the command is not one that it knows.
    pub filter: Option<BenchmarkFilter>,
    /// Function that reads a file of this format.
    pub reader: FormatReader,
    /// Reads a folder of results as one content, for formats that are stored in folders.
    pub folder: Option<ResultFolder>,
}

/// The reader function of a format.
#[derive(Debug, Clone, Copy)]
pub enum FormatReader {
    /// Reads trials, which make a run. A file gives one result, or several if its numbers do not
    /// fit into one metric (the modes of JMH).
    Run(fn(&[u8]) -> Result<Vec<ForeignResult>, Flaw>),
    /// Reads points over revisions, which make series.
    Series(fn(&[u8]) -> Result<ForeignSeries, Flaw>),
}

impl ForeignFormat {
    /// Returns the result of the reader, or an error if nothing in the content is of this format.
    pub(crate) fn confirm<T>(&self, bytes: &[u8], read: T) -> Result<T, Flaw> {
        // Detection examines the start of a file.
        let own = self.by_name || bytes.len() > LOOK || (self.detect)(bytes);
        own.then_some(read).ok_or_else(|| Flaw::whole("nothing in it is of this format"))
    }
}

/// A folder that holds results.
#[derive(Debug, Clone, Copy)]
pub struct ResultFolder {
    /// Name of the file that identifies such a folder.
    pub marker: &'static str,
    /// Reads the results in the folder.
    pub read: fn(&Path) -> Result<Vec<u8>, ForeignError>,
}

/// Maximum size of a file in bytes.
pub const MAX_FILE: u64 = 64 << 20;

/// Reads a file of at most [`MAX_FILE`] bytes.
pub fn bounded(path: &Path) -> Result<Vec<u8>, ForeignError> {
    let fail = |error| ForeignError::Io(path.to_owned(), error);
    let meta = fs::metadata(path).map_err(fail)?;
    if !meta.is_file() {
        return Err(ForeignError::NotAFile(path.to_owned()));
    }
    let mut bytes = Vec::with_capacity(meta.len().min(MAX_FILE) as usize);
    let mut found = meta.len();
    if found <= MAX_FILE {
        // The file may grow between the size check and the read.
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
