//! The archive: search, sort, page by page.

use std::fmt::Write as _;
use std::sync::Arc;

use assay_model::{RunSummary, units};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use maud::{Markup, html};

use super::{Page, Place, shell, time};
use crate::api::runs::{Asked, SORTS, found};
use crate::app::App;
use crate::error::Refusal;

pub(super) async fn page(
    State(app): State<Arc<App>>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Page {
    let Query(asked) = asked.map_err(|e| Refusal::bad(e.body_text()))?;
    let found = found(&app, asked.clone()).await?;
    let pages = found.total.div_ceil(found.limit).max(1);
    let body = html! {
        h1 { "Archive" }
        (search(&asked))
        p role="status" { (found.total) @if found.total == 1 { " run" } @else { " runs" } ", page " (found.page) " of " (pages) }
        @if !found.runs.is_empty() {
            form method="get" action="/compare" {
                (table(&found.runs))
                p class="actions" { button type="submit" { "Compare the chosen runs" } }
            }
        }
        nav aria-label="Pages" {
            ul {
                @if found.page > 1 { li { a rel="prev" href=(address(&asked, found.page - 1)) { "Newer page" } } }
                @if found.page < pages { li { a rel="next" href=(address(&asked, found.page + 1)) { "Next page" } } }
            }
        }
    };
    Ok(shell("Archive", Place::Archive, &body))
}

fn search(asked: &Asked) -> Markup {
    let text = |name: &str, label: &str, value: &str, kind: &str| {
        html! {
            div class="field" { label for=(name) { (label) } input id=(name) name=(name) value=(value) type=(kind); }
        }
    };
    html! {
        form method="get" action="/archive" class="search" role="search" {
            (text("text", "text", &asked.text, "search"))
            (text("workload", "workload", &asked.workload, "text"))
            (text("metric", "metric", &asked.metric, "text"))
            (text("tag", "tag", &asked.tag, "text"))
            (text("factor", "factor (name or name=level)", &asked.factor, "text"))
            (text("since", "since", &asked.since, "date"))
            (text("until", "until", &asked.until, "date"))
            div class="field" {
                label for="sort" { "sort" }
                select id="sort" name="sort" {
                    @for (name, _, words) in SORTS { option value=(name) selected[asked.sort == name] { (words) } }
                }
            }
            div class="field" { button type="submit" { "Search" } " " a href="/archive" { "all" } }
        }
    }
}

fn table(runs: &[RunSummary]) -> Markup {
    html! {
        div class="table-box" tabindex="0" role="region" aria-label="Runs" {
            table {
                thead { tr {
                    th scope="col" { span class="unseen" { "choose" } } th scope="col" { "run" } th scope="col" { "experiment" } th scope="col" { "workload" }
                    th scope="col" { "started" } th scope="col" { "host" } th scope="col" { "state" } th scope="col" class="num" { "trials" }
                    th scope="col" { "metric" } th scope="col" class="num" { "baseline" } th scope="col" { "tags" }
                } }
                tbody {
                    @for r in runs {
                        tr {
                            td { input type="checkbox" name="runs" value=(r.id) aria-label={ "choose run " (r.id) }; }
                            th scope="row" { a href={ "/runs/" (r.id) } { (r.id) } }
                            td { (r.experiment) } td { (r.workload) } td { (time(&r.started_at)) } td { (r.host) }
                            td { span class={ "state state-" (r.state.name()) } { (r.state.name()) } }
                            td class="num" { (r.completed) " of " (r.planned) @if r.failed > 0 { ", " (r.failed) " failed" } }
                            td { (r.metric) }
                            td class="num" { @if let Some(v) = r.value { (units::format_value(v, &r.unit)) } @else { "no value" } }
                            td { (r.tags.join(", ")) }
                        }
                    }
                }
            }
        }
    }
}

/// The address of another page of the same search.
fn address(asked: &Asked, page: usize) -> String {
    let all = [
        ("text", &asked.text),
        ("workload", &asked.workload),
        ("metric", &asked.metric),
        ("tag", &asked.tag),
        ("factor", &asked.factor),
        ("state", &asked.state),
        ("since", &asked.since),
        ("until", &asked.until),
        ("sort", &asked.sort),
    ];
    let mut address = format!("/archive?page={page}");
    for (name, value) in all.into_iter().filter(|(_, v)| !v.is_empty()) {
        let _ = write!(address, "&{name}={}", encode(value));
    }
    if let Some(limit) = asked.limit {
        let _ = write!(address, "&limit={limit}");
    }
    address
}

/// A value inside an address.
pub(super) fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(b).to_string()
            }
            _ => format!("%{b:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_kept_from_page_to_page() {
        let asked = Asked { text: "a&b=c é".into(), sort: "least".into(), ..Asked::default() };
        assert_eq!(address(&asked, 3), "/archive?page=3&text=a%26b%3Dc%20%C3%A9&sort=least");
    }
}
