//! The feeds of a site and its sitemap: Atom (RFC 4287), JSON Feed 1.1, and the sitemap protocol
//! 0.9. Only Atom allows relative links, so a site without an address has no other.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::cards::PostCard;
use super::frame::Site;

/// Largest number of addresses that one sitemap may have.
const ADDRESSES: usize = 50_000;

/// Writes the posts that have a day as Atom; `None` without any, since a feed must state when it
/// changed.
pub fn atom(site: &Site, posts: &[&PostCard]) -> Option<String> {
    let dated: Vec<(&PostCard, String)> =
        posts.iter().filter_map(|p| Some((*p, instant(p.day.as_ref()?)))).collect();
    let updated = dated.iter().map(|(_, at)| at).max()?;
    let feed = xml(|w| {
        w.create_element("feed")
            .with_attribute(("xmlns", "http://www.w3.org/2005/Atom"))
            .write_inner_content(|w| {
                text(w, "title", &site.title)?;
                text(w, "id", &id(site, "index.html", &site.title))?;
                text(w, "updated", updated)?;
                w.create_element("author").write_inner_content(|w| text(w, "name", &site.title))?;
                w.create_element("generator")
                    .with_attribute(("version", site.version.as_str()))
                    .write_text_content(BytesText::new("assay"))?;
                link(w, "self", &address(site, "atom.xml"))?;
                link(w, "alternate", &address(site, "index.html"))?;
                for (post, at) in &dated {
                    w.create_element("entry").write_inner_content(|w| {
                        text(w, "title", &post.title)?;
                        text(w, "id", &id(site, &post.path(), &post.slug))?;
                        text(w, "published", at)?;
                        text(w, "updated", at)?;
                        link(w, "alternate", &address(site, &post.path()))?;
                        for tag in &post.tags {
                            w.create_element("category")
                                .with_attribute(("term", tag.as_str()))
                                .write_empty()?;
                        }
                        text(
                            w,
                            "summary",
                            if post.summary.is_empty() { &post.title } else { &post.summary },
                        )
                    })?;
                }
                Ok(())
            })?;
        Ok(())
    });
    Some(feed)
}

/// Writes the same as JSON Feed; `None` if the site has no address or no post has a day.
pub fn json(site: &Site, posts: &[&PostCard]) -> Option<String> {
    let home = site.address("index.html")?;
    let items: Vec<serde_json::Value> = posts
        .iter()
        .filter_map(|post| {
            let url = site.address(&post.path())?;
            let mut item = json!({
                "id": url, "url": url, "title": post.title,
                "content_text": if post.summary.is_empty() { &post.title } else { &post.summary },
                "date_published": instant(post.day.as_ref()?),
            });
            if !post.tags.is_empty() {
                item["tags"] = json!(post.tags);
            }
            Some(item)
        })
        .collect();
    if items.is_empty() {
        return None;
    }
    let feed = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": site.title,
        "home_page_url": home,
        "feed_url": site.address("feed.json")?,
        "items": items,
    });
    Some(format!("{feed:#}\n"))
}

/// Writes `sitemap.xml` with every page or, if these are more than one file may have, with the
/// parts that list them. Empty if the site has no address.
pub fn sitemap(site: &Site, paths: &[&str]) -> Vec<(String, String)> {
    const NAMESPACE: (&str, &str) = ("xmlns", "http://www.sitemaps.org/schemas/sitemap/0.9");
    if site.base.is_none() {
        return Vec::new();
    }
    let listing = |outer: &str, inner: &str, of: &[String]| {
        xml(|w| {
            w.create_element(outer).with_attribute(NAMESPACE).write_inner_content(|w| {
                for address in of {
                    w.create_element(inner).write_inner_content(|w| text(w, "loc", address))?;
                }
                Ok(())
            })?;
            Ok(())
        })
    };
    let all: Vec<String> = paths.iter().filter_map(|path| site.address(path)).collect();
    if all.len() <= ADDRESSES {
        return vec![("sitemap.xml".to_owned(), listing("urlset", "url", &all))];
    }
    let parts = all.chunks(ADDRESSES).enumerate();
    let mut out: Vec<(String, String)> = parts
        .map(|(i, part)| (format!("sitemap-{}.xml", i + 1), listing("urlset", "url", part)))
        .collect();
    let names: Vec<String> = out.iter().filter_map(|(name, _)| site.address(name)).collect();
    out.push(("sitemap.xml".to_owned(), listing("sitemapindex", "sitemap", &names)));
    out
}

type Xml = Writer<Vec<u8>>;

fn xml(content: impl FnOnce(&mut Xml) -> io::Result<()>) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    let written = writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)));
    // Writing to memory cannot fail.
    written.and_then(|()| content(&mut writer)).expect("memory takes what is written");
    let mut text = String::from_utf8(writer.into_inner()).expect("text was written");
    text.push('\n');
    text
}

