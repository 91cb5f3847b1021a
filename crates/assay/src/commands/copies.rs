//! Copies of runs for publication, in a temporary archive. Everything that is published is made
//! from them, so nothing can be published that did not pass the redactor.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_archive::{Archive, PublishedCopy, RunReader};
use assay_model::RunId;
use assay_model::nouns::count;
use assay_system::redact::ReplacementKind;
use assay_system::scratch;

use crate::arguments::Global;
use crate::exit::Exit;
use crate::screen::{print, print_json, say};
use crate::view;

/// An archive of copies, which is removed when this value is dropped.
pub struct Copies {
    archive: Archive,
    folder: PathBuf,
    published: RefCell<Vec<(RunId, PublishedCopy)>>,
}

impl Copies {
    /// Makes an empty archive of copies in a temporary folder.
    ///
    /// # Errors
    /// The temporary folder cannot be made.
    pub fn new() -> Result<Self> {
        let root = scratch::root();
        // Removes folders that a killed publication left.
        scratch::sweep(&root);
        let folder = scratch::make(&root, scratch::OWNER)
            .with_context(|| format!("cannot create a folder in {}", root.display()))?;
        Copies::at(folder)
    }

    /// Makes an empty archive of copies in a folder that is removed when this value is dropped.
    ///
    /// # Errors
    /// The archive cannot be made there.
    pub fn at(folder: PathBuf) -> Result<Self> {
        let archive = Archive::open(&folder)?;
        Ok(Copies { archive, folder, published: RefCell::default() })
    }

    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds the copy of a run, unless it is there already, and opens it.
    ///
    /// # Errors
    /// The run is damaged or being written.
    pub fn add(&self, from: &Archive, run: &RunReader) -> Result<RunReader> {
        let known = self.published.borrow().iter().any(|(known, _)| known == run.id());
        if !known {
            self.add_unchecked(from, run)?;
        }
        let copy = self.archive.run(run.id())?;
        if !known {
            self.archive.check_copy(&copy)?;
        }
        Ok(copy)
    }

    /// Adds the copy of a run that has no copy yet, without checking it. The caller must check it
    /// before publishing any part of it.
    ///
    /// # Errors
    /// The run is damaged or being written.
    pub fn add_unchecked(&self, from: &Archive, run: &RunReader) -> Result<()> {
        let redactor = from.publication(run, view::own_names());
        let published = from.copy_redacted(run, &redactor, &self.archive)?;
        self.published.borrow_mut().push((run.id().clone(), published));
        Ok(())
    }

    /// Returns the number of values that were replaced, and of files that were left out.
    pub fn replaced(&self) -> (u64, usize) {
        let published = self.published.borrow();
        let times = published.iter().flat_map(|(_, p)| &p.found).map(|f| f.times).sum();
        (times, published.iter().map(|(_, p)| p.excluded.len()).sum())
    }

    /// Prints how many values were replaced and how many files were left out.
    pub fn say_what(&self) {
        for (id, published) in self.published.borrow().iter() {
            let times: u64 = published.found.iter().map(|f| f.times).sum();
            if times > 0 || !published.excluded.is_empty() {
                say(&format!(
                    "{id}: {} replaced, {} left out; `assay publish {id} --preview` lists them",
                    count(times as usize, "value"),
                    count(published.excluded.len(), "file"),
                ));
            }
        }
    }

    /// Prints the files that would be published and the values that are replaced.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn preview<'a>(
        &self,
        global: &Global,
        runs: impl Iterator<Item = &'a RunId>,
    ) -> Result<Exit> {
        let published = self.published.borrow();
        let mut rows = Vec::new();
        for id in runs {
            let Some((_, one)) = published.iter().find(|(known, _)| known == id) else { continue };
            let files = self.archive.files(id)?;
            if global.json {
                let replaced: Vec<serde_json::Value> = one
                    .found
                    .iter()
                    .map(|f| {
                        serde_json::json!({
                            "kind": f.kind.name(), "what": f.what, "by": f.by, "times": f.times,
                        })
                    })
                    .collect();
                let files: Vec<serde_json::Value> = files
                    .iter()
                    .map(|(name, bytes)| serde_json::json!({ "name": name, "bytes": bytes }))
                    .collect();
                rows.push(serde_json::json!({
                    "run": id, "files": files, "excluded": one.excluded, "replaced": replaced,
                }));
                continue;
            }
            let what = if one.found.is_empty() { "nothing is replaced" } else { "replaced" };
            print(&format!("{id}: {what}"))?;
            for f in &one.found {
                let of = match f.kind {
                    ReplacementKind::Token => format!("in {}", f.what),
                    _ => format!("{} by {}", f.what, f.by),
                };
                print(&format!("  {}: {of}, {}", f.kind.name(), count(f.times as usize, "time")))?;
            }
            print("as it would be published:")?;
            for (name, bytes) in &files {
                print(&format!("  {name}  {bytes} B"))?;
            }
            for name in &one.excluded {
                print(&format!("  {name}  left out: not a text file, so it cannot be searched"))?;
            }
        }
        if global.json {
            let json = serde_json::json!({ "schema_version": 1, "runs": rows });
            print_json(&json)?;
        }
        Ok(Exit::Fine)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
