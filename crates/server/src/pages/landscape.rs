//! Landscapes: the list, and one.

use assay_quoted::denominator::Denominator;
use assay_quoted::landscape::{Landscape, Listing, Query as Question};
use assay_report::page::{landscape_content, landscape_preview};
use axum::extract::{Path, State};
use maud::html;

use super::{Page, Section, shell};
use crate::api::others::{Shown, collection, make};
use crate::extract::{Ask, Server};
use crate::pages::shell::document;

pub(super) async fn list(State(app): Server) -> Page {
    let list = app
        .heavy(|_| {
            let collection = collection()?;
            // One that cannot be made is listed without a preview; its own page says why.
            let one = |l: Listing| {
                let made = collection.landscape(&l.name, &Question::default());
                (l, made.ok())
            };
            Ok(collection.list().into_iter().map(one).collect::<Vec<_>>())
        })
        .await?;
    let name = |l: &Listing, made: Option<&Landscape>| match (l.title.as_str(), made) {
        ("", Some(landscape)) => landscape.heading(),
        ("", None) => l.name.replace('-', " "),
        (title, _) => title.to_owned(),
    };
    let body = html! {
        h1 { "Landscapes" }
        p class="lede" { "Published results as of a day, ranked in total or under a denominator. Quoted numbers are as their sources printed them." }
        ul class="cards previews" {
            @for (l, made) in &list {
                li class="card" {
                    h2 { a href={ "/landscapes/" (l.name) } { (name(l, made.as_ref())) } }
                    @if let Some(landscape) = made { (landscape_preview(landscape)) }
                    @else { p class="soft" { "Quoted results that no ranking is defined for." } }
                }
            }
        }
    };
    Ok(shell("Landscapes", Section::Landscapes, &body))
}

pub(super) async fn page(
    State(app): Server,
    Path(name): Path<String>,
    Ask(shown): Ask<Shown>,
) -> Page {
    let version = app.config.version;
    let page = app.heavy(move |_| {
            let landscape = make(&name, &shown)?;
            let matrix = landscape.matrix();
            let body = html! {
                nav aria-label="Denominator" {
                    ul {
                        li { a href={ "/landscapes/" (name) } aria-current=[shown.per.is_empty().then_some("true")] { "in total" } }
                        @for d in Denominator::ALL {
                            li { a href={ "/landscapes/" (name) "?per=" (d.name()) } aria-current=[(shown.per == d.name()).then_some("true")] { "per " (d.name()) } }
                        }
                    }
                }
                (landscape_content(&landscape, Some(&matrix), version))
            };
            Ok(document(&landscape.heading(), Section::Landscapes, &body))
        });
    page.await
}
