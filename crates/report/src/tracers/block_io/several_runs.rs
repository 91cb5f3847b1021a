//! Block I/O of several runs: its metrics, and charts of the same kind on one scale.

use assay_chart::NARROW;
use assay_model::Across;
use assay_traces::block_io::FILE;
use maud::{Markup, html};

use super::IoChartSource;
use super::charts::{TitledCharts, charts, common, same_series};
use crate::document::html::{figure, table};
use crate::gate::Gate;
use crate::merged_sentences::distinct;
use crate::parts::across::io;
use crate::view::RunView;

/// Renders a table of the tracer's metrics, and the charts of the first traced trial of each run
/// that counts. Charts of the same kind are side by side and on one scale. There are no charts if
/// fewer than two runs were traced; returns `None` if there is no table either. Each entry of `of`
/// has the same runs in one metric.
pub(crate) fn io_beside(views: &[&RunView], of: &[Across]) -> Option<Markup> {
    let metrics = Some(io(of)).filter(|t| !t.rows.is_empty());
    let charts = side_by_side(views);
    if metrics.is_none() && charts.is_none() {
        return None;
    }
    Some(html! {
        h2 { "Block I/O" }
        @if let Some(metrics) = &metrics { (table(metrics)) }
        @if let Some(charts) = charts { (charts) }
    })
}

fn side_by_side(views: &[&RunView]) -> Option<Markup> {
    let mut all: Vec<(String, TitledCharts)> =
        views.iter().enumerate().filter_map(|(i, view)| of_run(i + 1, view)).collect();
    if all.len() < 2 {
        return None;
    }
    same_series(&mut all.iter_mut().map(|(_, charts)| charts).collect::<Vec<_>>());
    let titles = distinct(all.iter().flat_map(|(_, charts)| charts).map(|(title, _)| title));
    let of = |title: &String| -> Vec<(&String, Option<Markup>)> {
        let reach = common(title, all.iter().map(|(_, charts)| charts));
        let one = |charts: &TitledCharts| {
            charts.iter().find(|(t, _)| t == title).map(|c| c.1.draw(reach, NARROW))
        };
        all.iter().map(|(label, charts)| (label, one(charts))).collect()
    };
    Some(html! {
        p.soft { "Charts are of the first counted trial of each run; those of a kind have one \
            scale, and time begins with each trial." }
        @for title in &titles {
            h3 { (title) }
            div.beside { @for (label, chart) in of(title) {
                @if let Some(chart) = chart { (figure(&chart, label)) }
                @else { p.soft { (label) ": no such data." } }
            } }
        }
    })
}

/// Returns the charts of a run and the label of their trial; withheld treatments are skipped.
fn of_run(number: usize, view: &RunView) -> Option<(String, TitledCharts)> {
    let gate = Gate::from_view(view);
    let shown = |t: &u32| gate.run().is_none() && gate.treatment(*t).is_none();
    let mut trials = view.treatments().into_iter().filter(shown).flat_map(|t| view.counted(t));
    let (record, report) = trials.find_map(|r| Some((r, view.traces.get(&FILE, r.number)?)))?;
    let label = format!("#{number} trial {}, {}", record.number, view.label(record.treatment));
    Some((label, charts(&IoChartSource::trial(&format!("{number}-"), record), report)))
}
