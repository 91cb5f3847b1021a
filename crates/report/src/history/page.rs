//! Histories on pages: each series as a small chart, one series large with its changes and points,
//! and a published page with all of them that needs no network.

use assay_chart::Head;
use assay_chart::history::{self as chart, HistoryPoint, LevelChange};
use assay_model::{Better, RunId, units};
use assay_stats::series::{
    ChangeView, HistoryView, ImportedSeries, QuotedHistory, QuotedSeries, QuotedSeriesView,
    SeriesView, quoted,
};
use maud::{Markup, html};

use super::functions::functions_html;
use super::{
    change_words, day, functions_sentence, none_found, none_found_quoted, short, size, slope_line,
    suite_lines, together_line,
};
use crate::document::html::{scroll_box, titles};
use crate::page::shell;

/// Function that renders the actions that a reader can take on a change of a series.
pub type Actions<'a> = dyn Fn(&SeriesView, &ChangeView) -> Markup + 'a;

/// Links and actions that a page adds to a series.
pub struct PageLinks<'a> {
    /// Function that returns the address of a run's page; `None` if runs have no page.
    pub run: Option<fn(&RunId) -> String>,
    /// Actions on a change, if there are any.
    pub actions: Option<&'a Actions<'a>>,
}

/// A history for a published page.
pub enum PublishedHistory {
    /// A history that assay measured.
    Own(HistoryView),
    /// A history quoted from another program's file, under the name of its import.
    Quoted(String, ImportedSeries),
}

/// Returns the permanent HTML id of a series: of the history and the class of machine (or the
/// series' name).
pub fn anchor(id: &str, name: &str) -> String {
    let mut out = format!("s-{id}-");
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(100);
    out.trim_end_matches('-').to_owned()
}

/// Returns the permanent HTML id of a measured series.
pub fn series_anchor(id: &str, series: &SeriesView) -> String {
    match &series.benchmark {
        None => anchor(id, &series.machine),
        // The names of benchmarks may differ in signs alone.
        Some(name) => {
            let hash = name.bytes().fold(5381_u32, |h, b| h.wrapping_mul(33) ^ u32::from(b));
            anchor(&format!("{id}-{hash:08x}"), &format!("{name} {}", series.machine))
        }
    }
}

fn own_chart(
    shown: &HistoryView,
    series: &SeriesView,
    id: String,
    look: &PageLinks<'_>,
) -> chart::HistoryChart {
    let points = series.points.iter().map(|p| {
        let (low, high) = p.interval().unwrap_or((f64::NAN, f64::NAN));
        HistoryPoint {
            value: p.ratio,
            low,
            high,
            label: format!(
                "{} {}: {} ({})",
                p.label,
                day(p.author_date.as_deref()),
                p.text(),
                p.subject
            ),
            href: look.run.zip(p.runs.last()).map(|(to, run)| to(run)).unwrap_or_default(),
        }
    });
    let changes = series.changes.iter().map(|c| LevelChange {
        at: c.change.at,
        before: c.change.before,
        after: c.change.after,
        label: format!("{} {}", c.change.state.name(), series.points[c.change.at].label),
        alarm: c.change.state.alarms() && c.worse != Some(false),
    });
    let metric = series.name(&shown.metric);
    let title = format!("{metric} of {}: ratio to {}", shown.experiment, shown.reference);
    chart::HistoryChart {
        head: Head {
            id,
            desc: format!(
                "{}; {} points, {}; the table has the values",
                series.machine,
                series.points.len(),
                crate::figures::count(series.changes.len(), "change")
            ),
            title,
        },
        name: format!("{metric}, ratio to {}", shown.reference),
        unit: String::new(),
        better: series.better,
        points: points.collect(),
        changes: changes.collect(),
        note: "whiskers: 95 % intervals".into(),
    }
}

fn figure(body: &Markup) -> Markup {
    html! {
        figure {
            div.chart-box tabindex="0" role="region" aria-label="Chart" { (body) }
            output.readout aria-live="off" {}
        }
    }
}

/// Renders a series large: its chart, its changes and its points.
pub fn large(shown: &HistoryView, series: &SeriesView, look: &PageLinks<'_>) -> Markup {
    let id = series_anchor(&shown.id, series);
    let steady = series.changes.is_empty() && series.slopes.is_empty();
    html! {
        section id=(id) aria-labelledby={ (id) "-heading" } {
            h2 id={ (id) "-heading" } { (shown.experiment) ": " (series.name(&shown.metric)) }
            p.soft {
                (series.machine) ": " (series.points.len()) " of " (shown.revisions)
                " revisions, relative to " code { (shown.reference) }
                " in the same blocks. Standard deviation " (format!("{:.2}", 100.0 * series.sd))
                " %, neighbours correlated by " (format!("{:.2}", series.correlation)) ". "
                a href={ "#" (id) } { "Link to this series" }
            }
            (figure(&chart::render(&own_chart(shown, series, format!("{id}-chart"), look))))
            h3 { "Changes" }
            @if steady { p { (none_found(series)) "." } }
            @else { ul.cards {
                @for change in &series.changes { (card(series, change, look)) }
                @for s in &series.slopes { li.card { p { (slope_line(&series.points, s)) } } }
            } }
            // A suite may have hundreds of steady series, whose charts name the points.
            @if !steady || !shown.is_suite() { (points(series, look)) }
        }
    }
}

