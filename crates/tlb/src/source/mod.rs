//! Where records come from: recorded traces of several formats, recognised by how they begin, and
//! several traces interleaved. A source hands out batches; it holds one buffer, however long the trace.

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
pub use stream::{BATCH, Source};

use crate::error::Error;

/// Opens a trace, whose format is recognised by how it begins; `-` is standard input.
///
/// # Errors
/// It cannot be read, is empty, or is in no format that is read.
pub fn open(path: &Path) -> Result<Box<dyn Source>, Error> {
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

/// As [`open`], from any reader; `path` is for messages.
///
/// # Errors
/// As [`open`].
pub fn from_reader(mut reader: Box<dyn Read>, path: PathBuf) -> Result<Box<dyn Source>, Error> {
    let mut head = Vec::with_capacity(4096);
    // By the byte: a pipe may hand out less than it has.
    let read = reader.by_ref().take(4096).read_to_end(&mut head);
    read.map_err(|source| Error::Io { path: path.clone(), source })?;
    if head.is_empty() {
        return Err(Error::Empty(path));
    }
    let whole: Box<dyn Read> = Box::new(io::Cursor::new(head.clone()).chain(reader));
    if head.starts_with(MAGIC) || MAGIC.starts_with(&head) {
        return Ok(Box::new(binary::Reader::open(whole, path)?));
    }
    if let Some(reading) = memtrace::detect(&head) {
        return Ok(Box::new(text::Text::new(whole, path, reading)));
    }
    if lackey::detect(&head) {
        return Ok(Box::new(text::Text::new(whole, path, lackey::FORMAT)));
    }
    Err(Error::Unknown(path))
}
