//! Block I/O of runs beside each other: its metrics, and charts of a kind on one scale.

use assay_chart::NARROW;
use assay_model::Across;
use maud::{Markup, html};

use super::Subject;
use super::charts::{Titled, charts, common, same_series};
use crate::figures::{NO_VALUE, ratio_text, with_interval};
use crate::gate::Gate;
use crate::page::parts::{figure, table_box};
use crate::view::RunView;

/// A table of the metrics that the tracer gave, and the charts of the first counted trial of each run (of its
/// first treatment that was traced), those of a kind side by side and on one scale; no charts where fewer than
/// two runs were traced, `None` where there is nothing at all. `of` has the same runs in each metric.
pub fn io_beside(views: &[&RunView], of: &[Across]) -> Option<Markup> {
    let (table, charts) = (metrics(of), side_by_side(views));
    if table.is_none() && charts.is_none() {
        return None;
    }
    Some(html! {
        h2 id="block-io" { "Block I/O" }
        @if let Some(table) = table { (table) }
        @if let Some(charts) = charts { (charts) }
    })
}

/// A line for every metric, treatment and run.
fn metrics(of: &[Across]) -> Option<Markup> {
    let shown = |a: &&Across| a.rows.iter().any(|r| r.summaries.iter().flatten().count() > 0);
    let shown: Vec<&Across> = of.iter().filter(shown).collect();
    if shown.is_empty() {
        return None;
    }
    let treatments = shown.iter().any(|a| a.rows.len() > 1);
    let head = html! {
        th scope="col" { "metric" }
        @if treatments { th scope="col" { "treatment" } }
        th scope="col" { "run" } th scope="col" class="num" { "n" }
        th scope="col" class="num" { "geometric mean" } th scope="col" class="num" { "ratio to #1" }
    };
    let rows = html! {
        @for a in shown {
            @for row in &a.rows {
                @for (i, (summary, ratio)) in row.summaries.iter().zip(&row.comparisons).enumerate() {
                    @let value = summary.as_ref().and_then(|s| Some((s.geomean.or(s.mean)?, s.interval)));
                    tr {
                        th scope="row" { (a.metric.trim_start_matches("io.")) }
                        @if treatments { td { (row.label) } }
                        td { "#" (i + 1) }
                        td class="num" { @if let Some(s) = summary { (s.n) } }
                        td class="num" { (value.map_or_else(|| NO_VALUE.to_owned(), |(v, interval)| with_interval(v, interval, &a.unit))) }
                        td class="num" { (ratio.as_ref().map_or_else(String::new, ratio_text)) }
                    }
                }
            }
        }
    };
    Some(table_box("Block I/O of the measured part, all programs together", &head, &rows))
}

fn side_by_side(views: &[&RunView]) -> Option<Markup> {
    let mut all: Vec<(String, Titled)> =
        views.iter().enumerate().filter_map(|(i, view)| of_run(i + 1, view)).collect();
    if all.len() < 2 {
        return None;
    }
    same_series(&mut all.iter_mut().map(|(_, charts)| charts).collect::<Vec<_>>());
    let mut titles: Vec<&String> = Vec::new();
    for (title, _) in all.iter().flat_map(|(_, charts)| charts) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    let of = |title: &String| -> Vec<(&String, Option<Markup>)> {
        let reach = common(title, all.iter().map(|(_, charts)| charts));
        let one = |charts: &Titled| {
            charts.iter().find(|(t, _)| t == title).map(|c| c.1.over(reach, NARROW))
        };
        all.iter().map(|(label, charts)| (label, one(charts))).collect()
    };
    Some(html! {
        p class="soft" { "Charts are of the first counted trial of each run; those of a kind have one scale, and time begins with each trial." }
        @for title in &titles {
            h3 { (title) }
            div class="beside" {
                @for (label, chart) in of(title) {
                    @if let Some(chart) = chart { (figure(&chart, &html! { (label) }, &html! {})) }
                    @else { p class="soft" { (label) ": nothing of it." } }
                }
            }
        }
    })
}

/// What is drawn of a run, and whose it is; what is withheld is not drawn.
fn of_run(number: usize, view: &RunView) -> Option<(String, Titled)> {
    let gate = Gate::of(view);
    let shown = |t: &u32| gate.run().is_none() && gate.treatment(*t).is_none();
    let mut trials = view.treatments().into_iter().filter(shown).flat_map(|t| view.counted(t));
    let (record, report) = trials.find_map(|r| Some((r, view.io.get(&r.number)?)))?;
    let label = format!("#{number} trial {}, {}", record.number, view.label(record.treatment));
    Some((label, charts(&Subject::trial(&format!("{number}-"), record), report)))
}
