//! The runs of a site: finds the runs that have changed, and makes their pages from redacted copies
//! as `publish` does.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use assay_archive::{Archive, Error, RunReader, Search};
use assay_model::{RunId, RunState};
use assay_publish::site::{RunCard, pages};
use assay_report::RunView;
use assay_report::exports::FORMATS;
use assay_system::sha256;

use super::super::copies::Copies;
use super::builder::{Builder, OmissionReason};
use super::folder::{Unit, UnitCard, look_of};
use crate::commands::publish::{opened, whole};
use crate::exit::ChangedRun;
use crate::view;

/// Returns the name of a run's unit.
pub fn unit(id: &RunId) -> String {
    format!("run {id}")
}

/// Updates the pages of all runs.
pub fn build(builder: &Builder<'_>) -> Result<()> {
    let archive = builder.archive;
    for bad in archive.unreadable()? {
        builder.leave_out(format!("run {}", bad.id), OmissionReason::Damaged, &bad.reason);
    }
    let mut stale = Vec::new();
    for run in archive.list(&Search::default())? {
        let name = unit(&run.id);
        let standing = builder.folder.standing(&name);
        if run.state == RunState::Started {
            // A run gets its page when it has ended; a page from before it was resumed stays.
            if let Some(unit) = standing {
                builder.folder.keep(&name, unit.clone());
            }
            builder.note(format!("run {} is being written and follows when it has ended", run.id));
            continue;
        }
        let look =
            look(archive.path(), &run.id).with_context(|| format!("look at run {}", run.id))?;
        match standing {
            Some(unit) if unit.look == look && unit.key.starts_with(&builder.settings) => {
                builder.folder.keep(&name, unit.clone());
            }
            _ => stale.push((run.id, look)),
        }
    }
    let bar = builder.bar(stale.len());
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(stale.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((id, look)) = stale.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failed =
                        || failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    if failed().is_some() {
                        return;
                    }
                    if let Err(e) = one(builder, id, look) {
                        match fault(&e) {
                            Some(why) => {
                                builder.leave_out(format!("run {id}"), why, &format!("{e:#}"));
                            }
                            None => *failed() = Some(e),
                        }
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

fn one(builder: &Builder<'_>, id: &RunId, look: &str) -> Result<()> {
    let name = unit(id);
    let run = opened(builder.archive, id)?;
    whole(builder.archive, &run)?;
    // The ledger has the hashes of all other files, which have just been compared.
    let head = run.ledger_head().map_or("", |(_, sha256)| sha256);
    let key = format!("{}:{head}", builder.settings);
    if let Some(same) = builder.folder.standing(&name).filter(|u| u.key == key) {
        return builder.folder.done(&name, Unit { look: look.to_owned(), ..same.clone() });
    }
    let published = PublicRuns::new(builder)?;
    let view = published.view(&run)?;
    let (card, files) = files(builder, id, &view, &published.archive)?;
    let card = Some(UnitCard::Run(Box::new(card)));
    builder.folder.done(&name, Unit { key, look: look.to_owned(), card, files })?;
    builder.replaced(&published.copies);
    Ok(())
}

/// Runs as the public may see them.
pub struct PublicRuns<'a> {
    builder: &'a Builder<'a>,
    archive: Archive,
    copies: Copies,
}

impl<'a> PublicRuns<'a> {
    /// Makes an empty set of redacted copies, which are removed when this value is dropped.
    pub fn new(builder: &'a Builder<'a>) -> Result<Self> {
        let copies = Copies::at(builder.scratch("copies"))?;
        let of = if builder.no_redact { builder.archive } else { copies.archive() };
        Ok(PublicRuns { builder, archive: of.clone(), copies })
    }

    /// Loads a run, judged for publication.
    pub fn view(&self, run: &RunReader) -> Result<RunView> {
        let from = self.builder.archive;
        let seen = if self.builder.no_redact {
            run.clone().redacted(from.secrets(run))
        } else {
            self.copies.add(from, run)?
        };
        view::published(&seen)
    }
}

/// Writes the same files that `publish` writes for a run.
fn files(
    builder: &Builder<'_>,
    id: &RunId,
    view: &RunView,
    from: &Archive,
) -> Result<(RunCard, BTreeMap<String, super::folder::WrittenFile>)> {
    let folder = builder.folder;
    let card = RunCard::from_view(view);
    let mut files = BTreeMap::new();
    let mut beside: Vec<pages::PageFile<'_>> = Vec::new();
    let at = |name: &str| format!("runs/{id}/{name}");
    for format in FORMATS.iter().filter(|f| f.names[0] != "html" && (f.has)(view)) {
        let Some(name) = format.published else { continue };
        let text = (format.write)(view).map_err(|e| anyhow::anyhow!("{name} of run {id}: {e}"))?;
        files.insert(at(name), folder.write(&at(name), text.as_bytes())?);
        beside.push((name.to_owned(), format.what));
    }
    let name = "experiment.toml";
    files.insert(at(name), folder.write(&at(name), view.experiment_toml.as_bytes())?);
    beside.push((name.to_owned(), "the experiment"));
    let bundle = format!("{id}.tar.zst");
    let staged = builder.scratch("bundle");
    from.export(id, &staged)?;
    files.insert(at(&bundle), folder.place(&at(&bundle), &staged)?);
    beside.push((bundle, "the whole run, for assay archive import"));
    let page = pages::run(&builder.site, &card, view, &beside);
    files.insert(at("index.html"), folder.write(&at("index.html"), page.as_bytes())?);
    Ok((card, files))
}

/// Returns the reason why a run has no page, if the run is at fault; any other error ends the
/// build.
fn fault(error: &anyhow::Error) -> Option<OmissionReason> {
    if error.downcast_ref::<ChangedRun>().is_some()
        || error.downcast_ref::<assay_lab::LabError>().is_some()
    {
        return Some(OmissionReason::Damaged);
    }
    match error.downcast_ref::<Error>()? {
        Error::Busy { .. } => Some(OmissionReason::Busy),
        Error::Damaged { .. }
        | Error::Newer { .. }
        | Error::TooLarge { .. }
        | Error::NoRun { .. }
        | Error::Io { action: "read", .. } => Some(OmissionReason::Damaged),
        _ => None,
    }
}

/// Returns a hash of the names, sizes and times of all files of a run.
fn look(archive: &Path, id: &RunId) -> io::Result<String> {
    let mut text = String::new();
    walk(&archive.join("runs").join(id.as_str()), "", &mut text)?;
    if let Ok(meta) = fs::metadata(archive.join("heads").join(format!("{id}.json"))) {
        text += &look_of(&meta);
    }
    Ok(sha256(text.as_bytes()))
}

fn walk(folder: &Path, name: &str, text: &mut String) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &path, text)?;
        } else {
            text.push_str(&path);
            text.push(' ');
            text.push_str(&look_of(&entry.metadata()?));
            text.push('\n');
        }
    }
    Ok(())
}
