//! How the archive is searched: the form, what is asked now as chips that can be taken away, what is asked
//! often, and the searches that were saved.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use assay_model::{RunState, RunSummary};
use maud::{Markup, html};

use crate::api::runs::{Asked, SORTS};
use crate::searches::SavedSearch;

/// At most so many tags of the page are offered.
const OFFERED: usize = 8;

/// What is asked for, by its name in an address, with what a person calls it. Not the order.
fn asked_for(asked: &Asked) -> [(&'static str, &'static str, &String); 8] {
    [
        ("text", "text", &asked.text),
        ("workload", "workload", &asked.workload),
        ("metric", "metric", &asked.metric),
        ("tag", "tag", &asked.tag),
        ("factor", "factor", &asked.factor),
        ("state", "state", &asked.state),
        ("since", "since", &asked.since),
        ("until", "until", &asked.until),
    ]
}

/// The search without one of its conditions, or with another.
fn with(asked: &Asked, name: &str, value: &str) -> Asked {
    let mut other = asked.clone();
    let field = match name {
        "text" => &mut other.text,
        "workload" => &mut other.workload,
        "metric" => &mut other.metric,
        "tag" => &mut other.tag,
        "factor" => &mut other.factor,
        "state" => &mut other.state,
        "since" => &mut other.since,
        _ => &mut other.until,
    };
    value.clone_into(field);
    other
}

/// The form and the chips.
pub(super) fn filters(
    asked: &Asked,
    saved: &[SavedSearch],
    runs: &[RunSummary],
    full: bool,
) -> Markup {
    let narrowed = asked_for(asked).iter().any(|(.., value)| !value.is_empty());
    html! {
        form method="get" action="/archive" role="search" class="find" {
            div class="field" {
                label for="text" { "Find" }
                input id="text" name="text" value=(asked.text) type="search" placeholder="experiment, workload, host, tag, note, id";
            }
            div class="field" {
                label for="sort" { "Order" }
                select id="sort" name="sort" {
                    @for (name, _, words) in SORTS { option value=(name) selected[asked.sort == name] { (words) } }
                }
            }
            button type="submit" { "Search" }
            details open[narrowed && asked.text.is_empty()] {
                summary { "More filters" }
                div class="search" {
                    (field("workload", "workload", &asked.workload, "text"))
                    (field("metric", "metric", &asked.metric, "text"))
                    (field("tag", "tag", &asked.tag, "text"))
                    (field("factor", "factor (name or name=level)", &asked.factor, "text"))
                    div class="field" {
                        label for="state" { "state" }
                        select id="state" name="state" {
                            option value="" { "any" }
                            @for state in STATES { option value=(state.name()) selected[asked.state == state.name()] { (state.name()) } }
                        }
                    }
                    (field("since", "since", &asked.since, "date"))
                    (field("until", "until", &asked.until, "date"))
                }
            }
        }
        (chips(asked, runs, narrowed))
        (searches(asked, saved, narrowed, full))
    }
}

const STATES: [RunState; 4] =
    [RunState::Started, RunState::Completed, RunState::Failed, RunState::Interrupted];

fn field(name: &str, label: &str, value: &str, kind: &str) -> Markup {
    html! {
        div class="field" { label for=(name) { (label) } input id=(name) name=(name) value=(value) type=(kind); }
    }
}

/// What is asked now, and what may be asked for next.
fn chips(asked: &Asked, runs: &[RunSummary], narrowed: bool) -> Markup {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let mut offers: Vec<(&str, &str, String)> = Vec::new();
    if asked.since.is_empty() {
        offers.push(("since", "today", today));
    }
    if asked.state.is_empty() {
        for state in [RunState::Failed, RunState::Interrupted] {
            offers.push(("state", state.name(), state.name().to_owned()));
        }
    }
    let tags: BTreeSet<&str> = runs.iter().flat_map(RunSummary::all_tags).collect();
    if asked.tag.is_empty() {
        offers.extend(tags.iter().take(OFFERED).map(|tag| ("tag", *tag, (*tag).to_owned())));
    }
    html! {
        @if narrowed {
            ul class="chips" aria-label="Filters" {
                @for (name, word, value) in asked_for(asked).into_iter().filter(|(.., v)| !v.is_empty()) {
                    li { a class="chip on" href=(address(&with(asked, name, ""), 1)) aria-label={ "Remove the filter " (word) ": " (value) } { (word) ": " (value) " ×" } }
                }
                li { a class="chip" href="/archive" { "all runs" } }
            }
        }
        @if !offers.is_empty() {
            ul class="chips" aria-label="Narrow down" {
                @for (name, word, value) in &offers {
                    li { a class="chip" href=(address(&with(asked, name, value), 1)) { @if *name == "tag" { "tag: " } (word) } }
                }
            }
        }
    }
}

fn searches(asked: &Asked, saved: &[SavedSearch], narrowed: bool, full: bool) -> Markup {
    html! {
        @if !saved.is_empty() {
            ul class="chips" aria-label="Saved searches" {
                @for s in saved {
                    li class="chip" {
                        a href=(address(&s.search, 1)) { (s.name) }
                        @if full {
                            form method="post" action="/archive/searches/forget" {
                                input type="hidden" name="name" value=(s.name);
                                input type="hidden" name="back" value=(address(asked, 1));
                                button type="submit" class="plain" aria-label={ "Forget the search " (s.name) } { "×" }
                            }
                        }
                    }
                }
            }
        }
        @if narrowed && full {
            form method="post" action="/archive/searches" class="find save" {
                @for (name, _, value) in asked_for(asked) { @if !value.is_empty() { input type="hidden" name=(name) value=(value); } }
                @if !asked.sort.is_empty() { input type="hidden" name="sort" value=(asked.sort); }
                div class="field" { label for="save-name" { "Save this search as" } input id="save-name" name="name" required maxlength="80"; }
                button type="submit" { "Save" }
            }
        }
    }
}

/// The address of a page of a search.
pub(super) fn address(asked: &Asked, page: usize) -> String {
    let mut address = format!("/archive?page={page}");
    let sort = ("sort", "sort", &asked.sort);
    let all = asked_for(asked).into_iter().chain([sort]);
    for (name, _, value) in all.filter(|(.., v)| !v.is_empty()) {
        let _ = write!(address, "&{name}={}", encode(value));
    }
    if let Some(limit) = asked.limit {
        let _ = write!(address, "&limit={limit}");
    }
    address
}

/// A value inside an address.
pub(crate) fn encode(text: &str) -> String {
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
        let asked = Asked { text: "a&b=c é".into(), sort: "min".into(), ..Asked::default() };
        assert_eq!(address(&asked, 3), "/archive?page=3&text=a%26b%3Dc%20%C3%A9&sort=min");
    }

    #[test]
    fn each_condition_can_be_taken_away() {
        let mut asked = Asked::default();
        for (name, ..) in asked_for(&Asked::default()) {
            asked = with(&asked, name, "x");
        }
        for (name, ..) in asked_for(&Asked::default()) {
            let left = with(&asked, name, "");
            let empty: Vec<_> =
                asked_for(&left).into_iter().filter(|(.., v)| v.is_empty()).collect();
            assert_eq!((empty.len(), empty[0].0), (1, name));
        }
    }
}
