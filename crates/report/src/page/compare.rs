//! Comparisons of runs: the parts that the server's page and the published page share, and the
//! published page.

use assay_model::{RunSummary, SCHEMA_VERSION};
use assay_quoted::denominator::Denominator;
use maud::{Markup, html};

use super::comparable::{Prices, comparable};
use super::overlay::overlay;
use super::{data, shell, tabbed};
use crate::document::html;
use crate::inside::inside;
use crate::parts;
use crate::shown_comparison::ShownComparison;
use crate::tracers::TRACERS;
use crate::view::RunView;

/// The denominator under which runs are shown, and its prices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChosenDenominator {
    /// Denominator of the results; `None` shows them in total.
    pub per: Option<Denominator>,
    /// Prices for results per price.
    pub prices: Prices,
}

/// Renders the page's list of contents and its `main`: values on one scale and ratios, other
/// differences, monitor samples over time, block I/O, and differences inside the programs. `link`
/// returns the address of a run's own page, if it has one. `before` is shown above the results;
/// `more` is the last tab: its id, name and content.
pub fn side_by_side(
    views: &[&RunView],
    shown: &ShownComparison,
    under: &ChosenDenominator,
    link: &dyn Fn(&str) -> Option<String>,
    before: &Markup,
    more: Option<(&str, &str, Markup)>,
) -> Markup {
    let runs: Vec<RunSummary> = views.iter().map(|v| v.summary.clone()).collect();
    let across = &shown.across;
    let first = html! {
        h2 { "Answer" }
        @for reason in parts::across::void(across) {
            p.notice.invalid { strong { "No verdict: " } (reason) }
        }
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
        tabs.push(("over-time", "Over time", html! { div.clock { (over_time) } }));
    }
    tabs.extend(TRACERS.iter().filter_map(|t| Some((t.tab.0, t.tab.1, (t.runs)(views, shown)?))));
    tabs.extend(more);
    tabbed(&tabs)
}

/// Renders the comparison as one HTML file; `version` is assay's version.
pub fn compared(views: &[&RunView], shown: &ShownComparison, version: &str) -> String {
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
            p.eyebrow { "assay · comparison" }
            h1 { (title) }
        }
        (side_by_side(views, shown, &ChosenDenominator::default(), &|_| None, &html! {}, None))
        (shell::footer(version, " The archive has the runs under the ids above."))
        (data::json(&whole))
    };
    shell::skippable(&title, "Skip to the results", &body)
}
