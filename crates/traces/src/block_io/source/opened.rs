//! Opens a trace: a file, the per-CPU files of a blktrace, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::block_io::error::Error;
use crate::block_io::source::detect::HEAD_BYTES;
use crate::block_io::source::lines::FileFrom;

/// An open trace with its first bytes.
pub(crate) struct OpenTrace {
    /// Files of the trace; empty for standard input.
    pub(crate) files: Vec<File>,
    /// First bytes of the trace. For standard input they have been consumed.
    pub(crate) head: Vec<u8>,
}

impl OpenTrace {
    /// Opens a path as described at [`crate::block_io::ask`].
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        let mut head = Vec::new();
        let mut files = Vec::new();
        if path == Path::new("-") {
            let read = io::stdin().lock().take(HEAD_BYTES as u64).read_to_end(&mut head);
            read.map_err(failed)?;
        } else if path.is_dir() {
            return Err(Error::Folder(path.to_owned()));
        } else {
            for name in names(path) {
                let file =
                    File::open(&name).map_err(|source| Error::Read { path: name, source })?;
                if head.is_empty() {
                    // A CPU without events leaves an empty file.
                    let from = FileFrom { file: &file, at: 0 };
                    from.take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
                }
                files.push(file);
            }
        }
        if head.is_empty() {
            return Err(Error::Empty(path.to_owned()));
        }
        Ok(OpenTrace { files, head })
    }

    /// Returns a reader of the whole trace: standard input, or the first file from its beginning.
    pub(crate) fn reader(&self) -> Box<dyn Read + Send + '_> {
        match self.files.as_slice() {
            [] => Box::new(self.head.as_slice().chain(io::stdin())),
            [file, ..] => Box::new(FileFrom { file, at: 0 }),
        }
    }
}

/// Returns the files of a trace: those of all CPUs of a blktrace, else the path itself.
fn names(path: &Path) -> Vec<PathBuf> {
    let text = path.to_string_lossy();
    let base = match text.rsplit_once(".blktrace.") {
        Some((base, cpu)) if !cpu.is_empty() && cpu.bytes().all(|b| b.is_ascii_digit()) => base,
        _ if path.exists() => return vec![path.to_owned()],
        _ => &text,
    };
    // CPU numbers may have gaps, but not large ones.
    let (mut found, mut missing) = (Vec::new(), 0);
    for cpu in 0..8192 {
        let name = PathBuf::from(format!("{base}.blktrace.{cpu}"));
        if name.exists() {
            found.push(name);
            missing = 0;
        } else {
            missing += 1;
        }
        if missing > 256 {
            break;
        }
    }
    if found.is_empty() { vec![path.to_owned()] } else { found }
}
