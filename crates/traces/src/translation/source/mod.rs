//! Sources of records: recorded traces in several formats, which are detected from their first
//! bytes, and several traces interleaved. A source returns batches and holds one buffer, however
//! long the trace is.

mod binary;
mod interleave;
mod lackey;
mod memtrace;
mod stream;
mod text;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use binary::{MAGIC, Writer};
pub use interleave::Interleaved;
pub use stream::{AccessStream, BATCH};

use crate::translation::error::Error;

/// Opens a trace and detects its format from its first bytes; `-` is standard input.
///
/// # Errors
/// If the trace cannot be read, is empty, or has an unknown format.
pub fn open(path: &Path) -> Result<Box<dyn AccessStream>, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let reader: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        if path.is_dir() {
            return Err(io(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        Box::new(File::open(path).map_err(io)?)
    };
    from_reader(reader, path.to_owned())
}

/// Opens a trace from any reader like [`open`]; `path` is only for messages.
///
/// # Errors
/// The same as for [`open`].
pub fn from_reader(
    mut reader: Box<dyn Read>,
    path: PathBuf,
) -> Result<Box<dyn AccessStream>, Error> {
    let mut head = Vec::with_capacity(4096);
    // A pipe may return less than it has, so this reads until 4 KiB or the end.
    let read = reader.by_ref().take(4096).read_to_end(&mut head);
    read.map_err(|source| Error::Io { path: path.clone(), source })?;
    if head.is_empty() {
        return Err(Error::Empty(path));
    }
    let whole: Box<dyn Read> = Box::new(io::Cursor::new(head.clone()).chain(reader));
    if head.starts_with(MAGIC) || MAGIC.starts_with(&head) {
        return Ok(Box::new(binary::BinaryTrace::open(whole, path)?));
    }
    if let Some(reading) = memtrace::detect(&head) {
        return Ok(Box::new(text::TextTrace::new(whole, path, reading)));
    }
    if lackey::detect(&head) {
        return Ok(Box::new(text::TextTrace::new(whole, path, lackey::FORMAT)));
    }
    Err(Error::Unknown(path))
}
