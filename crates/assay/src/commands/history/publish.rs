//! `assay publish --history`: the histories of an archive as one self-contained page, with their
//! data.

use anyhow::Result;
use assay_archive::{Archive, Search};
use assay_lab::series;
use assay_report::history::{PublishedHistory, markdown, published};
use assay_stats::series::{HistoryView, quoted};

use super::super::open::open_archive;
use super::super::publication::Publication;
use crate::arguments::Global;
use crate::commands::publish::absolute;
use crate::commands::publish::args::Publish;
use crate::exit::{Exit, usage};
use crate::screen::answer;
use crate::view;

/// Returns a history for the public, or `None` if it has nothing to show.
pub(in super::super) fn public(
    archive: &Archive,
    id: &str,
    no_redact: bool,
) -> Result<Option<HistoryView>> {
    let filter = Search { tag: Some(series::tag(id)), ..Search::default() };
    // The redactor removes the names that the history's runs know.
    let newest = archive.list(&filter)?.into_iter().max_by(|a, b| a.started_at.cmp(&b.started_at));
    let redactor = match newest {
        Some(run) if !no_redact => {
            Some(archive.publication(&archive.run(&run.id)?, view::own_names()))
        }
        _ => None,
    };
    let clean = |text: &str| match &redactor {
        Some(redactor) => redactor.text("history", text).into_owned(),
        None => text.to_owned(),
    };
    Ok(series::show(archive, id, Some(&clean))?.map(|(shown, ..)| shown))
}

/// Writes the folder and prints the path of the page.
pub fn publish(global: &Global, asked: &Publish) -> Result<Exit> {
    if asked.preview || asked.withhold || !asked.published.is_empty() {
        return usage("--history only goes with -o, --force and --no-redact");
    }
    let archive = open_archive(global)?;
    let wanted = Some(asked.what.as_str()).filter(|w| *w != "last");
    let mut all = Vec::new();
    for id in series::histories(archive.path()) {
        let Some(shown) = public(&archive, &id, asked.no_redact)? else { continue };
        if wanted.is_none_or(|w| w == shown.experiment || w == id) {
            all.push(PublishedHistory::Own(shown));
        }
    }
    for (name, imported) in series::imported(archive.path()) {
        if wanted.is_none_or(|w| w == name) {
            all.push(PublishedHistory::Quoted(name, imported));
        }
    }
    if all.is_empty() {
        return usage(match wanted {
            Some(wanted) => format!("the archive has no history of `{wanted}`"),
            None => {
                "the archive has no history; `assay history --rev v1..main --fill` measures one"
                    .into()
            }
        });
    }
    let mut publication = Publication::open(asked.folder()?, asked.force)?;
    let heading = match (wanted, all.as_slice()) {
        (None, _) | (_, []) => "Histories".to_owned(),
        (Some(wanted), _) => format!("{wanted} over revisions"),
    };
    let pages: Vec<String> = all
        .iter()
        .filter_map(
            |h| if let PublishedHistory::Own(shown) = h { Some(markdown(shown)) } else { None },
        )
        .collect();
    let data: Vec<serde_json::Value> = all
        .iter()
        .map(|h| match h {
            PublishedHistory::Own(shown) => serde_json::to_value(shown),
            PublishedHistory::Quoted(_, imported) => serde_json::to_value(quoted(imported)),
        })
        .collect::<Result<_, _>>()?;
    publication.write("index.html", published(&heading, &all))?;
    publication.write("history.json", serde_json::to_string_pretty(&data)?)?;
    if !pages.is_empty() {
        publication.write("history.md", pages.join("\n"))?;
    }
    let page = absolute(&publication.finish()?);
    let json = serde_json::json!({ "schema_version": 1, "histories": all.len(), "page": page });
    answer(global.json, &json, || format!("page: {page}")).map(|()| Exit::Fine)
}
