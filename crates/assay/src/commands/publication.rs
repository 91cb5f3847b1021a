//! The folder of a publication, which is filled completely or not at all. Its files have temporary
//! names until each is written, so that a full disk or a killed process leaves no truncated page
//! and removes no existing one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_report::exports::FORMATS;

use crate::exit::usage;

/// Name of the page, which is renamed last: if it exists, so do the other files.
const PAGE: &str = "index.html";
/// Suffix of file names until all files are written.
const STAGED: &str = ".tmp";

/// A folder that is being filled. If it is dropped before [`Publication::finish`], its files are
/// removed.
pub struct Publication<'a> {
    folder: &'a Path,
    /// True if the folder did not exist before.
    made: bool,
    staged: Vec<String>,
    /// Files of an earlier publication, which this one replaces.
    replaced: Vec<PathBuf>,
}

impl<'a> Publication<'a> {
    /// Opens the folder to write to: an empty one, or with `force` one that an earlier publication
    /// filled.
    ///
    /// # Errors
    /// The folder holds other files, or cannot be made.
    pub fn open(folder: &'a Path, force: bool) -> Result<Self> {
        let made = !folder.exists();
        if !made && !folder.is_dir() {
            return usage(format!("-o {}: it is a file; give a folder", folder.display()));
        }
        let replaced = replaced(folder, force)?;
        // The files of an interrupted publication are removed now, because their names are used
        // again.
        let (parts, replaced): (Vec<_>, Vec<_>) =
            replaced.into_iter().partition(|path| path.extension().is_some_and(|e| e == "tmp"));
        for path in parts {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Publication { folder, made, staged: Vec::new(), replaced })
    }

    /// Writes a file of the publication under its temporary name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        fill(&self.stage(name), content)
    }

    /// Returns the temporary path of a file that the caller writes.
    pub fn stage(&mut self, name: &str) -> PathBuf {
        self.staged.push(name.to_owned());
        self.folder.join(format!("{name}{STAGED}"))
    }

    /// Removes the replaced files and gives the new files their names. Returns the path of the
    /// page.
    ///
    /// # Errors
    /// A file cannot be removed or renamed.
    pub fn finish(mut self) -> Result<PathBuf> {
        for path in &self.replaced {
            fs::remove_file(path).with_context(|| format!("cannot replace {}", path.display()))?;
        }
        self.staged.sort_by_key(|name| name == PAGE);
        for name in &self.staged {
            let staged = self.folder.join(format!("{name}{STAGED}"));
            fs::rename(staged, self.folder.join(name))
                .with_context(|| cannot("name", &self.folder.join(name)))?;
        }
        self.staged.clear();
        self.made = false;
        Ok(self.folder.join(PAGE))
    }
}

/// Writes a file to the path that [`Publication::stage`] returned for it.
///
/// # Errors
/// The file cannot be written.
pub fn fill(staged: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::write(staged, content).with_context(|| cannot("write", &staged.with_extension("")))
}

fn cannot(what: &str, path: &Path) -> String {
    format!("{what} {}; nothing was published", path.display())
}

impl Drop for Publication<'_> {
    fn drop(&mut self) {
        for name in &self.staged {
            let _ = fs::remove_file(self.folder.join(format!("{name}{STAGED}")));
        }
        if self.made {
            // This fails, as it should, unless the folder is empty.
            let _ = fs::remove_dir(self.folder);
        }
    }
}

/// Returns the files of an earlier publication in a folder; empty for an empty folder.
///
/// # Errors
/// The folder has other files, or an earlier publication and `force` is not set.
fn replaced(folder: &Path, force: bool) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    if paths.is_empty() {
        return Ok(paths);
    }
    let whole = paths.iter().any(|path| path.ends_with(PAGE));
    // A killed publication leaves files but no page: either all files have temporary names, or at
    // least the page has.
    let staged = |path: &PathBuf| path.to_string_lossy().ends_with(STAGED);
    let cut_off = paths.iter().all(staged)
        || paths.iter().any(|path| path.ends_with(format!("{PAGE}{STAGED}")));
    let ours = whole || (cut_off && paths.iter().all(|path| is_written_by_publish(path)));
    if !(force && ours) {
        let way = match (ours, whole) {
            (false, _) => "choose another",
            (true, true) => "--force replaces what was published there",
            (true, false) => "--force replaces the remains of an interrupted publication",
        };
        let message = format!("{} is not empty; {way}", folder.display());
        return usage(message);
    }
    Ok(paths.into_iter().filter(|path| path.is_file() && is_written_by_publish(path)).collect())
}

/// Returns true if the file's name is one that `publish` writes.
fn is_written_by_publish(path: &Path) -> bool {
    const OTHERS: [&str; 7] = [
        "history.json",
        "history.md",
        "experiment.toml",
        "numbers.csv",
        "post.json",
        "results.csv",
        "template.md",
    ];
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let name = name.strip_suffix(STAGED).unwrap_or(name);
    let name = name.strip_suffix(STAGED).unwrap_or(name);
    let mut formats = FORMATS.iter().filter_map(|f| f.published);
    formats.any(|f| f == name) || OTHERS.contains(&name) || name.ends_with(".tar.zst")
}
