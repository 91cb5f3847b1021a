//! `assay publish`: a run or a post as a folder: the page, the same in Markdown, CSV and JSON, and the
//! raw data.

use std::path::Path;
use std::thread;

use anyhow::{Result, anyhow};
use assay_archive::Archive;
use assay_model::{RunId, Severity};
use assay_report::RunView;
use assay_report::format::{FORMATS, FormatError};

use super::copies::Copies;
use super::open::open_archive;
use super::publication::Publication;
use crate::cli::{Cli, Publish};
use crate::exit::{Changed, Exit, Usage};
use crate::screen::{print, print_json, say};
use crate::threads::{beside, joined};
use crate::view;

/// Writes the folder and names the page.
pub fn publish(cli: &Cli, publish: &Publish) -> Result<Exit> {
    if Path::new(&publish.what).extension().is_some_and(|e| e.eq_ignore_ascii_case("md")) {
        return super::post::publish(cli, publish);
    }
    if publish.withhold || !publish.published.is_empty() {
        return Err(Usage("--withhold and --published are for posts (POST.md)".to_owned()).into());
    }
    let archive = open_archive(cli)?;
    let id = archive.resolve(&publish.what)?;
    let copies = Copies::new()?;
    let archive = if publish.no_redact {
        unchanged(&archive, &id)?;
        archive
    } else {
        // What a changed file breaks in the copy says less than what changed.
        let copy = || copies.add_unchecked(&archive, &id);
        let (verified, copied) = beside(|| unchanged(&archive, &id), copy);
        verified.and(copied)?;
        copies.archive().clone()
    };
    let check = || if publish.no_redact { Ok(()) } else { archive.check_copy(&id) };
    if publish.preview {
        check()?;
        return copies.preview(cli, std::iter::once(&id));
    }
    let mut publication = Publication::open(publish)?;
    let bundle = publication.stage(&format!("{id}.tar.zst"));
    let (packed, view) = beside(
        || check().and_then(|()| archive.export(&id, &bundle)),
        || {
            let view = if publish.no_redact { view::load } else { view::load_copy };
            let view = view::for_publication(view(&archive, &id)?);
            for (name, content) in formats(&view) {
                publication.write(name, content.map_err(|e| anyhow!(e))?)?;
            }
            publication.write("experiment.toml", &view.experiment_toml)?;
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
    if cli.json {
        let json = serde_json::json!({
            "schema_version": 1, "run": id, "page": page, "findings": view.findings().into_iter().map(|(f, _)| f).collect::<Vec<_>>(),
        });
        print_json(&json)?;
    } else {
        print(&format!("page: {page}"))?;
    }
    Ok(if invalid.is_empty() { Exit::Fine } else { Exit::Rule })
}

/// A run in each format that it has, beside each other: a file's name and its content.
fn formats(view: &RunView) -> Vec<(&'static str, Result<String, FormatError>)> {
    thread::scope(|threads| {
        let written = FORMATS.iter().filter(|f| (f.has)(view)).filter_map(|format| {
            format.published.map(|name| (name, threads.spawn(|| (format.write)(view))))
        });
        let written: Vec<_> = written.collect();
        written.into_iter().map(|(name, content)| (name, joined(content))).collect()
    })
}

/// Whether a run is as its ledger says; whatever is published of it is.
///
/// # Errors
/// [`Changed`], with the files that are not.
pub(super) fn unchanged(archive: &Archive, id: &RunId) -> Result<()> {
    let problems = archive.verify(Some(id))?.into_iter();
    let changed: Vec<String> = problems
        .filter(|problem| problem.severity() == Severity::Invalid)
        .map(|problem| format!("{}: {}", problem.path.display(), problem.message))
        .collect();
    if changed.is_empty() { Ok(()) } else { Err(Changed(changed.join("; ")).into()) }
}

/// A path that can be opened from anywhere.
pub(super) fn absolute(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}
