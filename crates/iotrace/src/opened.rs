//! Opens what was named: a file, the files of all CPUs of a blktrace, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::detect::HEAD_BYTES;
use crate::error::Error;
use crate::lines::FileFrom;

/// A trace, and how it begins.
pub(crate) struct Opened {
    /// Its files; none for standard input.
    pub(crate) files: Vec<File>,
    /// Its first bytes. Of standard input they are read and gone.
    pub(crate) head: Vec<u8>,
}

impl Opened {
    /// Opens a path; see [`crate::ask`].
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
                    // A CPU on which nothing happened leaves an empty file.
                    let from = FileFrom { file: &file, at: 0 };
                    from.take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
                }
                files.push(file);
            }
        }
        if head.is_empty() {
            return Err(Error::Empty(path.to_owned()));
        }
        Ok(Opened { files, head })
    }

    /// The trace as one reader from its beginning: standard input, or its only file.
    pub(crate) fn reader(&self) -> Box<dyn Read + Send + '_> {
        match self.files.as_slice() {
            [] => Box::new(self.head.as_slice().chain(io::stdin())),
            [file, ..] => Box::new(FileFrom { file, at: 0 }),
        }
    }
}

/// The files that a name stands for: those of all CPUs of a blktrace, else the one of that name.
fn names(path: &Path) -> Vec<PathBuf> {
    let text = path.to_string_lossy();
    let base = match text.rsplit_once(".blktrace.") {
        Some((base, cpu)) if !cpu.is_empty() && cpu.bytes().all(|b| b.is_ascii_digit()) => base,
        _ if path.exists() => return vec![path.to_owned()],
        _ => &text,
    };
    // Numbers of CPUs may have gaps, but not large ones.
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
