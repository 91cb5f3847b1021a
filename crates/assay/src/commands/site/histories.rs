//! The histories of a site: a page for each history that the archive measured or imported.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use assay_archive::Search;
use assay_lab::series::{self, StoredFindings};
use assay_publish::site::{HistoryCard, pages};
use assay_report::history::PublishedHistory;
use assay_stats::series::HistoryView;
use assay_system::sha256;

use super::super::history::publish::public;
use super::builder::{Builder, OmissionReason};
use super::folder::{Unit, UnitCard};
use super::runs;

/// Updates the pages of all histories, after those of the runs.
pub fn build(builder: &Builder<'_>) -> Result<()> {
    for id in series::histories(builder.archive.path()) {
        if let Err(e) = own(builder, &id) {
            builder.leave_out(format!("history {id}"), OmissionReason::Damaged, &format!("{e:#}"));
        }
    }
    for (name, imported) in series::imported(builder.archive.path()) {
        let key = sha256(&serde_json::to_vec(&imported)?);
        let key = format!("{}:{key}", builder.settings);
        let unit = format!("history quoted {name}");
        put(builder, &unit, key, || {
            Ok(Some((PublishedHistory::Quoted(name.clone(), imported), false)))
        })?;
    }
    Ok(())
}

fn own(builder: &Builder<'_>, id: &str) -> Result<()> {
    let mut about =
        serde_json::to_string(&StoredFindings::open(builder.archive.path(), id)?.known)?;
    for tag in [series::tag(id), series::confirm_tag(id), series::profile_tag(id)] {
        let filter = Search { tag: Some(tag), ..Search::default() };
        for run in builder.archive.list(&filter)? {
            let made = builder.folder.made(&runs::unit(&run.id));
            let _ = write!(about, " {} {} {made:?}", run.id, run.state.name());
        }
    }
    let key = format!("{}:{}", builder.settings, sha256(about.as_bytes()));
    put(builder, &format!("history {id}"), key, || {
        let shown = public(builder.archive, id, builder.no_redact)?;
        Ok(shown.map(|shown| {
            let linked = linked(builder, &shown);
            (PublishedHistory::Own(shown), linked)
        }))
    })
}

/// Returns true if every run that a history rests on has a page.
fn linked(builder: &Builder<'_>, shown: &HistoryView) -> bool {
    let changes = shown.series.iter().flat_map(|s| &s.changes);
    let known = changes.filter_map(|c| c.known.as_ref());
    let fresh =
        known.flat_map(|k| k.run.iter().chain(k.functions.iter().filter_map(|f| f.run.as_ref())));
    let points = shown.series.iter().flat_map(|s| &s.points).flat_map(|p| &p.runs);
    points.chain(fresh).all(|id| builder.folder.made(&runs::unit(id)).is_some())
}

/// Writes the page of a history, unless it exists with the same key.
fn put(
    builder: &Builder<'_>,
    name: &str,
    key: String,
    make: impl FnOnce() -> Result<Option<(PublishedHistory, bool)>>,
) -> Result<()> {
    if let Some(same) = builder.folder.standing(name).filter(|u| u.key == key) {
        builder.folder.keep(name, same.clone());
        return Ok(());
    }
    let Some((history, linked)) = make()? else { return Ok(()) };
    let card = HistoryCard::from_history(&history);
    let page = pages::history(&builder.site, &card, history, linked);
    let path = card.path();
    let written = builder.folder.write(&path, page.as_bytes())?;
    let files = BTreeMap::from([(path, written)]);
    let card = Some(UnitCard::History(Box::new(card)));
    builder.folder.done(name, Unit { key, look: String::new(), card, files })
}