fn card(series: &SeriesView, change: &ChangeView, look: &PageLinks<'_>) -> Markup {
    let state = change.change.state.name();
    html! {
        li.card id={ "change-" (short(&change.commit)) } {
            p.headline {
                span class={ "change-state change-state-" (state) } { (state) }
                span { (change_words(change)) }
            }
            @if let Some(known) = &change.known {
                @if let Some(note) = &known.note { p { (note) } }
                @if let Some(link) = &known.link { p { (address(link)) } }
                @if let (Some(to), Some(run)) = (look.run, &known.run) {
                    p.soft { "fresh experiment: " a href=(to(run)) { "run " (run) } }
                }
                @if let Some(functions) = &known.functions {
                    p { (functions_sentence(functions)) "." }
                    details { summary { "Functions" } (functions_html(functions)) }
                    @if let (Some(to), Some(run)) = (look.run, &functions.run) {
                        p.soft { "profiled trials: " a href=(to(run)) { "run " (run) } }
                    }
                }
            }
            @if let Some(actions) = look.actions { (actions(series, change)) }
        }
    }
}

/// Renders a link that a person entered; only a web address becomes a link.
fn address(link: &str) -> Markup {
    let web = ["https://", "http://"].iter().any(|scheme| link.starts_with(scheme));
    html! { @if web { a href=(link) rel="noopener noreferrer" { (link) } } @else { (link) } }
}

fn points(series: &SeriesView, look: &PageLinks<'_>) -> Markup {
    let scale = units::common_reference(series.points.iter().map(|p| p.value));
    let table = html! {
        table {
            thead { tr {
                (titles(None, &["revision", "author date"]))
                (titles(Some("num"), &["ratio", "its own value", "blocks"]))
                @if look.run.is_some() { (titles(None, &["run"])) }
                (titles(None, &["subject"]))
            } }
            tbody { @for p in &series.points { tr {
                td { code { (p.label) } } td { (day(p.author_date.as_deref())) }
                td.num { (p.text()) }
                td.num { (units::format_value_as(p.value, &series.unit, 4, scale)) }
                td.num { (p.blocks) }
                @if let Some(to) = look.run {
                    td { @for run in &p.runs { a href=(to(run)) { (run) } " " } }
                }
                td { (p.subject) }
            } } }
        }
    };
    html! { details { summary { "All points" } (scroll_box("All points", &table)) } }
}

/// Renders a series as a small chart that links to `href`.
pub fn small(shown: &HistoryView, series: &SeriesView, href: &str) -> Markup {
    let id = format!("{}-small", series_anchor(&shown.id, series));
    let look = PageLinks { run: None, actions: None };
    let drawn = own_chart(shown, series, id, &look);
    let waiting = series.changes.iter().filter(|c| c.is_undecided()).count();
    let alarms = drawn.changes.iter().filter(|c| c.alarm).count();
    html! {
        figure.small {
            figcaption {
                a href=(href) { (shown.experiment) ": " (series.name(&shown.metric)) } " "
                span.soft { (series.machine) }
            }
            (chart::small(&drawn))
            p.soft {
                (crate::figures::count(series.points.len(), "point"))
                @let last = series.points.last();
                @if let Some(p) = last { ", last " code { (p.label) } " " (p.text()) }
                @if alarms > 0 { ", " strong.withheld { (alarms) " confirmed for the worse" } }
                @if waiting > 0 { ", " (waiting) " suspected" }
            }
        }
    }
}

fn quoted_chart(
    series: &QuotedSeries,
    found: &QuotedSeriesView,
    id: String,
) -> chart::HistoryChart {
    let points = series.points.iter().map(|p| HistoryPoint {
        value: p.value,
        low: f64::NAN,
        high: f64::NAN,
        label: format!(
            "{} {}: {}",
            short(&p.revision),
            p.time,
            units::format_value(p.value, &series.unit)
        ),
        href: String::new(),
    });
    chart::HistoryChart {
        head: Head {
            id,
            title: format!("{}, quoted", series.name),
            desc: format!(
                "{} points, {}",
                series.points.len(),
                crate::figures::count(found.changes.len(), "suspected change")
            ),
        },
        name: series.name.clone(),
        unit: series.unit.clone(),
        better: Better::Neither,
        points: points.collect(),
        changes: found
            .changes
            .iter()
            .map(|c| LevelChange {
                at: c.change.at,
                before: c.change.before,
                after: c.change.after,
                label: "suspected".into(),
                alarm: false,
            })
            .collect(),
        note: "quoted: assay measured none of it".into(),
    }
}

