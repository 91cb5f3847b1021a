//! The search of a site. Its index is part of its page, so that it works from a file and on any
//! host.

use maud::{PreEscaped, html};
use serde::Serialize;

use super::cards::RunCard;
use super::frame::{PageDescription, Site, SitePage, SiteSection};
use super::lists::{Cards, by, system_path, workload_path};
use assay_report::page::shell::footer;

const SCRIPT: &str = include_str!("search.js");

/// Path of the search page.
pub const PATH: &str = "search.html";

/// A page that can be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchEntry {
    /// Kind of the page, such as `post` or `run`.
    pub kind: &'static str,
    /// Title of the page.
    pub title: String,
    /// Path from the root of the site.
    pub url: String,
    /// Day of the page; empty if it has none.
    pub day: String,
    /// Sentence that the result shows.
    pub says: String,
    /// Additional words by which the page is found.
    pub text: String,
}

/// Renders the search page with its index.
pub fn page(site: &Site, index: &[SearchEntry]) -> String {
    // An entry contains only text, so writing it cannot fail.
    let json = serde_json::to_string(index).unwrap_or_else(|_| "[]".to_owned());
    let body = html! {
        header { h1 { "Search" } }
        main id="main" {
            noscript { p { "The search needs JavaScript. Everything is also in the lists that the \
                links at the top lead to." } }
            div id="search" role="search" hidden {
                p.find {
                    label for="words" { "Words" }
                    input id="words" type="search" autocomplete="off" spellcheck="false"
                        aria-describedby="count";
                }
                p id="count" role="status" {}
                ul id="found" class="found" {}
            }
        }
        (footer(&site.version, " The index is part of this page: nothing is sent anywhere."))
        script type="application/json" id="index" { (PreEscaped(json.replace('<', "\\u003c"))) }
    };
    site.page(&SitePage {
        path: PATH,
        title: "Search",
        place: SiteSection::Search,
        about: PageDescription {
            description: "Find posts, runs, systems, workloads, landscapes and histories.",
            ..PageDescription::default()
        },
        script: Some(SCRIPT),
        body,
    })
}

/// Returns every page that can be found: posts, systems, workloads, histories, landscapes, then
/// runs.
pub fn index(cards: &Cards<'_>) -> Vec<SearchEntry> {
    let mut out = Vec::new();
    for post in &cards.posts {
        out.push(SearchEntry {
            kind: "post",
            title: post.title.clone(),
            url: post.path(),
            day: post.day.clone().unwrap_or_default(),
            says: post.summary.clone(),
            text: format!("{} {}", post.tags.join(" "), post.words),
        });
    }
    let runs = cards.runs.iter().map(|run| {
        let s = &run.summary;
        SearchEntry {
            kind: "run",
            title: run.title.clone(),
            url: run.path(),
            day: run.day().to_owned(),
            says: run.says.clone(),
            text: format!(
                "{} {} {} {} {} {} {}",
                s.experiment,
                s.workload,
                s.metric,
                run.host(),
                s.id,
                s.tags.join(" "),
                run.labels.join(" ")
            ),
        }
    });
    let plain = |kind, title: &str, url, says: &str, text: &str| SearchEntry {
        kind,
        title: title.to_owned(),
        url,
        day: String::new(),
        says: says.to_owned(),
        text: format!("{says} {text}"),
    };
    for (host, of) in by(&cards.runs, RunCard::host) {
        let Some(newest) = of.first() else { continue };
        let facts: Vec<&str> = newest.facts.iter().map(|(_, value)| value.as_str()).collect();
        out.push(plain("system", &host, system_path(&host), &newest.machine(), &facts.join(" ")));
    }
    for (name, of) in by(&cards.runs, |run| &run.summary.workload) {
        let help = of.first().map_or("", |run| run.workload.as_str());
        out.push(plain("workload", &name, workload_path(&name), help, ""));
    }
    for card in &cards.histories {
        out.push(plain("history", &card.heading, card.path(), &card.lede, &card.changes.join(" ")));
    }
    for card in &cards.landscapes {
        let text = format!("{} {}", card.name, card.systems);
        out.push(plain("landscape", &card.heading, card.path(), &card.measure, &text));
    }
    out.extend(runs);
    out
}
