//! Reads files of other programs: limited in size, recognized by content, several files of one
//! format together.

pub(super) mod error;
pub(super) mod format;
pub(super) mod json;
pub(super) mod lines;
pub(super) mod unit;

use std::path::{Path, PathBuf};

use assay_stats::series::ImportedSeries;

use crate::readers::FORMATS;
use crate::readers::file::error::{Flaw, ForeignError};
use crate::readers::file::format::{ForeignFormat, FormatReader, bounded};
use crate::readers::result::ForeignResult;
use crate::readers::result::merge::{merge, name_differences};
use crate::readers::result::series::ForeignSeries;

/// A file that was read, with its content.
#[derive(Debug, Clone)]
pub struct ForeignFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// Files of one format that were read, from which runs are made.
#[derive(Debug)]
pub struct ForeignSet {
    /// The format as which the files were read.
    pub format: &'static ForeignFormat,
    /// The files, in the order given.
    pub files: Vec<ForeignFile>,
    /// The results in the files; each becomes a run.
    pub results: Vec<ForeignResult>,
}

/// Reads files of one format and merges the trials of all of them. The files are read as `format`
/// if it is given, else as the only format that recognizes the content of each.
///
/// # Errors
/// If a file cannot be read, is larger than [`MAX_FILE`](crate::readers::MAX_FILE), is of
/// no format or of several, or has invalid content; if the files have different formats or their
/// format has no trials; if two files have the same content.
pub fn read_foreign(
    paths: &[PathBuf],
    format: Option<&'static ForeignFormat>,
) -> Result<ForeignSet, ForeignError> {
    let (format, files) = contents(paths, format)?;
    let FormatReader::Run(read) = format.reader else {
        return Err(ForeignError::Series(paths[0].clone(), format.name));
    };
    let results = merged(&files, format, read)?;
    Ok(ForeignSet { format, files, results })
}

/// Reads series from files of one format, in the order given. Trials become points at the time that
/// their file states.
///
/// # Errors
/// As for [`read_foreign`]; also if there is no value, or if trials have no time.
pub fn read_series(
    paths: &[PathBuf],
    format: Option<&'static ForeignFormat>,
) -> Result<ImportedSeries, ForeignError> {
    let (format, files) = contents(paths, format)?;
    let mut all = ForeignSeries::default();
    match format.reader {
        FormatReader::Series(read) => {
            for file in &files {
                let read = read(&file.bytes).and_then(|s| format.confirm(&file.bytes, s));
                all.extend(read.map_err(|f| malformed(&file.path, format, f))?);
            }
        }
        FormatReader::Run(read) => {
            for result in merged(&files, format, read)? {
                let Some(found) = ForeignSeries::of_result(&result) else {
                    return Err(ForeignError::Undated(paths[0].clone(), format.name));
                };
                all.extend(found);
            }
        }
    }
    if all.series.is_empty() {
        return Err(malformed(&paths[0], format, Flaw::whole("it holds no values")));
    }
    let names = files.iter().map(|f| f.path.file_name().unwrap_or_default().to_string_lossy());
    let names: Vec<_> = names.collect();
    let sha256 = match files.as_slice() {
        [file] => file.sha256.clone(),
        files => assay_system::sha256(
            &files.iter().map(|f| f.bytes.as_slice()).collect::<Vec<_>>().concat(),
        ),
    };
    let (file, series, excluded) = (names.join(", "), all.series, all.excluded);
    Ok(ImportedSeries { schema_version: 1, file, sha256, series, excluded })
}

fn merged(
    files: &[ForeignFile],
    format: &'static ForeignFormat,
    read: fn(&[u8]) -> Result<Vec<ForeignResult>, Flaw>,
) -> Result<Vec<ForeignResult>, ForeignError> {
    let mut results = Vec::new();
    for file in files {
        let malformed = |flaw| malformed(&file.path, format, flaw);
        let read = read(&file.bytes).and_then(|found| format.confirm(&file.bytes, found));
        merge(&mut results, read.map_err(malformed)?);
        results.iter().try_for_each(|r| r.within_limits(0)).map_err(malformed)?;
    }
    for result in &mut results {
        name_differences(&mut result.treatments);
    }
    Ok(results)
}

pub(super) fn malformed(path: &Path, format: &ForeignFormat, flaw: Flaw) -> ForeignError {
    ForeignError::Malformed(path.to_owned(), format.name, flaw)
}

/// Reads the content of files that all have one format.
fn contents(
    paths: &[PathBuf],
    wanted: Option<&'static ForeignFormat>,
) -> Result<(&'static ForeignFormat, Vec<ForeignFile>), ForeignError> {
    let mut first: Option<&'static ForeignFormat> = None;
    let mut files: Vec<ForeignFile> = Vec::new();
    for path in paths {
        let (bytes, known) = content(path, wanted)?;
        let known = match known {
            Some(known) => known,
            None => format_of(path, &bytes, FORMATS.iter())?,
        };
        let first = *first.get_or_insert(known);
        if first.name != known.name {
            return Err(ForeignError::Mixed(path.clone(), known.name, first.name));
        }
        let sha256 = assay_system::sha256(&bytes);
        if let Some(same) = files.iter().find(|f| f.sha256 == sha256) {
            return Err(ForeignError::Twice(path.clone(), same.path.clone()));
        }
        files.push(ForeignFile { path: path.clone(), bytes, sha256 });
    }
    let format = first.ok_or_else(|| ForeignError::Empty("the list of files".into()))?;
    Ok((format, files))
}

/// Reads a file, or a folder of the wanted format or of the format whose marker file it contains.
fn content(
    path: &Path,
    wanted: Option<&'static ForeignFormat>,
) -> Result<(Vec<u8>, Option<&'static ForeignFormat>), ForeignError> {
    if !path.is_dir() {
        return Ok((bounded(path)?, wanted));
    }
    let marked =
        |f: &&ForeignFormat| f.folder.is_some_and(|folder| path.join(folder.marker).exists());
    let format = wanted.or_else(|| FORMATS.iter().find(marked));
    match format.and_then(|f| f.folder) {
        Some(folder) => Ok(((folder.read)(path)?, format)),
        None => Err(ForeignError::NotAFile(path.to_owned())),
    }
}

/// Returns the only one of the formats that recognizes the content.
pub(super) fn format_of(
    path: &Path,
    bytes: &[u8],
    formats: impl Iterator<Item = &'static ForeignFormat> + Clone,
) -> Result<&'static ForeignFormat, ForeignError> {
    let known: Vec<&'static ForeignFormat> =
        formats.clone().filter(|f| (f.detect)(bytes)).collect();
    let names = |formats: Vec<&ForeignFormat>| -> String {
        formats.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
    };
    match known.as_slice() {
        [one] => Ok(one),
        [] => Err(ForeignError::Unknown(path.to_owned(), names(formats.collect()))),
        several => Err(ForeignError::Ambiguous(path.to_owned(), names(several.to_vec()))),
    }
}
