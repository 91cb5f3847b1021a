//! Archive page: search, order, paging, and actions on runs.

use std::collections::BTreeSet;

use assay_model::nouns::count;
use assay_model::{Deleted, RunState, RunSummary};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::fields::{button, field, hidden, option};
use super::run_list::{RunActions, rows, runs_with_headlines};
use super::{PageResult, RedirectResult, Section, get, post, redirect, shell, time, url};
use crate::api::archive;
use crate::app::{Routes, Server};
use crate::http::extract::{Form, JsonBody, Params, Path, State};
use crate::http::token::Role;
use crate::searches::{RunQuery, SORTS, SavedSearch};
use crate::submit::draft;

/// Maximum number of tags of the page that are suggested.
const OFFERED: usize = 8;

pub(super) fn router() -> Routes {
    Routes::new()
        .route("/archive", get(page))
        .route("/archive/{id}/annotate", post(annotate))
        .route("/archive/{id}/delete", post(delete))
        .route("/archive/{id}/restore", post(restore))
        .route("/archive/searches", post(save_search))
        .route("/archive/searches/forget", post(forget_search))
}

async fn page(State(app): Server, role: Role, Params(query): Params<RunQuery>) -> PageResult {
    let (found, headlines) = runs_with_headlines(&app, query.clone()).await?;
    let deleted = archive::trash(State(app.clone())).await?.0;
    let full = role == Role::Full;
    let pages = found.total.div_ceil(found.limit).max(1);
    let here = page_address(&query, found.page);
    let repeatable = app.heavy(|app| Ok(draft::repeatable(app))).await?;
    let actions = RunActions { back: &here, repeatable };
    let link = |rel: &str, page: usize, words: &str| {
        html! { li { a rel=(rel) href=(page_address(&query, page)) { (words) } } }
    };
    let body = html! {
        h1 { "Archive" }
        (trash(&deleted, &here, full))
        (filters(&query, &app.searches.list(), &found.runs, full))
        p role="status" { (count(found.total, "run")) ", page " (found.page) " of " (pages) }
        @if !found.runs.is_empty() {
            form method="get" action="/compare" id="compare" class="actions" {
                button type="submit" { "Compare the chosen runs" }
            }
            (rows(&found.runs, &headlines, full.then_some(&actions), ""))
        }
        nav aria-label="Pages" { ul {
            @if found.page > 1 { (link("prev", found.page - 1, "Previous page")) }
            @if found.page < pages { (link("next", found.page + 1, "Next page")) }
        } }
    };
    Ok(shell(&app, "Archive", Section::Archive, &body))
}

/// Renders the deleted runs that can be restored.
fn trash(deleted: &[Deleted], here: &str, full: bool) -> Markup {
    html! {
        @if !deleted.is_empty() { details.trash open[deleted.len() <= 3] {
            summary {
                (count(deleted.len(), "deleted run")) " can be restored until the day (UTC) ends"
            }
            ul.plain-list { @for d in deleted { li {
                strong { (d.experiment) } " "
                span.soft { (d.run) ", deleted " (time(&d.deleted_at)) ", until " (time(&d.until)) }
                @if full { form method="post" action={ "/archive/" (d.run) "/restore" } {
                    input type="hidden" name="back" value=(here);
                    (button("", &format!("Restore {}, run {}", d.experiment, d.run), "Restore"))
                } }
            } } }
        } }
    }
}

