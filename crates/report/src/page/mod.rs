//! One HTML file for a run: no network, no fonts and no scripts from elsewhere. Style and script are
//! inlined and named by their hashes in the page's content security policy; without the script the
//! page reads the same. Everything printed has passed the [`Gate`].

mod comparable;
mod compare;
pub(crate) mod data;
mod disclosure;
pub(crate) mod draw;
mod heat;
mod io;
mod landscape;
mod overlay;
mod profile;
pub(crate) mod shell;
mod syscalls;
mod time;

use maud::{Markup, html};

use crate::document::{On, html};
use crate::figures::count;
use crate::gate::Gate;
use crate::parts;
use crate::view::RunView;

pub use comparable::Prices;
pub use compare::{Shown, Under, compared, side_by_side};
pub use io::observed;
pub use landscape::{content as landscape_content, landscape};
pub use profile::profile;
pub use shell::{SCRIPT, style};

/// A section of the page; adding one is its row.
struct Section {
    /// Its id in the page.
    id: &'static str,
    /// Its heading.
    name: &'static str,
    /// What it holds; `None`: the run has nothing for it.
    body: fn(&RunView, &Gate) -> Option<Markup>,
}

const fn section(
    id: &'static str,
    name: &'static str,
    body: fn(&RunView, &Gate) -> Option<Markup>,
) -> Section {
    Section { id, name, body }
}

/// What the page of a run shows, from top to bottom.
static SECTIONS: [Section; 13] = [
    section("significance", "Significance", |v, g| {
        Some(html::parts(&parts::significance::significance(v, g)))
    }),
    section("results", "Results", |v, g| {
        Some(html::parts(&parts::results::section(v, g, On::Page)))
    }),
    section("distribution", "Distribution", draw::distribution),
    section("explain", "What differs along", |v, g| {
        parts::explain::section(v, g).map(|p| html::parts(&p))
    }),
    section("order", "Run order", draw::run_order),
    section("time", "Over time", |v, _| time::section(v)),
    section("profile", "Profile", |v, _| profile::section(v)),
    section("syscalls", "System calls", |v, _| syscalls::section(v)),
    section("io", "Block I/O", |v, _| io::section(v)),
    section("configuration", "Configuration", |v, _| {
        Some(html::parts(&parts::system::configuration(v)))
    }),
    section("method", "Method", |v, _| Some(html::parts(&parts::method::method(v)))),
    section("practice", "Best practices", |v, _| Some(html::parts(&parts::findings::findings(v)))),
    section("disclosure", "Disclosure", |v, g| Some(disclosure::section(v, g))),
];

/// The page.
pub fn render(view: &RunView) -> String {
    let body = html! {
        a class="skip" href="#main" { "Skip to the results" }
        (content(view))
    };
    shell::page(view.title(), &body)
}

/// What is between the edges of the page, for one that stands in a document of its own: with
/// [`style`] as its style sheet and [`SCRIPT`] as its script it reads and works the same.
pub fn content(view: &RunView) -> Markup {
    let gate = Gate::of(view);
    let shown: Vec<(&str, &str, Markup)> =
        SECTIONS.iter().filter_map(|s| Some((s.id, s.name, (s.body)(view, &gate)?))).collect();
    html! {
        header {
            p class="eyebrow" { "assay · run " code { (view.summary.id) } }
            h1 { (view.title()) }
            (facts(view))
            @for paragraph in view.experiment.description.split("\n\n").filter(|p| !p.trim().is_empty()) {
                p class="lede" { (paragraph.trim()) }
            }
        }
        nav aria-label="Contents" {
            ul { @for (id, name, _) in &shown { li { a href={ "#" (id) } { (name) } } } }
        }
        main id="main" {
            @for (id, name, markup) in &shown {
                section id=(id) aria-labelledby={ (id) "-heading" } {
                    h2 id={ (id) "-heading" } { (name) }
                    (markup)
                }
            }
        }
        footer {
            p { "Made by assay " (view.assay_version) " from run " code { (view.summary.id) } ". Every number leads to the trials behind it." }
        }
        (data::block(view, &gate))
    }
}

fn facts(view: &RunView) -> Markup {
    let s = &view.summary;
    let counted = view.records.iter().filter(|r| r.counts()).count();
    html! {
        dl class="facts" {
            div { dt { "experiment" } dd { (s.experiment) } }
            div { dt { "workload" } dd { (s.workload) } }
            div { dt { "host" } dd { (s.host) } }
            div { dt { @if view.imported().is_some() { "imported" } @else { "started" } } dd { time datetime=(s.started_at) { (s.started_at.replace('T', " ").trim_end_matches('Z')) " UTC" } } }
            div { dt { "state" } dd { (s.state.name()) } }
            div { dt { "trials" } dd { a href="#trials" { (count(s.planned as usize, "trial")) " planned, " (counted) " count" @if s.failed > 0 { ", " (s.failed) " failed" } } } }
        }
    }
}

#[cfg(test)]
mod tests;
