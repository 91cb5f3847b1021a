//! The frame of every page of a site: its head for readers and programs, and the links to the other
//! pages.

use maud::{Markup, html};
use serde::Serialize;

use assay_report::page::shell;

/// Style sheet that only a site's pages have.
const STYLE: &str = include_str!("site.css");

/// Settings that all pages of a site share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Site {
    /// Title of the site.
    pub title: String,
    /// Address that the site is served from, which ends in `/`. If it is `None`, links that must be
    /// absolute are left out.
    pub base: Option<String>,
    /// Version of assay that makes the site.
    pub version: String,
}

/// The part of the site that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteSection {
    Posts,
    Runs,
    Landscapes,
    Histories,
    Systems,
    Workloads,
    Tags,
    Search,
}

/// Parts of the site, each with its name and its first page.
const SECTIONS: [(SiteSection, &str, &str); 8] = [
    (SiteSection::Posts, "Posts", "index.html"),
    (SiteSection::Runs, "Runs", "runs/index.html"),
    (SiteSection::Landscapes, "Landscapes", "landscapes/index.html"),
    (SiteSection::Histories, "Histories", "histories/index.html"),
    (SiteSection::Systems, "Systems", "systems/index.html"),
    (SiteSection::Workloads, "Workloads", "workloads/index.html"),
    (SiteSection::Tags, "Tags", "tags/index.html"),
    (SiteSection::Search, "Search", "search.html"),
];

/// Description of a page, for programs that show links to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageDescription<'a> {
    /// One or two sentences.
    pub description: &'a str,
    /// Day of an article; `None` if the page is not an article.
    pub day: Option<&'a str>,
    /// Tags of the page.
    pub tags: &'a [String],
    /// True if the site has feeds and this page names them.
    pub feeds: bool,
}

/// A page of the site.
pub struct SitePage<'a> {
    /// Path from the root of the site.
    pub path: &'a str,
    /// Title of the page.
    pub title: &'a str,
    /// Part of the site that the page belongs to.
    pub place: SiteSection,
    /// Description of the page for other programs.
    pub about: PageDescription<'a>,
    /// Script that runs in addition to the script of every page.
    pub script: Option<&'static str>,
    /// Content of the page, with a `main` whose id is `main`.
    pub body: Markup,
}

impl Site {
    /// Renders the document of a page.
    pub fn page(&self, page: &SitePage<'_>) -> String {
        let root = root(page.path);
        let whole = format!("{} · {}", page.title, self.title);
        let title = if page.title == self.title { &self.title } else { &whole };
        let head = self.head(page);
        let body = html! {
            a.skip href="#main" { "Skip to the content" }
            nav.site aria-label="Site" {
                p { a href={ (root) "index.html" } { (self.title) } }
                ul { @for (place, name, path) in SECTIONS {
                    @let now = current(place, path, page);
                    li { a href={ (root) (path) } aria-current=[now] { (name) } }
                } }
            }
            (page.body)
        };
        let style = format!("{}{STYLE}", shell::style());
        let scripts: Vec<&str> = [shell::SCRIPT].into_iter().chain(page.script).collect();
        shell::document(title, &head, &style, &scripts, &body)
    }

    /// Returns the full address of a page, if the site has an address.
    pub fn address(&self, path: &str) -> Option<String> {
        Some(format!("{}{}", self.base.as_ref()?, path.strip_suffix("index.html").unwrap_or(path)))
    }

    fn head(&self, page: &SitePage<'_>) -> Markup {
        let about = &page.about;
        let address = self.address(page.path);
        let kind = if about.day.is_some() { "article" } else { "website" };
        let text = Some(about.description).filter(|text| !text.is_empty());
        html! {
            @if let Some(text) = text { meta name="description" content=(text); }
            meta property="og:title" content=(page.title);
            meta property="og:type" content=(kind);
            meta property="og:site_name" content=(self.title);
            @if let Some(text) = text { meta property="og:description" content=(text); }
            @if let Some(day) = about.day { meta property="article:published_time" content=(day); }
            @for tag in about.tags { meta property="article:tag" content=(tag); }
            @if let Some(address) = &address {
                meta property="og:url" content=(address);
                link rel="canonical" href=(address);
            }
            @if about.feeds {
                link rel="alternate" type="application/atom+xml" title=(self.title) href="atom.xml";
                @if address.is_some() {
                    link rel="alternate" type="application/feed+json"
                        title=(self.title) href="feed.json";
                }
            }
        }
    }
}

/// Returns the relative path from a page to the root.
pub(super) fn root(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

fn current(place: SiteSection, path: &str, page: &SitePage<'_>) -> Option<&'static str> {
    match (place == page.place, path == page.path) {
        (true, true) => Some("page"),
        (true, false) => Some("true"),
        _ => None,
    }
}
