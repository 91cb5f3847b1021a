//! The pages of a site that list its contents, made from their cards.

use anyhow::{Result, anyhow};
use assay_publish::site::lists::Cards;
use assay_publish::site::{feed, lists, search};

use super::builder::Builder;
use super::folder::{Unit, UnitCard, is_page};

/// Writes the lists, the search, the feeds and the sitemap.
pub fn build(builder: &Builder<'_>) -> Result<()> {
    let units = builder.folder.units();
    let cards = cards(&units);
    for post in cards.posts.iter().filter(|p| p.day.is_none()) {
        builder.note(format!(
            "post {} has no date and is in no feed: add `date` to its front matter, or begin its \
            file name with one",
            post.slug
        ));
    }
    let mut files = lists::all(&builder.site, &cards);
    files.push((search::PATH.to_owned(), search::page(&builder.site, &search::index(&cards))));
    let pages = units.iter().flat_map(|u| u.files.keys()).filter(|p| is_page(p));
    let mut pages: Vec<&str> =
        pages.map(String::as_str).chain(files.iter().map(|f| f.0.as_str())).collect();
    pages.sort_unstable();
    let mut more = feed::sitemap(&builder.site, &pages);
    more.extend(feed::atom(&builder.site, &cards.posts).map(|f| ("atom.xml".to_owned(), f)));
    more.extend(feed::json(&builder.site, &cards.posts).map(|f| ("feed.json".to_owned(), f)));
    files.extend(more);
    let mut unit = Unit { key: builder.settings.clone(), ..Unit::default() };
    for (path, text) in files {
        let written = builder.folder.write(&path, text.as_bytes())?;
        if unit.files.insert(path.clone(), written).is_some() {
            return Err(anyhow!("two pages of the site would be {path}"));
        }
    }
    builder.folder.done("lists", unit)
}

/// Returns the cards of all units, newest first.
pub fn cards(units: &[Unit]) -> Cards<'_> {
    let mut cards = Cards::default();
    for unit in units {
        match &unit.card {
            Some(UnitCard::Run(c)) => cards.runs.push(c),
            Some(UnitCard::Post(c)) => cards.posts.push(c),
            Some(UnitCard::Landscape(c)) => cards.landscapes.push(c),
            Some(UnitCard::History(c)) => cards.histories.push(c),
            None => {}
        }
    }
    cards.runs.sort_by(|a, b| {
        (&b.summary.started_at, &b.summary.id).cmp(&(&a.summary.started_at, &a.summary.id))
    });
    cards.posts.sort_by(|a, b| (&b.day, &b.slug).cmp(&(&a.day, &a.slug)));
    cards.landscapes.sort_by(|a, b| a.heading.cmp(&b.heading));
    cards.histories.sort_by(|a, b| a.heading.cmp(&b.heading));
    cards
}
