//! Pages that list many things: posts, runs by month, systems, workloads, tags, landscapes,
//! histories. Each is a function of the cards that it shows.

use std::collections::BTreeMap;

use assay_model::units;
use maud::{Markup, html};

use super::cards::{HistoryCard, LandscapeCard, PostCard, RunCard};
use super::frame::{PageDescription, Site, SitePage, SiteSection, root};
use super::slug::slug;
use assay_report::document::html::{self as written, date, section};
use assay_report::document::{NOTHING, Table, Text, cell};
use assay_report::figures::{NO_VALUE, count};
use assay_report::page::shell;

/// Number of the newest runs with which the list of runs begins.
const NEWEST: usize = 50;

/// Cards that the pages are made of, newest first.
#[derive(Debug, Default)]
pub struct Cards<'a> {
    pub posts: Vec<&'a PostCard>,
    pub runs: Vec<&'a RunCard>,
    pub landscapes: Vec<&'a LandscapeCard>,
    pub histories: Vec<&'a HistoryCard>,
}

/// Returns every such page: its path and its document.
pub fn all(site: &Site, cards: &Cards<'_>) -> Vec<(String, String)> {
    let mut pages = ListPages { site, out: Vec::new() };
    pages.posts(cards);
    pages.runs(&cards.runs);
    pages.systems(&cards.runs);
    pages.workloads(&cards.runs);
    pages.tags(cards);
    pages.landscapes(&cards.landscapes);
    pages.histories(&cards.histories);
    pages.out
}

/// Returns the path of a system's page.
pub fn system_path(host: &str) -> String {
    format!("systems/{}.html", slug(host))
}

/// Returns the path of a workload's page.
pub fn workload_path(workload: &str) -> String {
    format!("workloads/{}.html", slug(workload))
}

/// Groups runs by one of their properties, newest first in each group.
pub(super) fn by<'a>(
    runs: &[&'a RunCard],
    of: fn(&RunCard) -> &str,
) -> BTreeMap<String, Vec<&'a RunCard>> {
    let mut groups: BTreeMap<String, Vec<&RunCard>> = BTreeMap::new();
    for run in runs {
        groups.entry(of(run).to_owned()).or_default().push(run);
    }
    groups
}

/// Tags by their names in addresses: the title, the posts and the runs of each.
type Tags<'a> = BTreeMap<String, (String, Vec<&'a PostCard>, Vec<&'a RunCard>)>;

fn tags<'a>(cards: &Cards<'a>) -> Tags<'a> {
    let mut tags: Tags<'_> = BTreeMap::new();
    for post in &cards.posts {
        for (slug, tag) in post.tag_slugs.iter().zip(&post.tags) {
            let entry =
                tags.entry(slug.clone()).or_insert_with(|| (tag.clone(), Vec::new(), Vec::new()));
            entry.1.push(post);
        }
    }
    for run in &cards.runs {
        for tag in &run.summary.tags {
            let entry =
                tags.entry(slug(tag)).or_insert_with(|| (tag.clone(), Vec::new(), Vec::new()));
            entry.2.push(run);
        }
    }
    tags
}

struct ListPages<'a> {
    site: &'a Site,
    out: Vec<(String, String)>,
}

