//! The results: curves, intervals, comparisons, scaling, every metric; and the run order.

use assay_model::nouns::singular;
use assay_model::{CurveSummary, Kind};
use maud::{Markup, html};

use super::parts::{Behind, figure, table_box};
use super::{draw, suite, tables};
use crate::figures::{NO_VALUE, count, point_text, quantile_name, x_text};
use crate::gate::Gate;
use crate::percentiles::withheld_points;
use crate::view::{RunView, shown_points};
use crate::words::{efficient, smoothness};

/// How many curves share a chart.
const TOGETHER: usize = 8;

pub(super) fn section(view: &RunView, gate: &Gate) -> Markup {
    let under = html! {};
    html! {
        @if let Some(w) = gate.run() { p class="notice invalid" { (w.text()) } }
        @if let Some(s) = &gate.analysis.suite { (suite::section(view, gate, s)) }
        (curves(view, gate))
        @if let Some(chart) = draw::absolutes(view, gate) {
            h3 { (gate.analysis.metric) " of each treatment" }
            (figure(&chart, &html! { (absolute_caption(gate)) }, &under))
        }
        (tables::comparisons(view, gate))
        @if let Some(chart) = draw::ratios(view, gate) {
            (figure(&chart, &html! { "The line at 1 is the baseline." @if gate.analysis.comparisons.iter().any(|c| c.margin.is_some()) { " The shaded band is the margin within which differences do not matter." } }, &under))
        }
        @if let Some(s) = &gate.analysis.scaling {
            h3 id="scaling" { "Scaling over " (s.factor) }
            (tables::scaling(view, gate, s))
            @if let Some(chart) = draw::scaling(view, s) {
                (figure(&chart, &html! { "Dotted: a speedup equal to the count." }, &under))
            }
        }
        @if gate.run().is_none() { (tables::percentiles(view, gate)) (tables::metrics(view, gate)) }
    }
}

fn absolute_caption(gate: &Gate) -> &'static str {
    if gate
        .analysis
        .summaries
        .iter()
        .any(|s| s.metric == gate.analysis.metric && s.percentile.is_some())
    {
        "That of all trials' histograms together above, each trial's own beneath; a dot leads to its trial."
    } else {
        "Mean with its interval above, every trial beneath; a dot leads to its trial."
    }
}

/// The run-order chart, unless nothing of it may be shown.
pub(super) fn order(view: &RunView, gate: &Gate) -> Option<Markup> {
    let chart = draw::run_order(view, gate)?;
    let caption = html! { "Drift, warm-up and stray trials show here; a mark leads to its trial." };
    Some(figure(&chart, &caption, &html! {}))
}

fn curves(view: &RunView, gate: &Gate) -> Markup {
    let all: Vec<&CurveSummary> =
        gate.analysis.curves.iter().filter(|c| !c.points.is_empty()).collect();
    let mut names: Vec<&str> = Vec::new();
    for c in &all {
        if !names.contains(&c.name.as_str()) {
            names.push(&c.name);
        }
    }
    html! {
        @for name in names {
            @let dd = name == "dd" && all.iter().any(|c| c.name == "dd" && c.kind == Kind::Derived);
            @let own: Vec<&CurveSummary> = all.iter().copied().filter(|c| c.name == name).collect();
            h3 { @if dd { "What dd would have reported" } @else { (name) " over " (own.first().map_or("x", |c| c.x_noun())) } }
            @if dd {
                p { "Derived: the time that dd spends on each block beyond the read itself, measured in the same trial, is added to every read." }
            }
            @for (i, part) in own.chunks(TOGETHER).enumerate() {
                @let shown = if dd { beside(&all, part) } else { part.to_vec() };
                @let title = if own.len() > TOGETHER { format!("{name}, part {}", i + 1) } else { name.to_owned() };
                @let id = format!("curve-{}-{i}", slug(name));
                @if let Some(chart) = draw::curves(view, &id, &title, &shown) {
                    (figure(&chart, &html! { (caption(part)) }, &data_table(view, name, part)))
                }
            }
            @for c in &own { @for sentence in withheld_points(&gate.analysis, c) { p class="soft" { (view.label(c.treatment)) ": " (sentence) "." } } }
            @if own.iter().all(|c| c.quantile.is_none()) && own.iter().any(|c| c.best.is_some()) { (choice(view, name, &own)) }
        }
    }
}

