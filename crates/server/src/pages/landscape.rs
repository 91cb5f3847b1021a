//! Landscape pages: the list, and one landscape.

use assay_quoted::denominator::Denominator;
use assay_quoted::landscape::{Landscape, Listing, Query as Question};
use assay_report::page::{landscape_content, landscape_preview};
use maud::html;

use super::{PageResult, Section, choice, document, get, percent_encode, shell, url};
use crate::api::landscapes::{LandscapeQuery, collection, make, metrics};
use crate::app::{Routes, Server};
use crate::http::extract::{Params, Path, State};

pub(super) fn router() -> Routes {
    Routes::new().route("/landscapes", get(list)).route("/landscapes/{name}", get(page))
}

async fn list(State(app): Server) -> PageResult {
    let list = app
        .heavy(|_| {
            let collection = collection()?;
            // A landscape that cannot be built is listed without a preview; its own page shows the
            // error.
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
        p.lede { "Published results as of a day, ranked in total or per unit. Quoted numbers are \
            as printed by their sources." }
        ul.cards.previews { @for (l, made) in &list { li.card {
            h2 { a href={ "/landscapes/" (l.name) } { (name(l, made.as_ref())) } }
            @if let Some(landscape) = made { (landscape_preview(landscape)) }
            @else { p.soft { "Quoted results without a defined ranking." } }
        } } }
    };
    Ok(shell(&app, "Landscapes", Section::Landscapes, &body))
}

async fn page(
    State(app): Server,
    Path(name): Path<String>,
    Params(mut shown): Params<LandscapeQuery>,
) -> PageResult {
    let version = app.config.version;
    let page = app.heavy(move |app| {
        let metrics = metrics(&name)?;
        if shown.metric.is_empty() {
            shown.metric = metrics.first().cloned().unwrap_or_default();
        }
        let landscape = make(&name, &shown)?;
        let matrix = landscape.matrix();
        let address = format!("/landscapes/{}", percent_encode(&name));
        let way = |per: &str, metric: &str| url(&address, [("per", per), ("metric", metric)]);
        let body = html! {
            @if !metrics.is_empty() { details open[metrics.len() < 15] {
                summary { "Metric: " (shown.metric) " (" (metrics.len()) " published)" }
                nav.choice aria-label="Metric" { ul { @for m in &metrics {
                    (choice(&way(&shown.per, m), *m == shown.metric, m))
                } } }
            } }
            nav.choice aria-label="Denominator" { ul {
                (choice(&way("", &shown.metric), shown.per.is_empty(), "in total"))
                @for d in Denominator::ALL.map(Denominator::name) {
                    (choice(&way(d, &shown.metric), shown.per == d, &format!("per {d}")))
                }
            } }
            (landscape_content(&landscape, Some(&matrix), version))
        };
        Ok(document(app, &landscape.heading(), Section::Landscapes, &body))
    });
    page.await
}
