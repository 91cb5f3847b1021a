//! `assay publish POST.md`: computes the numbers of a post's template and writes the post as a
//! folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Result;
use assay_archive::{Archive, Search};
use assay_model::{RunId, RunState};
use assay_publish::post::{self, Library, MAX_SIZE, Post, RunSpec, Template};
use assay_report::RunView;

use super::copies::Copies;
use super::open::open_archive;
use super::publication::Publication;
use crate::arguments::Global;
use crate::commands::landscape::collection;
use crate::commands::publish::args::Publish;
use crate::commands::publish::{absolute, opened, whole};
use crate::exit::{Exit, Usage, mistake, usage};
use crate::screen::{print, print_json, say};
use crate::threads::run_both;
use crate::{shipped, view};

/// Computes the post and writes the folder, unless a number or a sentence is invalid.
pub fn publish(global: &Global, publish: &Publish) -> Result<Exit> {
    publish_with(global, publish, true, &|_| {}, &mut |page| {
        match page {
            PublishedPost { post, page, refused: true } => {
                if global.json {
                    summary(post, page)?;
                }
                say(&format!("{} is not published; nothing was written", publish.what));
            }
            PublishedPost { post, page, .. } if global.json => summary(post, page)?,
            PublishedPost { post, page, .. } => {
                print(&format!("page: {}\n{}", page.unwrap_or_default(), post.banner()))?;
            }
        }
        Ok(())
    })
}

/// Result of publishing a post.
pub(super) struct PublishedPost<'a> {
    pub post: &'a Post,
    pub page: Option<&'a str>,
    /// True if a check kept the post from being published.
    pub refused: bool,
}