/// Returns the conditions of a search, by their names in an address.
fn conditions(query: &RunQuery) -> [(&'static str, &str); 8] {
    [
        ("text", &query.text),
        ("workload", &query.workload),
        ("metric", &query.metric),
        ("tag", &query.tag),
        ("factor", &query.factor),
        ("state", &query.state),
        ("since", &query.since),
        ("until", &query.until),
    ]
}

/// Renders the form, the chips and the saved searches.
fn filters(query: &RunQuery, saved: &[SavedSearch], runs: &[RunSummary], full: bool) -> Markup {
    let narrowed = conditions(query).iter().any(|(_, value)| !value.is_empty());
    html! {
        form method="get" action="/archive" role="search" class="find" {
            div.field {
                label for="text" { "Find" }
                input id="text" name="text" value=(query.text) type="search"
                    placeholder="experiment, workload, host, tag, note, id";
            }
            div.field {
                label for="sort" { "Order" }
                select id="sort" name="sort" {
                    @for (name, _, label) in SORTS { (option(name, query.sort == name, label)) }
                }
            }
            button type="submit" { "Search" }
            details open[narrowed && query.text.is_empty()] {
                summary { "More filters" }
                div.search {
                    (field("workload", "workload", "text", &query.workload, ""))
                    (field("metric", "metric", "text", &query.metric, ""))
                    (field("tag", "tag", "text", &query.tag, ""))
                    (field("factor", "factor (name or name=level)", "text", &query.factor, ""))
                    div.field {
                        label for="state" { "state" }
                        select id="state" name="state" {
                            option value="" { "any" }
                            @for s in STATES {
                                (option(s.name(), query.state == s.name(), s.name()))
                            }
                        }
                    }
                    (field("since", "since", "date", &query.since, ""))
                    (field("until", "until", "date", &query.until, ""))
                }
            }
        }
        (chips(query, runs, narrowed))
        (searches(query, saved, narrowed, full))
    }
}

const STATES: [RunState; 4] =
    [RunState::Started, RunState::Completed, RunState::Failed, RunState::Interrupted];

/// Renders the active filters and the suggested ones.
fn chips(query: &RunQuery, runs: &[RunSummary], narrowed: bool) -> Markup {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let mut offers: Vec<(&str, String, String)> = Vec::new();
    if query.since.is_empty() {
        offers.push(("since", "today".to_owned(), today));
    }
    if query.state.is_empty() {
        for state in [RunState::Failed, RunState::Interrupted] {
            offers.push(("state", state.name().to_owned(), state.name().to_owned()));
        }
    }
    let tags: BTreeSet<&str> = runs.iter().flat_map(RunSummary::all_tags).collect();
    if query.tag.is_empty() {
        let offer = |tag: &&str| ("tag", format!("tag: {tag}"), (*tag).to_owned());
        offers.extend(tags.iter().take(OFFERED).map(offer));
    }
    html! {
        @if narrowed { ul.chips aria-label="Filters" {
            @for (name, value) in conditions(query).into_iter().filter(|(_, v)| !v.is_empty()) {
                @let words = format!("{name}: {value}");
                li { a.chip.on href=(filter_address(query, name, ""))
                    aria-label={ "Remove the filter " (words) } { (words) " ×" } }
            }
            li { a.chip href="/archive" { "all runs" } }
        } }
        @if !offers.is_empty() {
            ul.chips aria-label="Narrow down" { @for (name, words, value) in &offers {
                li { a.chip href=(filter_address(query, name, value)) { (words) } }
            } }
        }
    }
}

fn searches(query: &RunQuery, saved: &[SavedSearch], narrowed: bool, full: bool) -> Markup {
    html! {
        @if !saved.is_empty() { ul.chips aria-label="Saved searches" { @for s in saved { li.chip {
            a href=(page_address(&s.search, 1)) { (s.name) }
            @if full { form method="post" action="/archive/searches/forget" {
                input type="hidden" name="name" value=(s.name);
                input type="hidden" name="back" value=(page_address(query, 1));
                (button("plain", &format!("Forget the search {}", s.name), "×"))
            } }
        } } } }
        @if narrowed && full { form method="post" action="/archive/searches" class="find save" {
            (hidden(conditions(query).into_iter().chain([("sort", &*query.sort)])))
            div.field { label for="save-name" { "Save this search as" }
                input id="save-name" name="name" required maxlength="80"; }
            button type="submit" { "Save" }
        } }
    }
}

/// Returns the address of a page of a search.
fn page_address(query: &RunQuery, page: usize) -> String {
    search_address(query, page, ("", ""))
}

/// Returns the address of the search with a condition replaced. An empty value removes it.
fn filter_address(query: &RunQuery, name: &str, value: &str) -> String {
    search_address(query, 1, (name, value))
}

fn search_address(query: &RunQuery, page: usize, (changed, to): (&str, &str)) -> String {
    let (page, limit) = (page.to_string(), query.limit.map(|n| n.to_string()));
    let own = conditions(query).map(|(name, v)| (name, if name == changed { to } else { v }));
    let rest = [("sort", query.sort.as_str()), ("limit", limit.as_deref().unwrap_or_default())];
    url("/archive", [("page", page.as_str())].into_iter().chain(own).chain(rest))
}

/// Fields of the forms of the archive's pages. Each form sends some of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RunForm {
    /// Address of the page that sent the form.
    back: String,
    tags: String,
    /// Added tags that the run had when the page was rendered.
    tags_before: String,
    note: String,
    name: String,
}