fn text(w: &mut Xml, name: &str, content: &str) -> io::Result<()> {
    w.create_element(name).write_text_content(BytesText::new(&allowed(content)))?;
    Ok(())
}

fn link(w: &mut Xml, rel: &str, href: &str) -> io::Result<()> {
    w.create_element("link").with_attributes([("rel", rel), ("href", href)]).write_empty()?;
    Ok(())
}

/// Removes the characters that XML 1.0 does not allow.
fn allowed(text: &str) -> String {
    let good = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    text.chars().filter(good).filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

/// Returns a page's address or, if the site has none, its path relative to the feed.
fn address(site: &Site, path: &str) -> String {
    site.address(path).unwrap_or_else(|| path.to_owned())
}

/// Returns a permanent id: the address or, if the site has none, a UUID (version 8, RFC 9562) of
/// the name.
fn id(site: &Site, path: &str, name: &str) -> String {
    site.address(path).unwrap_or_else(|| {
        let mut hash = Sha256::digest(format!("assay site {path} {name}").as_bytes());
        hash[6] = (hash[6] & 0x0f) | 0x80;
        hash[8] = (hash[8] & 0x3f) | 0x80;
        let hex =
            format!("{:032x}", hash.iter().take(16).fold(0_u128, |n, b| n << 8 | u128::from(*b)));
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        format!("urn:uuid:{}", parts.join("-"))
    })
}

/// Returns the start of a day as a timestamp.
fn instant(day: &str) -> String {
    format!("{day}T00:00:00Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(base: Option<&str>) -> Site {
        Site {
            title: "Notes & <figures>".into(),
            base: base.map(str::to_owned),
            version: "1".into(),
        }
    }

    fn post(slug: &str, day: Option<&str>) -> PostCard {
        PostCard {
            slug: slug.into(),
            title: format!("A < B & \u{1}\"{slug}\""),
            summary: String::new(),
            day: day.map(str::to_owned),
            tags: vec!["i/o & more".into()],
            tag_slugs: vec!["i-o".into()],
            banner: String::new(),
            words: String::new(),
        }
    }

    /// Returns the text of each element with this name, read by a parser.
    fn texts(xml: &str, name: &str) -> Vec<String> {
        let mut reader = quick_xml::Reader::from_str(xml);
        let mut out = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) if start.name().as_ref() == name.as_bytes() => {
                    let raw = reader.read_text(start.name()).unwrap();
                    out.push(
                        quick_xml::escape::unescape(&String::from_utf8_lossy(&raw))
                            .unwrap()
                            .into_owned(),
                    );
                }
                Event::Eof => return out,
                _ => {}
            }
        }
    }

    #[test]
    fn feeds_are_well_formed_and_ids_stay() {
        let posts = [post("b", Some("2026-02-01")), post("a", Some("2026-01-01")), post("c", None)];
        let cards: Vec<&PostCard> = posts.iter().collect();
        let bare = atom(&site(None), &cards).unwrap();
        assert_eq!(texts(&bare, "title"), ["Notes & <figures>", "A < B & \"b\"", "A < B & \"a\""]);
        assert_eq!(texts(&bare, "updated")[0], "2026-02-01T00:00:00Z");
        assert!(bare.contains("href=\"posts/b/index.html\""), "{bare}");
        let ids = texts(&bare, "id");
        assert!(ids.iter().all(|id| id.starts_with("urn:uuid:") && id.len() == 45), "{ids:?}");
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
        assert_eq!(texts(&atom(&site(None), &cards[1..]).unwrap(), "id")[1], ids[2]);
        assert!(
            json(&site(None), &cards).is_none() && sitemap(&site(None), &["index.html"]).is_empty()
        );
        let whole = site(Some("https://example.org/perf/"));
        assert_eq!(
            texts(&atom(&whole, &cards).unwrap(), "id")[1],
            "https://example.org/perf/posts/b/"
        );
        let feed: serde_json::Value = serde_json::from_str(&json(&whole, &cards).unwrap()).unwrap();
        assert_eq!(feed["items"].as_array().unwrap().len(), 2);
        assert_eq!(feed["items"][0]["url"], "https://example.org/perf/posts/b/");
        assert!(atom(&whole, &cards[2..]).is_none(), "a post without a day");
    }

    #[test]
    fn a_sitemap_is_split_where_it_is_too_long() {
        let whole = site(Some("https://example.org/"));
        let paths = vec!["runs/a.html"; ADDRESSES + 1];
        let maps = sitemap(&whole, &paths);
        let names: Vec<&str> = maps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["sitemap-1.xml", "sitemap-2.xml", "sitemap.xml"]);
        assert_eq!(texts(&maps[1].1, "loc"), ["https://example.org/runs/a.html"]);
        assert_eq!(texts(&maps[2].1, "loc").len(), 2);
    }
}
