//! `assay publish`: writes a run or a post as a folder: the page, the same content in Markdown, CSV
//! and JSON, and the raw data.

pub mod args;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use anyhow::{Result, anyhow};
use assay_archive::{Archive, Problem, RunReader};
use assay_model::{RunId, Severity};
use assay_report::RunView;
use assay_report::exports::{ExportFormat, FORMATS};

use crate::arguments::Global;
use crate::commands::copies::Copies;
use crate::commands::open::open_archive;
use crate::commands::publication::{self, Publication};
use crate::exit::{ChangedRun, Exit, usage};
use crate::screen::{print, print_json, say};
use crate::threads::run_both;
use crate::{memory, view};

/// Publishes a run, a post or histories and prints the path of the page.
pub fn publish(global: &Global, publish: &args::Publish) -> Result<Exit> {
    if Path::new(&publish.what).extension().is_some_and(|e| e.eq_ignore_ascii_case("md")) {
        if !publish.preview {
            publish.folder()?;
        }
        return crate::commands::post::publish(global, publish);
    }
    if publish.withhold || !publish.published.is_empty() {
        return usage("--withhold and --published are for posts (POST.md)");
    }
    memory::soon_over();
    let archive = open_archive(global)?;
    let id = archive.resolve(&publish.what)?;
    let (copies, run) = run_both(Copies::new, || opened(&archive, &id));
    let (run, copies) = (run?, copies?);
    let whole = || whole(&archive, &run);
    let (archive, run) = if publish.no_redact {
        whole()?;
        let redactor = archive.secrets(&run);
        (archive.clone(), run.redacted(redactor))
    } else {
        let (whole, copied) = run_both(whole, || copies.add_unchecked(&archive, &run));
        whole.and(copied)?;
        (copies.archive().clone(), copies.archive().run(&id)?)
    };
    let check = || if publish.no_redact { Ok(()) } else { archive.check_copy(&run) };
    if publish.preview {
        check()?;
        return copies.preview(global, std::iter::once(&id));
    }
    let folder = publish.output.clone().unwrap_or_else(|| PathBuf::from(id.as_str()));
    let mut publication = Publication::open(&folder, publish.force)?;
    let bundle = publication.stage(&format!("{id}.tar.zst"));
    let scratch = copies.folder().to_owned();
    let (is_read, read) = mpsc::channel::<()>();
    let (packed, view) = run_both(
        || {
            check().and_then(|()| archive.export_open(&run, &bundle))?;
            // The copies are no longer needed once the view is read, which closes the channel.
            for () in read {}
            let _ = fs::remove_dir_all(scratch);
            anyhow::Ok(())
        },
        || {
            let view = view::published(&run)?;
            drop(is_read);
            files(&view, &mut publication)?;
            anyhow::Ok(view)
        },
    );
    let view = view?;
    packed?;
    let page = absolute(&publication.finish()?);
    let invalid: Vec<assay_model::Finding> = view
        .findings()
        .into_iter()
        .map(|(f, _)| f)
        .filter(|f| f.severity == Severity::Invalid)
        .collect();
    for finding in &invalid {
        say(&format!("withheld by {}: {}", finding.id, finding.message));
    }
    if !publish.no_redact {
        copies.say_what();
    }
    if global.json {
        let json = serde_json::json!({
            "schema_version": 1, "run": id, "page": page,
            "findings": view.findings().into_iter().map(|(f, _)| f).collect::<Vec<_>>(),
        });
        print_json(&json)?;
    } else {
        print(&format!("page: {page}"))?;
    }
    Ok(if invalid.is_empty() { Exit::Fine } else { Exit::Rule })
}

/// Writes a run in each format that it has, and its experiment. The page takes as long as all other
/// formats together, so it has a thread of its own.
fn files(view: &RunView, publication: &mut Publication) -> Result<()> {
    let experiment = publication.stage("experiment.toml");
    let of_view = FORMATS.iter().filter(|f| (f.has)(view));
    let staged = of_view.filter_map(|f| Some((f, publication.stage(f.published?))));
    let staged: Vec<(&ExportFormat, PathBuf)> = staged.collect();
    let (page, others) = staged.split_at(1);
    let write = |formats: &[(&ExportFormat, PathBuf)]| {
        formats.iter().try_for_each(|(format, path)| {
            publication::fill(path, (format.write)(view).map_err(|e| anyhow!(e))?)
        })
    };
    let others = || {
        write(others)?;
        publication::fill(&experiment, &view.experiment_toml)
    };
    let (others, page) = run_both(others, || write(page));
    page.and(others)
}

/// Opens a run. If that fails, the error lists the changed files if there are any, because that
/// says more than the read error that they cause.
pub(in crate::commands) fn opened(archive: &Archive, id: &RunId) -> Result<RunReader> {
    let run = archive.run(id);
    if run.is_err() {
        changed(archive.verify(Some(id))?)?;
    }
    Ok(run?)
}

/// Checks that an open run agrees with its ledger; only such a run is published.
///
/// # Errors
/// [`ChangedRun`], with the files that differ.
pub(in crate::commands) fn whole(archive: &Archive, run: &RunReader) -> Result<()> {
    changed(archive.verify_open(run))
}

fn changed(problems: Vec<Problem>) -> Result<()> {
    let changed: Vec<String> = problems
        .into_iter()
        .filter(|problem| problem.severity() == Severity::Invalid)
        .map(|problem| format!("{}: {}", problem.path.display(), problem.message))
        .collect();
    if changed.is_empty() { Ok(()) } else { Err(ChangedRun(changed.join("; ")).into()) }
}

/// Returns the absolute form of a path, if it exists.
pub(in crate::commands) fn absolute(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}
