//! Pages of one thing each: the content that `publish` and similar commands print, in the frame of
//! the site.

use assay_model::RunId;
use assay_quoted::denominator::Matrix;
use assay_quoted::landscape::Landscape;
use maud::{Markup, html};

use super::cards::{HistoryCard, LandscapeCard, PostCard, RunCard};
use super::frame::{PageDescription, Site, SitePage, SiteSection, root};
use super::lists::{system_path, tag_links, workload_path};
use super::slug::slug;
use crate::post::{self, Post};
use assay_report::document::html::date;
use assay_report::history::{self, PageLinks, PublishedHistory};
use assay_report::{RunView, page};

/// A file next to a page: its name and its description.
pub type PageFile<'a> = (String, &'a str);

/// Renders the page of a run, with the files next to it.
pub fn run(site: &Site, card: &RunCard, view: &RunView, files: &[PageFile<'_>]) -> String {
    let path = card.path();
    let root = root(&path);
    let s = &card.summary;
    let item = |path: &str, words: String| html! { li { a href={ (root) (path) } { (words) } } };
    let body = html! {
        (page::content(view, None))
        nav.more aria-label="Around this run" { ul.links {
            (item(&system_path(card.host()), format!("All runs on {}", card.host())))
            (item(&workload_path(&s.workload), format!("All runs of {}", s.workload)))
            @for t in &s.tags { (item(&format!("tags/{}.html", slug(t)), format!("Tag {t}"))) }
        } }
        (beside(files))
    };
    let about = PageDescription {
        description: &card.says,
        day: Some(card.day()),
        tags: &s.tags,
        feeds: false,
    };
    page_of(site, &path, &card.title, SiteSection::Runs, about, body)
}

/// Renders the page of a post, with the files next to it.
pub fn post(site: &Site, card: &PostCard, post: &Post, files: &[PageFile<'_>]) -> String {
    let path = card.path();
    let body = html! {
        (post::content(post))
        nav.more aria-label="Around this post" {
            @if let Some(day) = &card.day { p.soft { "Posted on " (date(day)) "." } }
            (tag_links(&root(&path), card))
        }
        (beside(files))
    };
    let about = PageDescription {
        description: &card.summary,
        day: card.day.as_deref(),
        tags: &card.tags,
        feeds: false,
    };
    page_of(site, &path, &card.title, SiteSection::Posts, about, body)
}

/// Renders the page of a landscape.
pub fn landscape(
    site: &Site,
    card: &LandscapeCard,
    landscape: &Landscape,
    matrix: Option<&Matrix>,
) -> String {
    let body = page::landscape_content(landscape, matrix, &site.version);
    let about = PageDescription { description: &card.measure, ..PageDescription::default() };
    page_of(site, &card.path(), &card.heading, SiteSection::Landscapes, about, body)
}

/// Renders the page of a history. `linked` is true if all its runs have pages on the site.
pub fn history(site: &Site, card: &HistoryCard, of: PublishedHistory, linked: bool) -> String {
    fn run(id: &RunId) -> String {
        format!("../runs/{id}/index.html")
    }
    let look = PageLinks { run: linked.then_some(run), actions: None };
    let body = history::content(&card.heading, &[of], &look);
    let about = PageDescription { description: &card.lede, ..PageDescription::default() };
    page_of(site, &card.path(), &card.heading, SiteSection::Histories, about, body)
}

fn page_of(
    site: &Site,
    path: &str,
    title: &str,
    place: SiteSection,
    about: PageDescription<'_>,
    body: Markup,
) -> String {
    site.page(&SitePage { path, title, place, about, script: None, body })
}

fn beside(files: &[PageFile<'_>]) -> Markup {
    html! {
        nav.more aria-label="Files" {
            h2 { "Files" }
            ul.links { @for (name, what) in files {
                li { a href=(name) { (name) } " " span.soft { (what) } }
            } }
        }
    }
}
