//! Converts a post's Markdown to a normal form, so that the page and the Markdown file show the
//! same: HTML becomes text, an image becomes its description, a link has no title and leads to a
//! page, a list begins at 1, and only computed numbers have footnotes.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::read::is_reserved;
use super::typed::{OPTIONS, events};

/// Maximum number of rounds. Each removes markup; a text that is still not normal was not written
/// by a person.
const ROUNDS: usize = 32;

/// Offsets in the Markdown, each with its byte in the template, in order.
pub(super) type Map = Vec<(usize, usize)>;

/// Returns the byte of the template for a byte of the Markdown.
pub(super) fn template_byte(map: &Map, at: usize) -> usize {
    let i = map.partition_point(|(own, _)| *own <= at);
    map[..i].last().map_or(0, |(own, there)| there + (at - own))
}

/// Returns the normal form of a Markdown text; `None` if it has none.
pub(super) fn normal(mut markdown: String, map: &mut Map) -> Option<String> {
    for _ in 0..ROUNDS {
        let edits = edits(&markdown);
        if edits.is_empty() {
            return Some(markdown);
        }
        markdown = edited(&markdown, edits, map);
    }
    None
}

type Edit = (Range<usize>, String);

/// An open link or image whose markup is changed.
struct OpenLink {
    source: Range<usize>,
    /// Bytes of the element's text so far.
    text: Option<Range<usize>>,
    /// Text before and after the element in normal Markdown; `None` keeps the element as written.
    markup: Option<(&'static str, String)>,
}

fn edits(markdown: &str) -> Vec<Edit> {
    let mut out: Vec<Edit> = Vec::new();
    let mut open: Vec<OpenLink> = Vec::new();
    let parser = Parser::new_ext(markdown, OPTIONS);
    let definitions = parser.reference_definitions().iter();
    let footnotes = definitions.filter(|(label, _)| label.starts_with('^'));
    out.extend(footnotes.map(|(_, d)| (d.span.start..d.span.start, "\\".to_owned())));
    let mut in_code = false;
    for (event, source) in events(markdown) {
        if let Event::Start(Tag::CodeBlock(_)) | Event::End(TagEnd::CodeBlock) = event {
            in_code = !in_code;
        }
        if let Event::End(TagEnd::Link | TagEnd::Image) = event {
            let Some(OpenLink { source, text, markup: Some((before, after)) }) = open.pop() else {
                continue;
            };
            let text = text.unwrap_or(source.end..source.end);
            out.push((source.start..text.start, before.to_owned()));
            out.push((text.end..source.end, after));
            continue;
        }
        for outer in &mut open {
            let text = outer.text.get_or_insert_with(|| source.clone());
            *text = text.start.min(source.start)..text.end.max(source.end);
        }
        let own = &markdown[source.clone()];
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                out.extend(own.match_indices(['<', '&']).map(|(at, c)| {
                    let at = source.start + at;
                    (at..at + 1, if c == "<" { "&lt;" } else { "&amp;" }.to_owned())
                }));
            }
            Event::Text(_) if !in_code => {
                // pulldown-cmark ends a text at a bracket.
                let brackets = own.match_indices('[').map(|(at, _)| source.start + at);
                let notes = brackets.filter(|at| markdown[at + 1..].starts_with('^'));
                let bare = notes.filter(|at| !markdown[..*at].ends_with('\\'));
                out.extend(bare.map(|at| (at..at, "\\".to_owned())));
            }
            Event::TaskListMarker(_) => out.push((source.start..source.start, "\\".to_owned())),
            Event::Start(Tag::List(Some(first))) if first != 1 => {
                let at = source.start + own.len() - own.trim_start().len();
                let digits = markdown[at..].bytes().take_while(u8::is_ascii_digit).count();
                out.push((at..at + digits, "1".to_owned()));
            }
            Event::Start(Tag::Image { .. }) => {
                open.push(OpenLink { source, text: None, markup: Some(("", String::new())) });
            }
            Event::Start(Tag::Link { dest_url, title, .. }) => {
                let markup = match (is_page(&dest_url), title.is_empty()) {
                    (true, true) => None,
                    (true, false) => Some(("[", format!("](<{}>)", address(&dest_url)))),
                    (false, _) => Some(("", String::new())),
                };
                open.push(OpenLink { source, text: None, markup });
            }
            _ => {}
        }
    }
    out.sort_by_key(|(span, _)| (span.start, span.end));
    out.dedup();
    out
}

