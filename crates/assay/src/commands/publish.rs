//! `assay publish`: a run or a post as a folder: the page, the same in Markdown, CSV and JSON, and the
//! raw data.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use assay_archive::Archive;
use assay_model::{RunId, Severity};
use assay_report::format::FORMATS;

use super::copies::Copies;
use super::open::open_archive;
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
    let view = view::for_publication(view::load(&archive, &id)?);
    let folder = free(publish)?;
    fs::create_dir_all(folder).with_context(|| format!("make the folder {}", folder.display()))?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    };
    for format in FORMATS.iter().filter(|f| (f.has)(&view)) {
        if let Some(name) = format.published {
            write(name, &(format.write)(&view).map_err(|e| anyhow!(e))?)?;
        }
    }
    write("experiment.toml", &view.experiment_toml)?;
    let raw = folder.join(format!("{id}.tar.zst"));
    archive.export(&id, &raw)?;
    let invalid: Vec<assay_model::Finding> = view
        .findings()
        .into_iter()
        .map(|(f, _)| f)
        .filter(|f| f.severity == Severity::Invalid)
        .collect();
    for finding in &invalid {
        say(&format!("withheld by {}: {}", finding.id, finding.message));
    }
    let page = absolute(&folder.join("index.html"));
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

/// The folder to write to: an empty one, or with `--force` one that an earlier publication filled, of which that is
/// taken away.
pub(super) fn free(publish: &Publish) -> Result<&Path> {
    let folder = publish.folder()?;
    let Ok(entries) = fs::read_dir(folder) else { return Ok(folder) };
    let names: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    if names.is_empty() {
        return Ok(folder);
    }
    let ours = names.iter().any(|path| path.ends_with("index.html"));
    if !(publish.force && ours) {
        let way = if ours { "--force replaces what was published there" } else { "choose another" };
        let message = format!("{} is not empty; {way}", folder.display());
        return Err(Usage(message).into());
    }
    for path in names.iter().filter(|path| path.is_file() && is_written_by_publish(path)) {
        fs::remove_file(path).with_context(|| format!("replace {}", path.display()))?;
    }
    Ok(folder)
}

/// By its name.
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
    let mut formats = FORMATS.iter().filter_map(|f| f.published);
    formats.any(|f| f == name) || OTHERS.contains(&name) || name.ends_with(".tar.zst")
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
