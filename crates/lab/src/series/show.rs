//! Shows a history of an archive without its repository: the stored definition and findings, with
//! the points of its runs.

use assay_archive::Archive;
use assay_model::nouns::count;
use assay_stats::series::{HistoryData, HistoryDefinition, HistoryView, shown};

use super::{StoredFindings, read};
use crate::LabError;

/// Function that removes private data from a text before it is shown to others.
pub type Cleaner<'a> = &'a dyn Fn(&str) -> String;

/// Reads a history with its findings. `None` if the archive has no history with this id, or an
/// earlier assay wrote it without its definition. Nothing is written: results of fresh experiments
/// are evaluated again each time.
///
/// # Errors
/// A file cannot be read.
pub fn show(
    archive: &Archive,
    id: &str,
    clean: Option<Cleaner<'_>>,
) -> Result<Option<(HistoryView, HistoryData, StoredFindings)>, LabError> {
    let mut kept = StoredFindings::open(archive.path(), id)?;
    let Some(mut about) = kept.known.about.clone() else { return Ok(None) };
    let mut past = read(archive, id, &about.revisions, &about.reference.level, None)?;
    let lost = past.outside.len();
    if lost > 0 {
        let lost = count(lost, "measured revision");
        past.notes.push(format!(
            "{lost} not in this line of history (another branch, or rewritten) left out"
        ));
    }
    kept.known.learn(&about.revisions, &past);
    if let Some(clean) = clean {
        wash(&mut about, &mut past, &mut kept, clean);
    }
    Ok(Some((shown(id, &about, &past, &kept.known), past, kept)))
}

/// Cleans every text that a person may have written.
fn wash(
    about: &mut HistoryDefinition,
    past: &mut HistoryData,
    kept: &mut StoredFindings,
    clean: Cleaner<'_>,
) {
    let wash = |text: &mut String| *text = clean(text);
    wash(&mut about.experiment);
    for commit in about.revisions.iter_mut().chain([&mut about.reference]) {
        wash(&mut commit.label);
        wash(&mut commit.subject);
    }
    past.series.iter_mut().flat_map(|s| &mut s.benchmark).for_each(|b| wash(&mut b.name));
    for gap in &mut past.gaps {
        [&mut gap.benchmark, &mut gap.first, &mut gap.last].into_iter().for_each(wash);
    }
    for point in past.series.iter_mut().flat_map(|s| &mut s.points) {
        wash(&mut point.label);
        wash(&mut point.subject);
    }
    for change in &mut kept.known.changes {
        for text in
            [&mut change.note, &mut change.link, &mut change.benchmark].into_iter().flatten()
        {
            wash(text);
        }
        let Some(functions) = &mut change.functions else { continue };
        functions.why.iter_mut().for_each(wash);
        for one in functions.differences.iter_mut().flat_map(|d| &mut d.changes) {
            wash(&mut one.function);
            wash(&mut one.module);
        }
    }
}