/// Redirects to the page that sent the form, if it is a page of the archive.
fn redirect_back(fields: &RunForm) -> Response {
    let own = fields.back.starts_with("/archive?") || fields.back == "/archive";
    redirect(if own { &fields.back } else { "/archive" })
}

fn split_tags(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

async fn annotate(app: Server, id: Path<String>, Form(sent): Form<RunForm>) -> RedirectResult {
    let add_tags = split_tags(&sent.tags);
    let mut remove_tags = split_tags(&sent.tags_before);
    remove_tags.retain(|tag| !add_tags.contains(tag));
    let query = archive::Annotate { add_tags, remove_tags, note: Some(sent.note.clone()) };
    archive::annotate(app, id, JsonBody(query)).await.map(|_| redirect_back(&sent))
}

async fn delete(app: Server, id: Path<String>, Form(sent): Form<RunForm>) -> RedirectResult {
    archive::delete(app, id).await.map(|_| redirect_back(&sent))
}

async fn restore(app: Server, id: Path<String>, Form(sent): Form<RunForm>) -> RedirectResult {
    archive::restore(app, id).await.map(|_| redirect_back(&sent))
}

/// Form that saves a search: its name, and the query parameters.
#[derive(Debug, Deserialize)]
struct SearchForm {
    name: String,
    #[serde(flatten)]
    search: RunQuery,
}

async fn save_search(State(app): Server, Form(saved): Form<SearchForm>) -> RedirectResult {
    let SearchForm { name, search } = saved;
    let saved = app.searches.save(SavedSearch { name, search })?;
    Ok(redirect(&page_address(&saved.search, 1)))
}

async fn forget_search(State(app): Server, Form(sent): Form<RunForm>) -> RedirectResult {
    app.searches.forget(&sent.name)?;
    Ok(redirect_back(&sent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_kept_from_page_to_page() {
        let query = RunQuery { text: "a&b=c é".into(), sort: "min".into(), ..RunQuery::default() };
        assert_eq!(page_address(&query, 3), "/archive?page=3&text=a%26b%3Dc%20%C3%A9&sort=min");
    }

    #[test]
    fn each_condition_can_be_set_and_taken_away() {
        let x = || "x".to_owned();
        let (text, workload, metric, tag) = (x(), x(), x(), x());
        let (factor, state, since, until) = (x(), x(), x(), x());
        let all = RunQuery {
            text,
            workload,
            metric,
            tag,
            factor,
            state,
            since,
            until,
            ..RunQuery::default()
        };
        for (name, _) in conditions(&RunQuery::default()) {
            assert_eq!(
                filter_address(&RunQuery::default(), name, "x"),
                format!("/archive?page=1&{name}=x")
            );
            let left = filter_address(&all, name, "");
            assert_eq!(left.matches("=x").count(), 7, "{left}");
            assert!(!left.contains(&format!("&{name}=")), "{left}");
        }
    }
}
