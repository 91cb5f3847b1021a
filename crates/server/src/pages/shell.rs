//! The document around every page.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

/// Which part of the server a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Queue,
    Archive,
    Compare,
    History,
    Landscapes,
    Observe,
    Elsewhere,
    /// Before signing in.
    Outside,
}

const SECTIONS: [(Section, &str, &str); 6] = [
    (Section::Queue, "/queue", "Queue"),
    (Section::Archive, "/archive", "Archive"),
    (Section::Compare, "/compare", "Compare"),
    (Section::History, "/history", "History"),
    (Section::Landscapes, "/landscapes", "Landscapes"),
    (Section::Observe, "/observe", "Observe"),
];

/// A page with its parts in `main`.
pub(crate) fn shell(title: &str, place: Section, body: &Markup) -> Html<String> {
    document(title, place, &html! { main id="main" { (body) } })
}

/// A page whose body has a `main` of its own.
pub(crate) fn document(title: &str, place: Section, body: &Markup) -> Html<String> {
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
                a class="skip" href="#main" { "Skip to the content" }
                @if place != Section::Outside {
                    nav class="site" aria-label="assay" {
                        ul {
                            @for (own, path, name) in SECTIONS {
                                li { a href=(path) aria-current=[(own == place).then_some("page")] { (name) } }
                            }
                        }
                        form method="post" action="/logout" { button type="submit" class="plain" { "Sign out" } }
                    }
                }
                (body)
            }
        }
    };
    Html(page.into_string())
}
