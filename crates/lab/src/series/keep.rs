//! The archive's folder of histories: a file for each history with its stored findings, and the
//! imported series of other programs.

use std::fs;
use std::path::{Path, PathBuf};

use assay_stats::series::{HistoryFindings, ImportedSeries, KNOWN_VERSION};

use crate::LabError;

fn folder(archive: &Path) -> PathBuf {
    archive.join("history")
}

/// Stored findings about a history, and their file.
#[derive(Debug)]
pub struct StoredFindings {
    /// Findings about the history: its changes and their confirmations.
    pub known: HistoryFindings,
    path: PathBuf,
}

impl StoredFindings {
    /// Reads the file of a history. A missing file gives an empty value.
    ///
    /// # Errors
    /// The file cannot be read, has other content, or was written by a newer assay.
    pub fn open(archive: &Path, id: &str) -> Result<Self, LabError> {
        let path = folder(archive).join(format!("{}.json", super::tag(id)));
        let mut known: HistoryFindings = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|e| damaged(&path, &e.to_string()))?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => HistoryFindings::default(),
            Err(e) => return Err(failed("read", &path)(e)),
        };
        if known.schema_version > KNOWN_VERSION {
            return Err(damaged(&path, "it was written by a newer assay; use that version"));
        }
        known.schema_version = KNOWN_VERSION;
        Ok(StoredFindings { known, path })
    }

    /// Writes the file atomically: after a crash it is either the old or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self) -> Result<(), LabError> {
        let path = &self.path;
        let new = path.with_extension(format!("json.{}", std::process::id()));
        let text = serde_json::to_vec_pretty(&self.known).map_err(std::io::Error::other);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            fs::write(&new, text?)?;
            fs::File::open(&new)?.sync_all()?;
            fs::rename(&new, path)
        };
        write().map_err(|e| {
            let _ = fs::remove_file(&new);
            failed("write", path)(e)
        })
    }
}

fn damaged(path: &Path, why: &str) -> LabError {
    let what = std::io::Error::new(std::io::ErrorKind::InvalidData, why.to_owned());
    failed("read", path)(what)
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.to_owned();
    move |source| LabError::History { what, path, source }
}

/// Returns the ids of all histories in an archive, sorted.
pub fn histories(archive: &Path) -> Vec<String> {
    names(&folder(archive), |name| {
        let id = name.strip_prefix(super::PREFIX)?;
        is_id(id).then(|| id.to_owned())
    })
}

/// Returns true if a text has the form of a history's id: 12 lower-case hexadecimal digits.
pub(super) fn is_id(id: &str) -> bool {
    id.len() == 12 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn names(folder: &Path, name: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().map(|e| e.file_name());
    let mut all: Vec<String> =
        files.filter_map(|f| name(f.to_str()?.strip_suffix(".json")?)).collect();
    all.sort();
    all
}

/// Returns the path of the series imported under a name; `None` if the name is not allowed.
pub fn imported_path(archive: &Path, name: &str) -> Option<PathBuf> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = !name.is_empty() && !name.starts_with('.') && name.chars().all(good);
    fits.then(|| folder(archive).join("imported").join(format!("{name}.json")))
}

/// Reads all imported series of other programs, with the names they were imported under. Unreadable
/// files are skipped.
pub fn imported(archive: &Path) -> Vec<(String, ImportedSeries)> {
    let all = names(&folder(archive).join("imported"), |name| Some(name.to_owned()));
    let read = |name: String| {
        let text = fs::read_to_string(imported_path(archive, &name)?).ok()?;
        Some((name, serde_json::from_str(&text).ok()?))
    };
    all.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_kept_and_a_newer_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path();
        let mut kept = StoredFindings::open(archive, "0123456789ab").unwrap();
        assert!(histories(archive).is_empty());
        kept.known.resets.push("abc".into());
        kept.save().unwrap();
        fs::write(folder(archive).join("history-evil.json"), "{}").unwrap();
        assert_eq!(histories(archive), ["0123456789ab"]);
        assert_eq!(StoredFindings::open(archive, "0123456789ab").unwrap().known, kept.known);
        let path = folder(archive).join("history-0123456789ab.json");
        fs::write(&path, "{\"schema_version\": 99}").unwrap();
        let error = StoredFindings::open(archive, "0123456789ab").unwrap_err().to_string();
        assert!(error.contains("newer assay"), "{error}");
        fs::write(&path, "{").unwrap();
        assert!(StoredFindings::open(archive, "0123456789ab").is_err());
        assert!(imported_path(archive, "../x").is_none() && imported_path(archive, ".x").is_none());
    }
}