impl ListPages<'_> {
    /// Adds a page with a heading and a sentence below it.
    fn put(&mut self, path: &str, place: SiteSection, title: &str, lede: &str, main: &Markup) {
        let about = PageDescription { description: lede, ..PageDescription::default() };
        self.put_as(path, place, title, about, main);
    }

    fn put_as(
        &mut self,
        path: &str,
        place: SiteSection,
        title: &str,
        about: PageDescription<'_>,
        main: &Markup,
    ) {
        let lede = about.description;
        let body = html! {
            header {
                h1 { (title) }
                @if !lede.is_empty() { p.lede { (lede) } }
            }
            main id="main" { (main) }
            (shell::footer(&self.site.version, ""))
        };
        let page = SitePage { path, title, place, about, script: None, body };
        self.out.push((path.to_owned(), self.site.page(&page)));
    }

    fn posts(&mut self, cards: &Cards<'_>) {
        let path = "index.html";
        let lede = format!(
            "{}, {} and {}.",
            count(cards.posts.len(), "post"),
            count(cards.runs.len(), "run"),
            count(cards.landscapes.len(), "landscape"),
        );
        let feeds = cards.posts.iter().any(|post| post.day.is_some());
        let main = html! {
            section id="posts" aria-labelledby="posts-heading" {
                h2 id="posts-heading" { "Posts" }
                @if cards.posts.is_empty() { p { "There is no post yet." } }
                @else { (articles(path, &cards.posts)) }
                @if feeds { p.soft {
                    "Posts as a feed: " a href="atom.xml" { "Atom" }
                    @if self.site.base.is_some() { ", " a href="feed.json" { "JSON" } }
                    "."
                } }
            }
            section id="newest" aria-labelledby="newest-heading" {
                h2 id="newest-heading" { "Newest runs" }
                (runs(path, "The newest runs", &cards.runs[..cards.runs.len().min(10)]))
                @if !cards.runs.is_empty() { p { a href="runs/index.html" { "All runs" } } }
            }
        };
        let title = self.site.title.clone();
        let about = PageDescription { description: &lede, feeds, ..PageDescription::default() };
        self.put_as(path, SiteSection::Posts, &title, about, &main);
    }

    fn runs(&mut self, all: &[&RunCard]) {
        let months = by(all, |run| run.day().get(..7).unwrap_or("undated"));
        let path = "runs/index.html";
        let main = html! {
            (runs(path, "The newest runs", &all[..all.len().min(NEWEST)]))
            @if !months.is_empty() {
                h2 { "By month" }
                ul.links { @for (month, of) in months.iter().rev() {
                    @let runs = count(of.len(), "run");
                    li { a href={ (month) ".html" } { (month) " (" (runs) ")" } }
                } }
            }
        };
        let lede = format!("{} in all, the newest first.", count(all.len(), "run"));
        self.put(path, SiteSection::Runs, "Runs", &lede, &main);
        for (month, of) in &months {
            let path = format!("runs/{month}.html");
            let title = format!("Runs of {month}");
            let main = runs(&path, &title, of);
            let lede = format!("{}, the newest first.", count(of.len(), "run"));
            self.put(&path, SiteSection::Runs, &title, &lede, &main);
        }
    }

    fn systems(&mut self, all: &[&RunCard]) {
        let systems = by(all, RunCard::host);
        let mut table = Table::captioned("Systems")
            .label("system")
            .label("hardware")
            .number("runs")
            .word("last run");
        for (host, of) in &systems {
            let Some(newest) = of.first() else { continue };
            table.row(vec![
                cell(Text::default().link(format!("{}.html", slug(host)), host.clone())),
                cell(newest.machine()),
                cell(of.len().to_string()),
                cell(newest.day()),
            ]);
        }
        let main = listed(&table, "There is no system yet.");
        let lede = format!(
            "{} under test, as the newest run describes each.",
            count(systems.len(), "system")
        );
        self.put("systems/index.html", SiteSection::Systems, "Systems", &lede, &main);
        for (host, of) in &systems {
            let Some(newest) = of.first() else { continue };
            let path = system_path(host);
            let mut facts =
                Table::captioned(format!("As the run of {} describes it", newest.day()))
                    .labels(["fact", "value"]);
            for (name, value) in &newest.facts {
                facts.row(vec![cell(name.as_str()), cell(value.as_str())]);
            }
            let main = html! {
                (section("facts", "Key facts", &listed(&facts, "No run describes it.")))
                (runs_section(&path, &format!("Runs on {host}"), of))
            };
            self.put(&path, SiteSection::Systems, host, &newest.machine(), &main);
        }
    }

    fn workloads(&mut self, all: &[&RunCard]) {
        let workloads = by(all, |run| &run.summary.workload);
        let mut table = Table::captioned("Workloads")
            .labels(["workload", "what it does"])
            .number("runs")
            .word("last run");
        for (name, of) in &workloads {
            let Some(newest) = of.first() else { continue };
            table.row(vec![
                cell(Text::default().link(format!("{}.html", slug(name)), name.clone())),
                cell(newest.workload.as_str()),
                cell(of.len().to_string()),
                cell(newest.day()),
            ]);
        }
        let main = listed(&table, "There is no workload yet.");
        let lede = format!("Workloads of the runs: {}.", count(workloads.len(), "workload"));
        self.put("workloads/index.html", SiteSection::Workloads, "Workloads", &lede, &main);
        for (name, of) in &workloads {
            let path = workload_path(name);
            let help = of.first().map_or("", |run| run.workload.as_str());
            let experiments = by(of, |run| &run.summary.experiment);
            let main = html! {
                @for (i, (experiment, of)) in experiments.iter().enumerate() {
                    @let heading = format!("experiment-{i}-heading");
                    section id={ "experiment-" (slug(experiment)) } aria-labelledby=(heading) {
                        h2 id=(heading) { (experiment) }
                        (runs(&path, &format!("Runs of {experiment}"), of))
                    }
                }
            };
            self.put(&path, SiteSection::Workloads, name, help, &main);
        }
    }

    fn tags(&mut self, cards: &Cards<'_>) {
        let tags = tags(cards);
        let mut table = Table::captioned("Tags").label("tag").number("posts").number("runs");
        for (slug, (name, posts, runs)) in &tags {
            table.row(vec![
                cell(Text::default().link(format!("{slug}.html"), name.clone())),
                cell(posts.len().to_string()),
                cell(runs.len().to_string()),
            ]);
        }
        let main = listed(&table, "Nothing has a tag yet.");
        let lede = format!("{} of posts and runs.", count(tags.len(), "tag"));
        self.put("tags/index.html", SiteSection::Tags, "Tags", &lede, &main);
        for (slug, (name, posts, of)) in &tags {
            let path = format!("tags/{slug}.html");
            let main = html! {
                @if !posts.is_empty() { (section("posts", "Posts", &articles(&path, posts))) }
                @let caption = format!("Runs with the tag {name}");
                @if !of.is_empty() { (runs_section(&path, &caption, of)) }
            };
            let lede = format!("{} and {}.", count(posts.len(), "post"), count(of.len(), "run"));
            self.put(&path, SiteSection::Tags, &format!("Tag: {name}"), &lede, &main);
        }
    }

    fn landscapes(&mut self, all: &[&LandscapeCard]) {
        let mut table = Table::captioned("Landscapes")
            .label("landscape")
            .number("results")
            .label("what is measured");
        for card in all {
            let file = card.path();
            let name = file.strip_prefix("landscapes/").unwrap_or(&file);
            table.row(vec![
                cell(Text::default().link(name, card.heading.clone())),
                cell(card.results.to_string()),
                cell(card.measure.as_str()),
            ]);
        }
        let lede = "Tables of results as their sources printed them, ranked.";
        let main = listed(&table, "There is no landscape.");
        self.put("landscapes/index.html", SiteSection::Landscapes, "Landscapes", lede, &main);
    }

    fn histories(&mut self, all: &[&HistoryCard]) {
        let main = html! {
            @if all.is_empty() {
                p { "No history is on this site; " code { "assay history" }
                    " shows those of an archive." }
            } @else {
                ul.posts { @for card in all { li {
                    h3 { a href={ (card.slug) ".html" } { (card.heading) } }
                    @let points = count(card.points, "point");
                    p { (card.lede) " " (count(card.series, "series")) ", " (points) "." }
                    @for change in &card.changes { p.soft { (change) } }
                } } }
            }
        };
        let lede = "Metrics over the revisions of a program.";
        self.put("histories/index.html", SiteSection::Histories, "Histories", lede, &main);
    }
}

