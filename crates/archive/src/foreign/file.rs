//! Reads files of other programs: bounded, recognised by content, several of one format together.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::ForeignError;
use super::merge::{merge, name_differences};
use super::result::ForeignResult;
use super::{FORMATS, Format};
use crate::disk;

/// The most that is read of a file.
pub const MAX_FILE: u64 = 64 << 20;
/// One file, with what is kept of it.
#[derive(Debug, Clone)]
pub struct ForeignFile {
    /// Where it was read.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// Files of one format, read: what runs are made of.
#[derive(Debug)]
pub struct ForeignSet {
    /// As what they were recognised.
    pub format: &'static Format,
    /// The files, in the order given.
    pub files: Vec<ForeignFile>,
    /// What they say: a run each.
    pub results: Vec<ForeignResult>,
}

/// Reads files of one format; the trials of all of them are laid together. With `format` they are read
/// as that, else as the one format that knows the content of each.
///
/// # Errors
/// A file cannot be read, is larger than [`MAX_FILE`], is of no format or of several, or is wrong inside;
/// the files are of different formats; one content is given twice.
pub fn read_foreign(
    paths: &[PathBuf],
    format: Option<&'static Format>,
) -> Result<ForeignSet, ForeignError> {
    let mut set: Option<ForeignSet> = None;
    for path in paths {
        let bytes = content(path)?;
        let known = match format {
            Some(format) => format,
            None => recognise(path, &bytes)?,
        };
        let sha256 = disk::sha256(&bytes);
        let malformed =
            |flaw| ForeignError::Malformed { path: path.clone(), format: known.name, flaw };
        if let Some(set) = &set {
            if set.format.name != known.name {
                let (this, first) = (known.name, set.format.name);
                return Err(ForeignError::Mixed { path: path.clone(), this, first });
            }
            if let Some(first) = set.files.iter().find(|f| f.sha256 == sha256) {
                let first = first.path.clone();
                return Err(ForeignError::Twice { path: path.clone(), first });
            }
        }
        let results = (known.read)(&bytes).map_err(malformed)?;
        let set = set.get_or_insert_with(|| ForeignSet {
            format: known,
            files: Vec::new(),
            results: Vec::new(),
        });
        merge(&mut set.results, results);
        set.results.iter().try_for_each(|r| r.within_limits(0)).map_err(malformed)?;
        set.files.push(ForeignFile { path: path.clone(), bytes, sha256 });
    }
    let mut set =
        set.ok_or_else(|| ForeignError::Empty { path: PathBuf::from("the list of files") })?;
    for result in &mut set.results {
        name_differences(&mut result.treatments);
    }
    Ok(set)
}

fn content(path: &Path) -> Result<Vec<u8>, ForeignError> {
    let fail = |source| ForeignError::Io { path: path.to_owned(), source };
    let meta = fs::metadata(path).map_err(fail)?;
    if !meta.is_file() {
        return Err(ForeignError::NotAFile { path: path.to_owned() });
    }
    let too_large =
        |found| ForeignError::TooLarge { path: path.to_owned(), found, limit: MAX_FILE };
    if meta.len() > MAX_FILE {
        return Err(too_large(meta.len()));
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    // The file may grow between the look and the read.
    File::open(path).map_err(fail)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(too_large(bytes.len() as u64));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(ForeignError::Empty { path: path.to_owned() });
    }
    Ok(bytes)
}

fn recognise(path: &Path, bytes: &[u8]) -> Result<&'static Format, ForeignError> {
    let known: Vec<&'static Format> = FORMATS.iter().filter(|f| (f.detect)(bytes)).collect();
    let names = |formats: &mut dyn Iterator<Item = &Format>| -> String {
        formats.map(|f| f.name).collect::<Vec<_>>().join(", ")
    };
    let path = path.to_owned();
    match known.as_slice() {
        [one] => Ok(one),
        [] => Err(ForeignError::Unknown { path, known: names(&mut FORMATS.iter()) }),
        several => {
            let candidates = names(&mut several.iter().copied());
            Err(ForeignError::Ambiguous { path, candidates })
        }
    }
}
