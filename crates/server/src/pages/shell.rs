//! HTML document around every page.

use std::sync::atomic::Ordering;

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

use crate::app::App;

/// Section of the site that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Queue,
    Archive,
    Compare,
    History,
    Landscapes,
    Observe,
    Machine,
    Elsewhere,
    /// Pages that are shown before signing in.
    Outside,
}

const SECTIONS: [(Section, &str, &str); 7] = [
    (Section::Queue, "/queue", "Queue"),
    (Section::Archive, "/archive", "Archive"),
    (Section::Compare, "/compare", "Compare"),
    (Section::History, "/history", "History"),
    (Section::Landscapes, "/landscapes", "Landscapes"),
    (Section::Observe, "/observe", "Observe"),
    (Section::Machine, "/machine", "Machine"),
];

/// Returns true if the menu has the section. Landscapes are offered only if the archive has results
/// to rank, and on their own pages.
fn is_offered(app: &App, section: Section, place: Section) -> bool {
    section != Section::Landscapes || section == place || app.has_ranked.load(Ordering::Relaxed)
}

/// Renders an item of a list of links, of which one is chosen.
pub(crate) fn choice(href: &str, chosen: bool, words: &str) -> Markup {
    html! { li { a href=(href) aria-current=[chosen.then_some("true")] { (words) } } }
}

/// Returns a page with `body` inside its `main` element.
pub(crate) fn shell(app: &App, title: &str, place: Section, body: &Markup) -> Html<String> {
    document(app, title, place, &html! { main id="main" { (body) } })
}

/// Returns a page whose body has its own `main` element.
pub(crate) fn document(app: &App, title: &str, place: Section, body: &Markup) -> Html<String> {
    let offered = SECTIONS.into_iter().filter(|(own, ..)| is_offered(app, *own, place));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · assay" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/assets/style.css";
                script src="/assets/charts.js" defer {}
                script src="/assets/server.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                @if place != Section::Outside { nav.site aria-label="assay" {
                    ul { @for (own, path, name) in offered {
                        @let here = (own == place).then_some("page");
                        li { a href=(path) aria-current=[here] { (name) } }
                    } }
                    form method="post" action="/logout" {
                        button type="submit" class="plain" { "Sign out" }
                    }
                } }
                (body)
            }
        }
    };
    Html(page.into_string())
}