/// Renders a table, or a sentence if it has no rows.
fn listed(table: &Table, none: &str) -> Markup {
    html! { @if table.rows.is_empty() { p { (none) } } @else { (written::table(table)) } }
}

fn runs_section(path: &str, caption: &str, all: &[&RunCard]) -> Markup {
    section("runs", "Runs", &runs(path, caption, all))
}

/// Renders runs as a table.
fn runs(path: &str, caption: &str, all: &[&RunCard]) -> Markup {
    let root = root(path);
    let mut table = Table::captioned(caption)
        .label("run")
        .word("started (UTC)")
        .labels(["experiment", "workload", "system"])
        .word("metric")
        .number("baseline")
        .word("state");
    for run in all {
        let s = &run.summary;
        let started = s.started_at.replace('T', " ");
        let value = match s.value {
            Some(v) => cell(units::format_value(v, &s.unit)),
            None if run.withheld => cell("withheld"),
            None => cell(NO_VALUE),
        };
        let system = system_path(run.host());
        table.row(vec![
            cell(Text::default().link(format!("{root}{}", run.path()), s.id.to_string())),
            cell(started.get(..16).unwrap_or(NOTHING)),
            cell(s.experiment.as_str()),
            cell(
                Text::default()
                    .link(format!("{root}{}", workload_path(&s.workload)), s.workload.clone()),
            ),
            cell(Text::default().link(format!("{root}{system}"), run.host())),
            cell(s.metric.as_str()),
            value,
            cell(s.state.name()),
        ]);
    }
    listed(&table, "There is no run yet.")
}

/// Renders posts as a list, newest first.
fn articles(path: &str, posts: &[&PostCard]) -> Markup {
    let root = root(path);
    html! {
        ul.posts { @for post in posts { li {
            h3 { a href={ (root) (post.path()) } { (post.title) } }
            p.soft { @if let Some(day) = &post.day { (date(day)) } @else { "no day" } }
            @if !post.summary.is_empty() { p { (post.summary) } }
            (tag_links(&root, post))
        } } }
        @if posts.iter().any(|p| p.title.contains('†') || p.summary.contains('†')) {
            p.soft { "† typed by the author: no function printed it, and nothing checked it." }
        }
    }
}

/// Renders the tags of a post as links.
pub fn tag_links(root: &str, post: &PostCard) -> Markup {
    html! {
        @if !post.tags.is_empty() {
            ul.tags aria-label="Tags" { @for (tag, slug) in post.tags.iter().zip(&post.tag_slugs) {
                li { a href={ (root) "tags/" (slug) ".html" } { (tag) } }
            } }
        }
    }
}
