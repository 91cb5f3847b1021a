//! A metric over revisions as a page of its own: for each class of machine a chart of ratios with their
//! intervals, the changes with their states, and the table; self-contained as every page is.

use assay_chart::curve::{self, Curve, Point, Series, Vertical};
use assay_chart::{Head, ScaleKind};
use assay_model::Better;
use maud::{Markup, html};

use super::shell;

/// What a page of a history shows.
#[derive(Debug, Clone)]
pub struct History {
    /// The heading: the experiment and the metric.
    pub heading: String,
    /// What the points are, in a sentence.
    pub lede: String,
    /// What the reference revision is called.
    pub reference: String,
    /// Which way of the metric is better.
    pub better: Better,
    /// A series for each class of machine.
    pub series: Vec<HistorySeries>,
    /// What was left out, as sentences.
    pub notes: Vec<String>,
}

/// The series of one class of machine.
#[derive(Debug, Clone)]
pub struct HistorySeries {
    /// The class of machine.
    pub machine: String,
    /// The points, in order.
    pub points: Vec<HistoryPoint>,
    /// The first point of each new level, and a word for the mark there.
    pub marks: Vec<(usize, String)>,
    /// What the changes and slopes are, as sentences.
    pub changes: Vec<String>,
}

/// A revision.
#[derive(Debug, Clone)]
pub struct HistoryPoint {
    /// What it is called.
    pub label: String,
    /// The author's date.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The ratio to the reference.
    pub ratio: f64,
    /// Its interval; NaN when there is none.
    pub interval: (f64, f64),
    /// The ratio with its interval, as text.
    pub shown: String,
}

/// The page.
pub fn history(history: &History) -> String {
    let body = html! {
        a class="skip" href="#main" { "Skip to the results" }
        header {
            p class="eyebrow" { "assay · history" }
            h1 { (history.heading) }
            p class="lede" { (history.lede) }
        }
        main id="main" {
            @for (i, series) in history.series.iter().enumerate() {
                section id={ "series-" (i) } aria-labelledby={ "series-" (i) "-heading" } {
                    h2 id={ "series-" (i) "-heading" } { (series.machine) }
                    (chart(history, series, i))
                    @if series.changes.is_empty() { p { "No change was found." } }
                    @else { ul { @for change in &series.changes { li { (change) } } } }
                    (table(series))
                }
            }
            @for note in &history.notes { p { (note) } }
        }
    };
    shell::page(&history.heading, &body)
}

fn chart(history: &History, series: &HistorySeries, i: usize) -> Markup {
    let points = series.points.iter().enumerate().map(|(x, p)| Point {
        x: x as f64,
        y: p.ratio,
        low: p.interval.0,
        high: p.interval.1,
        label: format!("{} {}: {} ({})", p.label, p.date, p.shown, p.subject),
    });
    let verticals = series.marks.iter().map(|(at, word)| Vertical {
        x: *at as f64,
        label: format!("{word} {}", series.points[*at].label),
    });
    let title = format!("Ratio to {} by revision", history.reference);
    curve::render(&Curve {
        head: Head {
            id: format!("history-{i}"),
            desc: format!("{title}, {} points; the table has the values", series.points.len()),
            title,
        },
        x_name: "revision, in the order of the range".into(),
        x_unit: String::new(),
        x_scale: ScaleKind::Linear,
        y_name: format!("ratio to {}", history.reference),
        y_unit: String::new(),
        y_scale: ScaleKind::Linear,
        better: history.better,
        series: vec![Series {
            label: "ratio".into(),
            points: points.collect(),
            marked: Vec::new(),
        }],
        verticals: verticals.collect(),
        note: "bands: 95 % intervals".into(),
    })
}

fn table(series: &HistorySeries) -> Markup {
    html! {
        div class="table" tabindex="0" {
            table {
                caption { "All points" }
                thead { tr { th { "revision" } th { "author date" } th { "ratio" } th { "subject" } } }
                tbody {
                    @for p in &series.points {
                        tr { td { code { (p.label) } } td { (p.date) } td { (p.shown) } td { (p.subject) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_every_point_and_change_and_no_markup_of_others() {
        let point = |label: &str, ratio: f64| HistoryPoint {
            label: label.into(),
            date: "2026-11-23".into(),
            subject: "<script>alert(1)</script>".into(),
            ratio,
            interval: (ratio * 0.99, ratio * 1.01),
            shown: format!("{ratio}"),
        };
        let page = history(&History {
            heading: "prog: elapsed".into(),
            lede: "Ratios to v1.".into(),
            reference: "v1".into(),
            better: Better::Lower,
            series: vec![HistorySeries {
                machine: "a machine".into(),
                points: vec![point("v1", 1.0), point("abc", 1.2)],
                marks: vec![(1, "confirmed".into())],
                changes: vec!["confirmed: worse by +20.0 % at abc".into()],
            }],
            notes: Vec::new(),
        });
        assert!(page.contains("confirmed: worse by +20.0 % at abc"), "{page}");
        assert!(page.contains("<svg") && page.contains("<code>abc</code>"), "{page}");
        assert!(!page.contains("<script>alert"), "{page}");
    }
}