/// Publishes like [`publish`], with the runs of the archive or without any. `reasons` adds facts
/// about claims that the runs do not contain; `done` receives the results.
pub(super) fn publish_with(
    global: &Global,
    publish: &Publish,
    with_runs: bool,
    reasons: &dyn Fn(&mut Post),
    done: &mut dyn FnMut(PublishedPost<'_>) -> Result<()>,
) -> Result<Exit> {
    let bytes = bytes(&shipped::find(Path::new(&publish.what))?)?;
    let template = Template::read(&publish.what, post::decode(&publish.what, &bytes)?)?;
    if let Some(why) = std::str::from_utf8(&bytes).ok().and_then(assay_system::redact::first_token)
    {
        let message = format!("{} contains a value that {}; remove it", publish.what, why.reason());
        return usage(message);
    }
    let library = library(publish)?;
    let copies = Copies::new()?;
    let (archive, runs) = if with_runs {
        runs(global, &template, publish, &copies)?
    } else {
        (None, BTreeMap::new())
    };
    let mut post = template.evaluate(&library, &runs, env!("CARGO_PKG_VERSION"), &today())?;
    reasons(&mut post);
    if publish.withhold {
        post.withhold();
    }
    if publish.preview {
        return copies.preview(global, post.runs.values().map(|v| &v.summary.id));
    }
    let refused = refused(&post);
    if refused || publish.output.is_none() {
        done(PublishedPost { post: &post, page: None, refused })?;
        return Ok(if refused { Exit::Rule } else { Exit::Fine });
    }
    let mut publication = Publication::open(publish.folder()?, publish.force)?;
    publication.write("index.html", post::html(&post))?;
    publication.write("index.md", post::markdown(&post))?;
    publication.write("numbers.csv", post::numbers_csv(&post))?;
    publication.write("results.csv", post::results_csv(&post))?;
    publication.write("post.json", post::json(&post)?)?;
    publication.write("template.md", &bytes)?;
    if let Some(archive) = &archive {
        for view in post.runs.values() {
            let id = &view.summary.id;
            archive.export(id, &publication.stage(&format!("{id}.tar.zst")))?;
        }
    }
    let page = absolute(&publication.finish()?);
    done(PublishedPost { post: &post, page: Some(&page), refused: false })?;
    Ok(if post.withheld_as_invalid() { Exit::Rule } else { Exit::Fine })
}

/// Prints the findings that keep the post from being published; returns true if there are any.
pub(super) fn refused(post: &Post) -> bool {
    let refusals = post.refusals();
    for found in &refusals {
        let f = &found.finding;
        let texts: Vec<String> = post
            .numbers
            .iter()
            .filter(|n| found.numbers.contains(&n.anchor))
            .map(|n| format!("`{}` (line {})", n.text, n.line))
            .collect();
        let about =
            if texts.is_empty() { String::new() } else { format!(" {}:", texts.join(", ")) };
        let remedy = if f.remedy.is_empty() { String::new() } else { format!("; {}", f.remedy) };
        say(&format!("invalid, {} {}:{about} {}{remedy}", f.id, f.name, f.message));
    }
    !refusals.is_empty()
}

/// Returns today's date in UTC, as the day of publication.
pub(super) fn today() -> String {
    assay_lab::now_utc().chars().take(10).collect()
}

fn summary(post: &Post, page: Option<&str>) -> Result<()> {
    let json = serde_json::json!({
        "schema_version": assay_model::SCHEMA_VERSION,
        "post": post.file,
        "page": page,
        "statements": post.statements().map(|n| &n.text).collect::<Vec<_>>(),
        "numbers": post.numbers.len(),
        "typed": post.typed,
        "banner": post.banner(),
        "results": post.results.len(),
        "runs": post.runs.values().map(|v| &v.summary.id).collect::<Vec<_>>(),
        "findings": post.findings,
    });
    print_json(&json)
}

/// Reads the template's bytes, at most one more than the allowed size.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let unreadable = |e: std::io::Error| Usage(format!("cannot read {}: {e}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_SIZE as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

fn library(publish: &Publish) -> Result<Library> {
    Ok(Library::new(collection(&publish.published)?).map_err(mistake)?)
}

/// Loads the runs of the template that the archive has; opens the archive only if the template
/// names runs.
fn runs(
    global: &Global,
    template: &Template,
    publish: &Publish,
    copies: &Copies,
) -> Result<(Option<Archive>, BTreeMap<String, RunView>)> {
    let wanted = &template.front().runs;
    let mut views = BTreeMap::new();
    if wanted.is_empty() {
        return Ok((None, views));
    }
    let archive = open_archive(global)?;
    for (alias, spec) in wanted {
        if let Some(id) = find(&archive, spec)? {
            let run = opened(&archive, &id)?;
            let whole = || whole(&archive, &run);
            let run = if publish.no_redact {
                whole()?;
                run.clone().redacted(archive.secrets(&run))
            } else {
                let (whole, copy) = run_both(whole, || copies.add(&archive, &run));
                whole.and(copy)?
            };
            views.insert(alias.clone(), view::published(&run)?);
        }
    }
    let from = if publish.no_redact { archive } else { copies.archive().clone() };
    Ok((Some(from), views))
}

/// Finds the run that a template names: an id, `last`, or the newest completed run of an experiment
/// or tag.
pub(super) fn find(archive: &Archive, spec: &RunSpec) -> Result<Option<RunId>> {
    let filter = match spec.run.split_once(':') {
        Some(("experiment", name)) => {
            Search { experiment: Some(name.to_owned()), ..Search::default() }
        }
        Some(("tag", name)) => Search { tag: Some(name.to_owned()), ..Search::default() },
        Some(_) => {
            let message = format!(
                "`{}` names no run; write an id, `last`, `experiment:NAME` or `tag:NAME`",
                spec.run
            );
            return usage(message);
        }
        None => {
            return match archive.resolve(&spec.run) {
                Ok(id) => Ok(Some(id)),
                Err(assay_archive::Error::NoRun { .. }) => Ok(None),
                Err(other) => Err(other.into()),
            };
        }
    };
    let runs = archive.list(&filter)?;
    Ok(runs.into_iter().find(|r| r.state == RunState::Completed).map(|r| r.id))
}