/// Renders a quoted series large.
pub fn large_quoted(name: &str, series: &QuotedSeries, found: &QuotedSeriesView) -> Markup {
    let id = anchor(name, &series.name);
    html! {
        section id=(id) aria-labelledby={ (id) "-heading" } {
            h2 id={ (id) "-heading" } { (series.name) }
            p.soft {
                "Quoted from " code { (name) } ": " (series.points.len()) " points. assay measured "
                "none of it, so changes are suspected and cannot be confirmed. "
                a href={ "#" (id) } { "Link to this series" }
            }
            (figure(&chart::render(&quoted_chart(series, found, format!("{id}-chart")))))
            @let steady = found.changes.is_empty() && found.slopes.is_empty();
            @if steady { p { (none_found_quoted(found)) "." } }
            ul.cards {
                @for c in &found.changes { li.card { p.headline {
                    span class="change-state change-state-suspected" { "suspected" }
                    span { (size(c.change.ratio)) " at " (short(&c.revision)) " " (c.time)
                        " (points " (c.change.place.0 + 1) " to " (c.change.place.1 + 1) ")" }
                } } }
                @for s in &found.slopes {
                    @let change = format!("{:+.1}", 100.0 * (s.after / s.before - 1.0));
                    li.card { p { "slope: " (change) " % from point " (s.from + 1) " to " (s.to) } }
                }
            }
        }
    }
}

/// Renders a quoted series as a small chart that links to `href`.
pub fn small_quoted(
    name: &str,
    series: &QuotedSeries,
    found: &QuotedSeriesView,
    href: &str,
) -> Markup {
    let id = format!("{}-small", anchor(name, &series.name));
    html! {
        figure.small {
            figcaption { a href=(href) { (series.name) } " " span.soft { "quoted from " (name) } }
            (chart::small(&quoted_chart(series, found, id)))
            p.soft {
                (crate::figures::count(series.points.len(), "point"))
                @if !found.changes.is_empty() { ", " (found.changes.len()) " suspected" }
            }
        }
    }
}

fn each(
    imported: &ImportedSeries,
    quoted: &QuotedHistory,
) -> Vec<(QuotedSeries, QuotedSeriesView)> {
    imported.series.iter().cloned().zip(quoted.series.iter().cloned()).collect()
}

/// Renders all series as small charts, grouped by experiment. `own` returns the link for a series
/// of a history, `of` the link for a quoted series, from the name of the import and the index of
/// the series.
pub fn overview(
    histories: &[PublishedHistory],
    own: &dyn Fn(&HistoryView, &SeriesView) -> String,
    of: &dyn Fn(&str, usize, &QuotedSeries) -> String,
) -> Markup {
    html! {
        div.beside.smalls { @for history in histories {
            @match history {
                PublishedHistory::Own(shown) => {
                    @for series in &shown.series { (small(shown, series, &own(shown, series))) }
                    @if shown.series.is_empty() {
                        p { (shown.experiment) ": " (shown.metric) " has no points to show." }
                    }
                }
                PublishedHistory::Quoted(name, imported) => {
                    @let analysed = quoted(imported);
                    @for together in &analysed.together { p { (together_line(together)) "." } }
                    @for (i, (series, found)) in each(imported, &analysed).iter().enumerate() {
                        (small_quoted(name, series, found, &of(name, i, series)))
                    }
                }
            }
        } }
    }
}

/// Renders the sentences about a suite; empty for a single series.
pub fn suite_summary(shown: &HistoryView) -> Markup {
    html! {
        @if shown.is_suite() { ul.cards {
            @for line in suite_lines(shown) { li.card { p { (line) "." } } }
        } }
    }
}

/// Renders the revisions that have no point, and the notes.
pub fn left_out(shown: &HistoryView) -> Markup {
    let unusable = shown.unusable.join(", ");
    html! {
        @if !unusable.is_empty() { p { "Cannot be measured: " (unusable) "." } }
        @for note in &shown.notes { p { (note) "." } }
    }
}

impl PublishedHistory {
    fn large(&self, look: &PageLinks<'_>) -> Markup {
        match self {
            PublishedHistory::Own(shown) => {
                html! {
                    (suite_summary(shown))
                    @for series in &shown.series { (large(shown, series, look)) }
                    (left_out(shown))
                }
            }
            PublishedHistory::Quoted(name, imported) => html! {
                @for (s, view) in each(imported, &quoted(imported)) {
                    (large_quoted(name, &s, &view))
                }
            },
        }
    }

