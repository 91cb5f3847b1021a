//! Search on the archive page: the form, the active filters as chips that can be removed, suggested
//! filters, and the saved searches.

use std::collections::BTreeSet;

use assay_model::{RunState, RunSummary};
use maud::{Markup, html};

use super::fields::field;
use crate::api::runs::{Asked, SORTS};
use crate::archive::searches::SavedSearch;

/// Maximum number of tags of the page that are suggested.
const OFFERED: usize = 8;

/// Returns the conditions of a search, by their names in an address.
fn conditions(asked: &Asked) -> [(&'static str, &str); 8] {
    [
        ("text", &asked.text),
        ("workload", &asked.workload),
        ("metric", &asked.metric),
        ("tag", &asked.tag),
        ("factor", &asked.factor),
        ("state", &asked.state),
        ("since", &asked.since),
        ("until", &asked.until),
    ]
}

/// Renders the form, the chips and the saved searches.
pub(super) fn filters(
    asked: &Asked,
    saved: &[SavedSearch],
    runs: &[RunSummary],
    full: bool,
) -> Markup {
    let narrowed = conditions(asked).iter().any(|(_, value)| !value.is_empty());
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
                    (field("workload", "workload", "text", &asked.workload, ""))
                    (field("metric", "metric", "text", &asked.metric, ""))
                    (field("tag", "tag", "text", &asked.tag, ""))
                    (field("factor", "factor (name or name=level)", "text", &asked.factor, ""))
                    div class="field" {
                        label for="state" { "state" }
                        select id="state" name="state" {
                            option value="" { "any" }
                            @for state in STATES { option value=(state.name()) selected[asked.state == state.name()] { (state.name()) } }
                        }
                    }
                    (field("since", "since", "date", &asked.since, ""))
                    (field("until", "until", "date", &asked.until, ""))
                }
            }
        }
        (chips(asked, runs, narrowed))
        (searches(asked, saved, narrowed, full))
    }
}

const STATES: [RunState; 4] =
    [RunState::Started, RunState::Completed, RunState::Failed, RunState::Interrupted];

/// Renders the active filters and the suggested ones.
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
                @for (name, value) in conditions(asked).into_iter().filter(|(_, v)| !v.is_empty()) {
                    li { a class="chip on" href=(with(asked, name, "")) aria-label={ "Remove the filter " (name) ": " (value) } { (name) ": " (value) " ×" } }
                }
                li { a class="chip" href="/archive" { "all runs" } }
            }
        }
        @if !offers.is_empty() {
            ul class="chips" aria-label="Narrow down" {
                @for (name, word, value) in &offers {
                    li { a class="chip" href=(with(asked, name, value)) { @if *name == "tag" { "tag: " } (word) } }
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
                @for (name, value) in conditions(asked) { @if !value.is_empty() { input type="hidden" name=(name) value=(value); } }
                @if !asked.sort.is_empty() { input type="hidden" name="sort" value=(asked.sort); }
                div class="field" { label for="save-name" { "Save this search as" } input id="save-name" name="name" required maxlength="80"; }
                button type="submit" { "Save" }
            }
        }
    }
}

/// Returns the address of a page of a search.
pub(super) fn address(asked: &Asked, page: usize) -> String {
    changed(asked, page, ("", ""))
}

/// Returns the address of the search with a condition replaced. An empty value removes it.
fn with(asked: &Asked, name: &str, value: &str) -> String {
    changed(asked, 1, (name, value))
}

fn changed(asked: &Asked, page: usize, (changed, to): (&str, &str)) -> String {
    let (page, limit) = (page.to_string(), asked.limit.map(|n| n.to_string()));
    let own = conditions(asked).map(|(name, v)| (name, if name == changed { to } else { v }));
    let rest = [("sort", asked.sort.as_str()), ("limit", limit.as_deref().unwrap_or_default())];
    super::address("/archive", [("page", page.as_str())].into_iter().chain(own).chain(rest))
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
    fn each_condition_can_be_set_and_taken_away() {
        let x = || "x".to_owned();
        let (text, workload, metric, tag) = (x(), x(), x(), x());
        let (factor, state, since, until) = (x(), x(), x(), x());
        let all =
            Asked { text, workload, metric, tag, factor, state, since, until, ..Asked::default() };
        for (name, _) in conditions(&Asked::default()) {
            assert_eq!(with(&Asked::default(), name, "x"), format!("/archive?page=1&{name}=x"));
            let left = with(&all, name, "");
            assert_eq!(left.matches("=x").count(), 7, "{left}");
            assert!(!left.contains(&format!("&{name}=")), "{left}");
        }
    }
}
