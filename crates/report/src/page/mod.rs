//! Renders a run as one HTML file that loads no network resource, font or script. Style and script
//! are inlined, and the page's content security policy names them by their hashes; without the
//! script the page has the same content. All printed numbers have passed the [`Gate`].

mod answer;
mod comparable;
mod compare;
pub mod data;
mod disclosure;
mod heat;
mod landscape;
mod overlay;
pub mod shell;
mod tasks;
mod time;

use maud::{Markup, html};

use crate::document::{Outputs, html, packed};
use crate::figures::count;
use crate::gate::Gate;
use crate::parts::{self, draw};
use crate::tracers::TRACERS;
use crate::view::RunView;
use assay_traces::profile::Profile;

pub use comparable::Prices;
pub use compare::{ChosenDenominator, compared, side_by_side};
pub use landscape::{content as landscape_content, landscape, preview as landscape_preview};
pub use shell::{SCRIPT, style};

pub use crate::shown_comparison::ShownComparison;
pub use crate::tracers::block_io::observed;
pub use crate::tracers::profile::{flame, profile_part};

/// A section of a page and the tab that shows it.
struct PageSection {
    /// Id of the tab's panel and name of the tab.
    tab: (&'static str, &'static str),
    /// Id of the section in the page.
    id: &'static str,
    /// Heading of the section.
    name: &'static str,
    /// Renders the section; `None` if the run has no content for it.
    body: fn(&RunView, &Gate) -> Option<Markup>,
}

const fn section(
    panel: &'static str,
    tab: &'static str,
    id: &'static str,
    name: &'static str,
    body: fn(&RunView, &Gate) -> Option<Markup>,
) -> PageSection {
    PageSection { tab: (panel, tab), id, name, body }
}

/// Sections of a run's page before those of the tracers; the sections of a tab are neighbours. The
/// charts of all tabs but the first are packed.
static RESULTS: [PageSection; 9] = [
    section("answer", "Answer", "significance", "Answer", |v, g| Some(answer::section(v, g))),
    section("comparison", "Results", "results", "Results", |v, g| {
        Some(html::parts(&parts::results::section(v, g, Outputs::Page)))
    }),
    section("comparison", "Results", "explain", "What else changed", |v, g| {
        parts::explain::section(v, g).map(|p| html::parts(&p))
    }),
    section("metrics", "Metrics", "other-metrics", "Other metrics", |v, g| {
        parts::metrics::metrics(v, g).map(|p| html::parts(&p))
    }),
    section("executed", "Trials", "order", "Run order", draw::run_order),
    section("executed", "Trials", "distribution", "Distribution", draw::distribution),
    section("executed", "Trials", "all-trials", "Trials", |v, g| {
        Some(disclosure::every_trial(v, g))
    }),
    section("over-time", "Over time", "time", "Over time", |v, _| time::section(v)),
    section("threads", "Threads", "tasks", "Threads", |v, _| tasks::section(v)),
];

/// Sections after those of the tracers.
static DISCLOSURE: [PageSection; 4] = [
    section("system", "System", "configuration", "System and settings", |v, _| {
        Some(html::parts(&parts::system::configuration(v)))
    }),
    section("how", "Method", "method", "Method", |v, _| {
        Some(html::parts(&parts::method::method(v)))
    }),
    section("how", "Method", "practice", "Findings", |v, _| {
        Some(html::parts(&parts::findings::findings(v)))
    }),
    section("files-and-provenance", "Disclosure", "disclosure", "Disclosure", |v, g| {
        Some(disclosure::section(v, g))
    }),
];

/// Renders the page of a run.
pub fn render(view: &RunView) -> String {
    shell::skippable(view.title(), "Skip to the results", &content(view, None))
}

/// Renders the content of the page without the document around it, for use in another document.
/// With [`style`] as style sheet and [`SCRIPT`] as script it looks and works the same there. `more`
/// is a tab of that document: its id, name and content.
pub fn content(view: &RunView, more: Option<(&str, &str, Markup)>) -> Markup {
    let gate = Gate::from_view(view);
    let made = |of: &[PageSection]| {
        let section = |s: &PageSection| Some(html::section(s.id, s.name, &(s.body)(view, &gate)?));
        let sections = of.iter().filter_map(section);
        let all = html! { @for s in sections { (s) } };
        (!all.0.is_empty()).then_some((of[0].tab.0, of[0].tab.1, all))
    };
    let tabs_of = |sections: &'static [PageSection]| {
        sections.chunk_by(|a, b| a.tab == b.tab).filter_map(made)
    };
    let mut tabs: Vec<(&str, &str, Markup)> = tabs_of(&RESULTS).collect();
    tabs.extend(TRACERS.iter().filter_map(|t| {
        Some((t.tab.0, t.tab.1, html::section(t.section.0, t.section.1, &(t.run)(view)?)))
    }));
    tabs.extend(tabs_of(&DISCLOSURE));
    tabs.extend(more);
    html! {
        header {
            p.eyebrow { "assay · run " code { (view.summary.id) } }
            h1 { (view.title()) }
            (facts(view))
            @if !view.experiment.description.trim().is_empty() { details {
                summary { "About this experiment" }
                @let paragraphs = view.experiment.description.split("\n\n").map(str::trim);
                @for p in paragraphs.filter(|p| !p.is_empty()) { p.lede { (p) } }
            } }
        }
        (tabbed(&tabs))
        footer { p { "Made by assay " (view.assay_version) " from run " code { (view.summary.id) }
            ". Every number leads to the trials behind it." } }
    }
}

/// Renders parts of a page as tabs: id, name and content of each. The script turns the list of
/// contents into tabs; without it all parts are shown one below the other. The charts of all but
/// the first are packed.
pub(super) fn tabbed(tabs: &[(&str, &str, Markup)]) -> Markup {
    html! {
        nav.tabs aria-label="Contents" {
            ul { @for (id, name, _) in tabs { li { a href={ "#" (id) } { (name) } } } }
        }
        main id="main" { @for (i, (id, _, tab)) in tabs.iter().enumerate() {
            div.panel id=(id) { @if i == 0 { (tab) } @else { (packed::charts_apart(tab)) } }
        } }
    }
}

/// Renders a profile as a page of its own.
pub fn profile(name: &str, profile: &Profile) -> String {
    let content = html! {
        header { p.eyebrow { "assay · profile" } h1 { (name) } }
        main id="main" { (profile_part(profile)) }
        (shell::footer(env!("CARGO_PKG_VERSION"), ""))
    };
    shell::page(name, &content)
}

fn facts(view: &RunView) -> Markup {
    let s = &view.summary;
    let counted = view.records.iter().filter(|r| r.counts()).count();
    let began = if view.imported().is_some() { "imported" } else { "started" };
    let time = format!("{} UTC", s.started_at.replace('T', " ").trim_end_matches('Z'));
    html! {
        dl.facts {
            div { dt { "experiment" } dd { (s.experiment) } }
            div { dt { "workload" } dd { (s.workload) } }
            div { dt { "host" } dd { (s.host) } }
            div { dt { (began) } dd { time datetime=(s.started_at) { (time) } } }
            div { dt { "state" } dd { (s.state.name()) } }
            div { dt { "trials" } dd { a href="#trials" {
                (counted) " of " (count(s.planned as usize, "trial")) " valid"
                @if s.failed > 0 { ", " (s.failed) " failed" }
            } } }
        }
    }
}

#[cfg(test)]
mod tests;