/// What the marks of a chart of curves are.
fn caption(part: &[&CurveSummary]) -> String {
    let Some(first) = part.first() else { return String::new() };
    match first.quantile {
        Some(q) => {
            format!("{} of the merged histograms of all trials of a point.", quantile_name(q))
        }
        None if part.iter().all(|c| c.best.is_none()) => {
            format!("Means of the trials at each {}.", first.x_one())
        }
        None => format!(
            "Ring: best; diamond: most efficient, the smallest {} within 2 % of the best (each {}).",
            first.x_one(),
            first.judged
        ),
    }
}

/// A derived curve of dd beside the measured one of the same treatments.
fn beside<'a>(all: &[&'a CurveSummary], part: &[&'a CurveSummary]) -> Vec<&'a CurveSummary> {
    part.iter()
        .flat_map(|c| {
            let measured = all.iter().copied().find(|m| {
                m.treatment == c.treatment && m.kind == Kind::Measured && m.unit == c.unit
            });
            measured.into_iter().chain([*c])
        })
        .collect()
}

fn choice(view: &RunView, name: &str, curves: &[&CurveSummary]) -> Markup {
    let x = &curves.first().map_or_else(|| "x".to_owned(), |c| c.x_one());
    let head = html! {
        th scope="col" { "treatment" }
        th scope="col" class="num" { "best" } th scope="col" class="num" { "at " (x) }
        th scope="col" class="num" { "most efficient" } th scope="col" class="num" { "at " (x) }
        th scope="col" class="num" { "smoothness" } th scope="col" { "trials" }
    };
    let rows = html! {
        @for c in curves {
            @let behind = Behind::curve(view, c);
            tr {
                th scope="row" { (view.label(c.treatment)) }
                @for p in [&c.best, &c.efficient] {
                    @if let Some(p) = p {
                        (behind.cell(&point_text(p, &c.unit)))
                        (behind.cell(&x_text(p.x, &c.x_unit)))
                    } @else {
                        td class="num" { (NO_VALUE) } td class="num" { (NO_VALUE) }
                    }
                }
                @if let Some(s) = c.smoothness { (behind.cell(&format!("{s:.2}"))) } @else { td class="num" { (NO_VALUE) } }
                td class="trials" { (behind.list()) }
            }
        }
    };
    html! {
        (table_box(&format!("{name}: best and most efficient {x}"), &head, &rows))
        p class="soft" { (efficient(x, curves.first().map_or("", |c| c.judged.as_str()))) " " (smoothness(x)) }
    }
}

fn data_table(view: &RunView, name: &str, curves: &[&CurveSummary]) -> Markup {
    let mut xs: Vec<f64> =
        curves.iter().flat_map(|c| shown_points(c).into_iter().map(|p| p.x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let x = curves.first().map_or("x", |c| c.x_noun());
    let points = curves.first().map_or("point", |c| c.x_counted());
    let merged = curves.iter().any(|c| c.quantile.is_some());
    let what = if merged { "from merged histograms" } else { "geometric mean and interval" };
    let behind: Vec<Behind> = curves.iter().map(|c| Behind::curve(view, c)).collect();
    let head = html! {
        th scope="col" class="num" { (x) }
        @for (c, b) in curves.iter().zip(&behind) { th scope="col" class="num" { (b.link(&view.label(c.treatment))) } th scope="col" class="num" { "n" } }
    };
    let x_unit = curves.first().map_or("", |c| c.x_unit.as_str());
    let rows = html! {
        @for at in &xs {
            tr {
                th scope="row" class="num" { (x_text(*at, x_unit)) }
                @for c in curves {
                    @if let Some(p) = c.points.iter().find(|p| p.x == *at) {
                        td class="num" { (point_text(p, &c.unit)) } td class="num" { (p.n) }
                    } @else { td class="num" { "not measured" } td class="num" { "0" } }
                }
            }
        }
    };
    html! {
        details {
            summary { "Data table: the " (count(xs.len(), points)) " drawn; the raw values below have all" }
            (table_box(&format!("{name} at every {}: {what}", singular(points)), &head, &rows))
        }
    }
}

pub(super) fn slug(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}