/// Returns true unless the address has another scheme than those of pages.
fn is_page(address: &str) -> bool {
    let head = address.split(['/', '?', '#']).next().unwrap_or("");
    head.split_once(':').is_none_or(|(scheme, _)| {
        ["http", "https", "mailto"].iter().any(|known| scheme.trim().eq_ignore_ascii_case(known))
    })
}

/// Escapes an address for use between `<` and `>`.
fn address(of: &str) -> String {
    let mut out = String::with_capacity(of.len());
    for c in of.chars() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            '\n' | '\r' => {}
            '&' => out.push_str("&amp;"),
            // The character comes from an entity; unchanged, it would be the place of a number.
            c if is_reserved(c) => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

/// Applies edits, which are in order, to the Markdown and to the map.
fn edited(markdown: &str, edits: Vec<Edit>, map: &mut Map) -> String {
    let mut out = String::with_capacity(markdown.len() + edits.len() * 4);
    let mut new: Map = Vec::with_capacity(map.len() + edits.len());
    let mut old = map.iter().copied().peekable();
    let mut done = 0;
    for (span, text) in edits {
        if span.start < done {
            continue;
        }
        while let Some((own, there)) = old.next_if(|(own, _)| *own < span.start) {
            new.push((out.len() + (own - done), there));
        }
        out.push_str(&markdown[done..span.start]);
        out.push_str(&text);
        while old.next_if(|(own, _)| *own <= span.end).is_some() {}
        new.push((out.len(), template_byte(map, span.end)));
        done = span.end;
    }
    new.extend(old.map(|(own, there)| (out.len() + (own - done), there)));
    out.push_str(&markdown[done..]);
    *map = new;
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(text: &str) -> String {
        normal(text.to_owned(), &mut vec![(0, 0)]).unwrap()
    }

    #[test]
    fn markup_that_only_one_form_shows_is_text() {
        for (text, wanted) in [
            ("a <b>c</b> &amp; d", "a &lt;b>c&lt;/b> &amp; d"),
            ("<div title=\"&#53;\">\nx\n</div>", "&lt;div title=\"&amp;#53;\">\nx\n&lt;/div>"),
            ("![50% *more*](x.png \"t\")", "50% *more*"),
            (
                "[a](https://x/?a=1&b \"50%\") [b](https://y/)",
                "[a](<https://x/?a=1&amp;b>) [b](https://y/)",
            ),
            ("[a][r]\n\n[r]: https://x/ \"50%\"", "[a](<https://x/>)\n\n[r]: https://x/ \"50%\""),
            ("[a](javascript:x) [b](data:text/html,5 \"t\") [c](other.md)", "a b [c](other.md)"),
            ("[![i](u)](https://x/ 't')", "[i](<https://x/>)"),
            ("50. a\n51. b", "1. a\n51. b"),
            ("- [x] a", "- \\[x] a"),
            ("a[^d1] \\[^d2]\n\n[^d1]: 50%", "a\\[^d1] \\[^d2]\n\n\\[^d1]: 50%"),
            ("`<b>[^d1]` plain", "`<b>[^d1]` plain"),
            ("```\n[^d1] <b>\n```", "```\n[^d1] <b>\n```"),
        ] {
            assert_eq!(normalized(text), wanted, "{text}");
        }
    }

    #[test]
    fn bytes_lead_back_to_the_template() {
        let text = "a <b>c</b> ![d](e) f";
        let mut map = vec![(0, 100)];
        let normal = normal(text.to_owned(), &mut map).unwrap();
        for word in ["a", "c", "d", "f"] {
            let (own, there) = (normal.find(word).unwrap(), text.find(word).unwrap());
            assert_eq!(template_byte(&map, own), 100 + there, "{word}: {normal}");
        }
    }

    proptest::proptest! {
        #[test]
        fn is_its_own_normal_form(text in "[ a-c<>/\"!\\[\\]()^`*_&#0-9;:x|\n-]{0,80}") {
            if let Some(once) = normal(text, &mut vec![(0, 0)]) {
                proptest::prop_assert_eq!(normal(once.clone(), &mut vec![(0, 0)]), Some(once));
            }
        }
    }
}
