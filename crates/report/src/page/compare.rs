//! Runs side by side: the parts that the server's page and the published one share, and the published one.

use assay_model::{Across, RunSummary, SCHEMA_VERSION};
use assay_rules::denominator::Denominator;
use maud::{Markup, html};

use super::comparable::{Prices, comparable};
use super::counted::TrialGroup;
use super::io::io_beside;
use super::overlay::overlay;
use super::{counted, data, profile, shell, tabbed};
use crate::document::html;
use crate::gate::Gate;
use crate::inside::{beside, inside, treatment};
use crate::parts;
use crate::view::RunView;

/// What runs are shown under.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Under {
    /// In total where there is none.
    pub per: Option<Denominator>,
    /// For results per price.
    pub prices: Prices,
}

/// Runs side by side without the numbers of what is withheld in one of them.
#[derive(Debug, Clone)]
pub struct Shown {
    across: Across,
    /// In the metrics of the tracer of block I/O.
    io: Vec<Across>,
}

impl Shown {
    /// Of the runs in the deciding metric, and in the tracer's.
    pub fn of(views: &[&RunView], across: &Across, io: &[Across]) -> Self {
        let gates: Vec<Gate> = views.iter().map(|view| Gate::of(view)).collect();
        Shown {
            across: published(views, &gates, across),
            io: io.iter().map(|a| published(views, &gates, a)).collect(),
        }
    }
}

/// The page's list of contents and its `main`: values on one scale and ratios, what else differed, what happened over
/// time, block I/O. `link` is where a run's own page is, if it has one; `before` stands above the results, `more` is a
/// last tab: its id, its name and what it holds.
pub fn side_by_side(
    views: &[&RunView],
    shown: &Shown,
    under: &Under,
    link: &dyn Fn(&str) -> Option<String>,
    before: &Markup,
    more: Option<(&str, &str, Markup)>,
) -> Markup {
    let runs: Vec<RunSummary> = views.iter().map(|v| v.summary.clone()).collect();
    let across = &shown.across;
    let first = html! {
        h2 { "Answer" }
        @for reason in parts::across::void(across) { p class="notice invalid" { strong { "No verdict: " } (reason) } }
        (before)
        (comparable(views, across, under.per, &under.prices))
        (html::parts(&parts::across::results(across)))
        (html::parts(&parts::across::runs(&runs, link)))
    };
    let differed =
        html! { h2 { "What else differed" } (html::parts(&parts::across::differed(across))) };
    let mut tabs = vec![("answer", "Answer", first), ("differed", "What differed", differed)];
    let over_time = overlay(views, across);
    if !over_time.0.is_empty() {
        tabs.push(("over-time", "Over time", html! { div class="clock" { (over_time) } }));
    }
    if let Some(io) = io_beside(views, &shown.io) {
        tabs.push(("io", "I/O", io));
    }
    let profiles = by_treatment(views, across, RunView::profiles_of, profile::beside);
    let counted = by_treatment(views, across, RunView::instructions_of, counted::instructions);
    let calls = by_treatment(views, across, RunView::syscalls_of, counted::system_calls);
    for (id, name, shown) in [
        ("profiles", "Profile", profiles),
        ("instructions", "Instructions", counted),
        ("system-calls", "System calls", calls),
    ] {
        if !shown.0.is_empty() {
            tabs.push((id, name, shown));
        }
    }
    tabs.extend(more);
    tabbed(&tabs)
}

/// The sections of treatments that several runs have, with the confidence level of the first run.
fn by_treatment<'a, T>(
    views: &[&'a RunView],
    across: &Across,
    of: fn(&'a RunView, u32) -> Vec<&'a T>,
    shown: fn(Vec<TrialGroup<'a, T>>, f64) -> Option<Markup>,
) -> Markup {
    let confidence = views.first().map_or(0.95, |v| v.experiment.compare.confidence);
    let sections = across.rows.iter().enumerate().filter_map(|(n, row)| {
        let runs = beside(views, row).into_iter();
        let side = |(i, view, treatment)| TrialGroup {
            id: format!("r{n}-{i}"),
            label: format!("#{}", i + 1),
            trials: of(view, treatment),
        };
        let sides: Vec<TrialGroup<'_, T>> = runs.map(side).collect();
        let several = sides.iter().filter(|side| !side.trials.is_empty()).count() > 1;
        let shown = several.then(|| shown(sides, confidence))??;
        Some(html! { h2 { (row.label) } (shown) })
    });
    html! { @for section in sections { (section) } }
}

/// The page as one file. `version` is assay's.
pub fn compared(views: &[&RunView], shown: &Shown, version: &str) -> String {
    let names: Vec<&str> = views.iter().map(|v| v.summary.experiment.as_str()).collect();
    let same = names.windows(2).all(|pair| pair[0] == pair[1]);
    let of = if same { names.first().map_or("", |n| n).to_owned() } else { names.join(", ") };
    let title = format!("{} runs of {of} compared", views.len());
    let whole = serde_json::json!({
        "schema_version": SCHEMA_VERSION, "assay": version, "across": shown.across, "io": shown.io,
        "inside": inside(views, &shown.across),
    });
    let body = html! {
        header {
            p class="eyebrow" { "assay · comparison" }
            h1 { (title) }
        }
        (side_by_side(views, shown, &Under::default(), &|_| None, &html! {}, None))
        footer { p { "Made by assay " (version) ". The runs are in the archive under the ids above." } }
        (data::json(&whole))
    };
    shell::skippable(&title, "Skip to the results", &body)
}

/// Without the numbers of what is withheld in a run; a gate for each.
fn published(views: &[&RunView], gates: &[Gate], across: &Across) -> Across {
    let mut across = across.clone();
    for (i, (view, gate)) in views.iter().zip(gates).enumerate() {
        for row in &mut across.rows {
            let Some(why) = treatment(view, row).and_then(|t| gate.treatment(t)) else { continue };
            if let Some(summary) = row.summaries.get_mut(i) {
                *summary = None;
            }
            if let Some(percentile) = row.percentiles.get_mut(i) {
                *percentile = None;
            }
            // A ratio to a baseline that is withheld is as little worth as one of what is withheld.
            let touched = |k: usize| k == i || i == 0;
            let ratios = row.comparisons.iter_mut().enumerate().filter(|(k, _)| touched(*k));
            for c in ratios.filter_map(|(_, c)| c.as_mut()) {
                c.verdict = assay_model::Verdict::Invalid;
                c.reason = why.text();
                (c.ratio, c.interval, c.sensitivity, c.detectable) = (None, None, None, None);
            }
        }
    }
    across
}
