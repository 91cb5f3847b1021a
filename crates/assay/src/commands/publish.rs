//! `assay publish`: a run or a post as a folder: the page, the same in Markdown, CSV and JSON, and the
//! raw data.

use std::path::Path;

use anyhow::{Result, anyhow};
use assay_archive::Archive;
use assay_model::{RunId, Severity};
use assay_report::format::FORMATS;

use super::copies::Copies;
use super::open::open_archive;
use super::publication::Publication;
use crate::cli::{Cli, Publish};
use crate::exit::{Changed, Exit, Usage};
use crate::screen::{print, print_json, say};
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
    unchanged(&archive, &id)?;
    let copies = Copies::new()?;
    let archive = if publish.no_redact {
        archive
    } else {
        copies.add(&archive, &id)?;
        copies.archive().clone()
    };
    if publish.preview {
        return copies.preview(cli, std::iter::once(&id));
    }
    let view = if publish.no_redact { view::load } else { view::load_copy };
    let view = view::for_publication(view(&archive, &id)?);
    let mut publication = Publication::open(publish)?;
    for format in FORMATS.iter().filter(|f| (f.has)(&view)) {
        if let Some(name) = format.published {
            publication.write(name, (format.write)(&view).map_err(|e| anyhow!(e))?)?;
        }
    }
    publication.write("experiment.toml", &view.experiment_toml)?;
    archive.export(&id, &publication.stage(&format!("{id}.tar.zst")))?;
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
