//! `assay publish`: a run or a post as a folder: the page, the same in Markdown, CSV and JSON, and the
//! raw data.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use assay_archive::{Archive, Problem};
use assay_model::{RunId, Severity};
use assay_report::format::FORMATS;

use super::copies::Copies;
use super::open_archive;
use crate::cli::{Cli, Publish};
use crate::exit::{Exit, Usage};
use crate::{print, print_json, say, view};

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
    let changed = changed(&archive, &id)?;
    if !changed.is_empty() {
        for problem in changed {
            say(&format!("not published: {}: {}", problem.path.display(), problem.message));
        }
        return Ok(Exit::Rule);
    }
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
    let view = view::load(&archive, &id)?;
    let folder = publish.folder()?;
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

/// What of a run is not as its ledger says.
fn changed(archive: &Archive, id: &RunId) -> Result<Vec<Problem>> {
    let mut problems = archive.verify(Some(id))?;
    problems.retain(|problem| problem.severity() == Severity::Invalid);
    Ok(problems)
}

/// A path that can be opened from anywhere.
pub(super) fn absolute(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}