    fn count(&self) -> usize {
        match self {
            PublishedHistory::Own(shown) => shown.series.len(),
            PublishedHistory::Quoted(_, imported) => imported.series.len(),
        }
    }
}

/// Renders a complete page: all series as small charts if there are several, then each one large.
pub fn published(heading: &str, histories: &[PublishedHistory]) -> String {
    let body = content(heading, histories, &PageLinks { run: None, actions: None });
    shell::skippable(heading, "Skip to the results", &body)
}

/// Renders the content of a page of histories.
pub fn content(heading: &str, histories: &[PublishedHistory], look: &PageLinks<'_>) -> Markup {
    let many = histories.iter().map(PublishedHistory::count).sum::<usize>() > 1;
    html! {
        header {
            p.eyebrow { "assay · history" }
            h1 { (heading) }
            p.lede {
                "Each point is a revision, measured in the same blocks as a fixed reference \
                 revision. Changes are suspected until a fresh experiment of both sides confirms \
                 or refutes them."
            }
        }
        main id="main" {
            @if many {
                (overview(
                    histories,
                    &|shown, series| format!("#{}", series_anchor(&shown.id, series)),
                    &|name, _, series| format!("#{}", anchor(name, &series.name)),
                ))
            }
            @for history in histories { (history.large(look)) }
            @if histories.is_empty() { p { "Nothing was measured yet." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::series::{
        Commit, HistoryData, HistoryDefinition, HistoryFindings, MachineSeries, shown,
    };

    /// Returns a history of sixteen commits with one step, made by the same code as a real one.
    fn history() -> HistoryView {
        let revisions: Vec<Commit> = (0..16)
            .map(|n| Commit {
                level: format!("{n:040x}"),
                label: format!("c{n}"),
                subject: "<script>alert(1)</script>".into(),
                author_date: Some("2026-11-23T01:02:03Z".into()),
            })
            .collect();
        let points =
            revisions.iter().enumerate().map(|(place, c)| assay_stats::series::SeriesPoint {
                place,
                commit: c.level.clone(),
                label: c.label.clone(),
                subject: c.subject.clone(),
                author_date: c.author_date.clone(),
                ratio: if place < 8 { 1.0 } else { 1.2 } + (place * 7 % 5) as f64 * 0.001,
                log_error: Some(0.002),
                value: 0.5,
                blocks: 6,
                reference: revisions[0].level.clone(),
                runs: vec![RunId::try_from("20260101-000000-0001".to_owned()).unwrap()],
            });
        let past = HistoryData {
            series: vec![MachineSeries {
                machine: "A CPU, 2 CPUs".into(),
                benchmark: None,
                family: 1,
                points: points.collect(),
            }],
            unusable: vec![3],
            ..HistoryData::default()
        };
        let about = HistoryDefinition {
            experiment: "prog".into(),
            metric: "elapsed".into(),
            unit: "s".into(),
            better: Better::Lower,
            reference: revisions[0].clone(),
            revisions,
        };
        shown("0123456789ab", &about, &past, &HistoryFindings::default())
    }

    #[test]
    fn a_page_holds_every_point_and_change_and_no_markup_of_others() {
        let page = published("prog", &[PublishedHistory::Own(history())]);
        assert_eq!(size(Some(56.485)), "a factor of 56.5");
        assert_eq!(
            (size(Some(0.93)), size(Some(0.0641))),
            ("-7.0 %".into(), "a factor of 0.0641".into())
        );
        assert!(page.contains("worse by +") && page.contains("suspected"), "{page}");
        assert!(page.contains("<svg") && page.contains("<code>c15</code>"), "{page}");
        assert!(page.contains("id=\"s-0123456789ab-a-cpu-2-cpus\""), "{page}");
        assert!(page.contains("Cannot be measured: c3"), "{page}");
        assert!(page.contains("500.0 ms"), "its own value with its unit: {page}");
        assert!(!page.contains("<script>alert") && !page.contains("href=\"/runs"), "{page}");
    }

    #[test]
    fn a_link_that_is_no_address_of_the_web_is_text() {
        assert!(address("https://example.org/1").into_string().starts_with("<a "));
        assert_eq!(address("javascript:alert(1)").into_string(), "javascript:alert(1)");
    }

    #[test]
    fn runs_and_actions_are_shown_where_there_are_some() {
        let shown = history();
        let act = |_: &SeriesView, c: &ChangeView| html! { b { "confirm " (c.before) } };
        let look = PageLinks { run: Some(|run| format!("/runs/{run}")), actions: Some(&act) };
        let text = large(&shown, &shown.series[0], &look).into_string();
        assert!(text.contains("href=\"/runs/20260101-000000-0001\""), "{text}");
        assert!(text.contains(&format!("confirm {:040x}", 7)), "{text}");
    }
}
