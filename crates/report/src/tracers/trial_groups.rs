//! Traces of groups of trials side by side: the treatments of a run, or a treatment of several
//! runs. Each group has a table of all its trials together; differences are to the first group.

use assay_traces::{TraceData, TraceFile};
use maud::{Markup, html};

use crate::document::{Parts, html};
use crate::figures::count;
use crate::run_pairs::comparable_runs;
use crate::shown_comparison::ShownComparison;
use crate::view::RunView;

/// Largest number of rows of a table on a page.
pub(super) const MAX_ROWS: usize = 25;
/// Largest number of groups whose tables and flame graphs are shown.
pub(super) const MAX_SIDES: usize = 6;

/// The traces of one treatment or run.
pub(super) struct TrialGroup<'a, T> {
    /// Id of the group, unique on the page.
    pub(super) id: String,
    pub(super) label: String,
    pub(super) trials: Vec<&'a T>,
}

/// Renders groups of trials, the baseline first, at a confidence level; `None` if no trial was
/// traced.
pub(super) type Renderer<'a, T> = fn(Vec<TrialGroup<'a, T>>, f64) -> Option<Markup>;

/// Renders the treatments of a run side by side, baseline first.
pub(super) fn of_treatments<'a, T: TraceData>(
    view: &'a RunView,
    file: &TraceFile,
    render: Renderer<'a, T>,
) -> Option<Markup> {
    let group = |t: u32| TrialGroup {
        id: format!("t{t}"),
        label: view.label(t),
        trials: view.traces_of(file, t),
    };
    let all = view.treatments().into_iter().map(group).collect();
    render(all, view.experiment.compare.confidence)
}

/// Renders a section for each treatment that several runs have, at the confidence level of the
/// first run.
pub(super) fn of_runs<'a, T: TraceData>(
    views: &[&'a RunView],
    shown: &ShownComparison,
    file: &TraceFile,
    render: Renderer<'a, T>,
) -> Option<Markup> {
    let confidence = views.first().map_or(0.95, |v| v.experiment.compare.confidence);
    let sections = shown.across.rows.iter().enumerate().filter_map(|(n, row)| {
        let runs = comparable_runs(views, row).into_iter();
        let group = |(i, view, treatment): (usize, &'a RunView, u32)| TrialGroup {
            id: format!("r{n}-{i}"),
            label: format!("#{}", i + 1),
            trials: view.traces_of(file, treatment),
        };
        let groups: Vec<TrialGroup<'_, T>> = runs.map(group).collect();
        let several = groups.iter().filter(|group| !group.trials.is_empty()).count() > 1;
        let shown = several.then(|| render(groups, confidence))??;
        Some(html! { h2 { (row.label) } (shown) })
    });
    let all = html! { @for section in sections { (section) } };
    (!all.0.is_empty()).then_some(all)
}

/// Renders differences to the first group, then a table of each group. `left` names what further
/// groups have in the record.
pub(super) fn tables<T>(
    mut groups: Vec<TrialGroup<'_, T>>,
    introduction: &str,
    left: &str,
    changes: impl Fn(&[&T], &[&T], [&str; 2]) -> Option<Parts>,
    tables: impl Fn(&[&T]) -> Parts,
) -> Option<Markup> {
    groups.retain(|group| !group.trials.is_empty());
    let first = groups.first()?;
    Some(html! {
        p { (introduction) }
        @for group in groups.iter().skip(1) {
            @let labels = [&*first.label, &group.label];
            @if let Some(d) = changes(&first.trials, &group.trials, labels) { (html::parts(&d)) }
        }
        @for group in groups.iter().take(MAX_SIDES) {
            h3 { (group.label) }
            p.soft { (count(group.trials.len(), "trial")) " together" }
            (html::parts(&tables(&group.trials)))
        }
        @if groups.len() > MAX_SIDES {
            p.soft { (groups.len() - MAX_SIDES) " more have " (left) " in the record, not shown." }
        }
    })
}
