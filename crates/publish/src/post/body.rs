//! Converts a template's Markdown to HTML, with computed pieces in their places. HTML in a template
//! is text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::{Markup, html};
use pulldown_cmark::{Alignment, Event, HeadingLevel, Tag, TagEnd};

use super::read::{CLOSE, MarkdownPlace, OPEN};
use super::typed::{Marks, events_of};

/// Opening tag of a typed quantity.
const TYPED: &str = "<span class=\"typed\" title=\"typed by the author; no function printed it\">";

/// Function that renders a computed piece.
pub(super) type RenderPiece<'a> = &'a dyn Fn(MarkdownPlace) -> Markup;

/// The body as HTML, and the anchor and text of each of its second-level headings.
pub(super) struct Body {
    pub(super) html: String,
    pub(super) headings: Vec<(String, String)>,
}

/// Converts the Markdown of a post to its body.
pub(super) fn body(markdown: &str, marks: &Marks, made: RenderPiece<'_>) -> Body {
    let events = events_of(markdown, marks);
    let mut writer = Writer {
        out: String::new(),
        made,
        headings: Vec::new(),
        taken: ["main", "disclosure", "derivations", "findings", "data"]
            .map(|id| (id.to_owned(), 2))
            .into(),
        section: false,
        aligned: Vec::new(),
        column: 0,
        head: false,
        links: Vec::new(),
    };
    let mut i = 0;
    while i < events.len() {
        i += writer.event(&events[i..]);
    }
    if writer.section {
        writer.out.push_str("</section>");
    }
    Body { html: writer.out, headings: writer.headings }
}

struct Writer<'a> {
    out: String,
    made: RenderPiece<'a>,
    headings: Vec<(String, String)>,
    /// Anchors in use, each with the number that the next heading of the same words gets.
    taken: BTreeMap<String, usize>,
    section: bool,
    aligned: Vec<Alignment>,
    column: usize,
    head: bool,
    /// For each open link, true if it was written.
    links: Vec<bool>,
}

impl Writer<'_> {
    /// Writes the first of these events, or several that belong together; returns their number.
    fn event(&mut self, events: &[Event<'_>]) -> usize {
        match &events[0] {
            Event::Start(Tag::Paragraph) => {
                if let Some(block) = alone(events) {
                    self.out.push_str(&(self.made)(block).into_string());
                    return 3;
                }
                self.out.push_str("<p>");
            }
            Event::Start(Tag::Heading { level, .. }) => self.heading(*level, &events[1..]),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.text(text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            _ => {}
        }
        1
    }

    fn heading(&mut self, level: HeadingLevel, after: &[Event<'_>]) {
        let end = |e: &&Event<'_>| !matches!(e, Event::End(TagEnd::Heading(_)));
        let words: String = after
            .iter()
            .take_while(end)
            .filter_map(|e| match e {
                Event::Text(t) | Event::Code(t) => Some(t.as_ref()),
                _ => None,
            })
            .collect();
        // A typed quantity has its dagger in the list of contents too.
        let mut shown = String::new();
        for (i, part) in words.split(OPEN).enumerate() {
            let (place, rest) = part.split_once(CLOSE).filter(|_| i > 0).unwrap_or(("", part));
            shown.push_str(if place == "/" { "†" } else { "" });
            shown.push_str(rest);
        }
        let id = self.anchor(&shown);
        if level <= HeadingLevel::H2 {
            if self.section {
                self.out.push_str("</section>");
            }
            self.section = true;
            self.headings.push((id.clone(), shown));
            let heading = format!("{id}-heading");
            let _ = write!(
                self.out,
                "<section id=\"{id}\" aria-labelledby=\"{heading}\"><h2 id=\"{heading}\">"
            );
        } else {
            let _ = write!(self.out, "<{level} id=\"{id}\">");
        }
    }

    /// Returns an anchor of letters, digits and `-` that no other part of the page has.
    fn anchor(&mut self, words: &str) -> String {
        let mut id = String::from("s");
        for c in words.to_lowercase().chars().take(60) {
            if c.is_ascii_alphanumeric() {
                if id == "s" {
                    id.push('-');
                }
                id.push(c);
            } else if !id.ends_with('-') {
                id.push('-');
            }
        }
        let id = id.trim_end_matches('-').to_owned();
        let mut n = self.taken.get(&id).copied().unwrap_or(1);
        let mut unique = id.clone();
        while self.taken.contains_key(&unique) {
            unique = format!("{id}-{n}");
            n += 1;
        }
        self.taken.insert(id, n.max(2));
        self.taken.entry(unique.clone()).or_insert(2);
        unique
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::HtmlBlock => self.out.push_str("<p>"),
            Tag::BlockQuote(_) => self.out.push_str("<blockquote>"),
            Tag::CodeBlock(_) => {
                self.out.push_str("<pre tabindex=\"0\"><code>");
            }
            Tag::List(None) => self.out.push_str("<ul>"),
            Tag::List(Some(n)) => {
                let _ = write!(self.out, "<ol start=\"{n}\">");
            }
            Tag::Item => self.out.push_str("<li>"),
            Tag::Emphasis => self.out.push_str("<em>"),
            Tag::Strong => self.out.push_str("<strong>"),
            Tag::Strikethrough => self.out.push_str("<del>"),
            Tag::Table(aligned) => {
                self.aligned.clone_from(aligned);
                self.out.push_str(
                    "<div class=\"table-box\" tabindex=\"0\" role=\"region\" \
                    aria-label=\"table\"><table>",
                );
            }
            Tag::TableHead => {
                (self.head, self.column) = (true, 0);
                self.out.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.out.push_str("<tr>");
            }
            Tag::TableCell => {
                let number = self.aligned.get(self.column) == Some(&Alignment::Right);
                let class = if number { " class=\"num\"" } else { "" };
                let tag = if self.head { "th scope=\"col\"" } else { "td" };
                let _ = write!(self.out, "<{tag}{class}>");
                self.column += 1;
            }
            Tag::Link { dest_url, .. } => {
                let ok = ["https://", "http://", "#"].iter().any(|p| dest_url.starts_with(p));
                if ok {
                    let open =
                        html! { a href=(dest_url) rel="noopener noreferrer" {} }.into_string();
                    self.out.push_str(open.trim_end_matches("</a>"));
                }
                self.links.push(ok);
            }
            // A picture would be loaded from the network; its description replaces it.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let text = match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => "</p>",
            TagEnd::Heading(level) if level <= HeadingLevel::H2 => "</h2>",
            TagEnd::Heading(level) => {
                let _ = write!(self.out, "</{level}>");
                return;
            }
            TagEnd::BlockQuote(_) => "</blockquote>",
            TagEnd::CodeBlock => "</code></pre>",
            TagEnd::List(false) => "</ul>",
            TagEnd::List(true) => "</ol>",
            TagEnd::Item => "</li>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Strikethrough => "</del>",
            TagEnd::Table => "</tbody></table></div>",
            TagEnd::TableHead => {
                self.head = false;
                "</tr></thead><tbody>"
            }
            TagEnd::TableRow => "</tr>",
            TagEnd::TableCell => {
                // An empty corner cell is not a heading.
                match self.head.then(|| self.out.rfind("<th scope=\"col\"")).flatten() {
                    Some(at)
                        if self.out[at..].ends_with('>') && !self.out[at + 1..].contains('<') =>
                    {
                        self.out.replace_range(at..at + "<th scope=\"col\"".len(), "<td");
                        "</td>"
                    }
                    Some(_) => "</th>",
                    None => "</td>",
                }
            }
            TagEnd::Link if self.links.pop() == Some(true) => "</a>",
            _ => "",
        };
        self.out.push_str(text);
    }

    /// Writes text that may contain computed numbers.
    fn text(&mut self, text: &str) {
        let mut parts = text.split(OPEN);
        if let Some(first) = parts.next() {
            self.plain(first);
        }
        for part in parts {
            let Some((place, rest)) = part.split_once(CLOSE) else { continue };
            match MarkdownPlace::read(place) {
                Some(place) => self.out.push_str(&(self.made)(place).into_string()),
                None => self.out.push_str(if place == "/" { "</span>" } else { TYPED }),
            }
            self.plain(rest);
        }
    }

    fn plain(&mut self, text: &str) {
        self.out.push_str(&html! { (text) }.into_string());
    }
}

/// Returns the block that a paragraph consists of, if it has no other content.
fn alone(events: &[Event<'_>]) -> Option<MarkdownPlace> {
    let [Event::Start(Tag::Paragraph), Event::Text(text), Event::End(TagEnd::Paragraph), ..] =
        events
    else {
        return None;
    };
    let place = MarkdownPlace::read(text.strip_prefix(OPEN)?.strip_suffix(CLOSE)?)?;
    matches!(place, MarkdownPlace::Block(_)).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(place: MarkdownPlace) -> Markup {
        match place {
            MarkdownPlace::Number(at) => html! { b { (at) } },
            MarkdownPlace::Block(at) => html! { div { (at) } },
            MarkdownPlace::Claim(at) => html! { i { (at) } },
        }
    }

    #[test]
    fn html_in_a_template_is_text_and_pictures_are_not_fetched() {
        let text = "## A <b>\n\n<script>x</script>\n\n<i>y</i> ![p](http://x/y.png) \
            [l](javascript:x) [m](https://x/)\n";
        let b = body(text, &Marks::default(), &made);
        assert!(
            !b.html.contains("<script>") && !b.html.contains("<i>") && !b.html.contains("<img"),
            "{}",
            b.html
        );
        assert!(b.html.contains("&lt;script&gt;") && !b.html.contains("javascript:"), "{}", b.html);
        assert!(
            b.html.contains("<a href=\"https://x/\" rel=\"noopener noreferrer\">m</a>"),
            "{}",
            b.html
        );
        assert_eq!(b.headings.len(), 1);
    }

    #[test]
    fn pieces_stand_in_their_places() {
        let text = format!(
            "A {OPEN}n3{CLOSE} b **{OPEN}n4{CLOSE}**\n\n{OPEN}b0{CLOSE}\n\n# H {OPEN}n1{CLOSE}\n"
        );
        let b = body(&text, &Marks::default(), &made);
        assert!(
            b.html.starts_with("<p>A <b>3</b> b <strong><b>4</b></strong></p><div>0</div>"),
            "{}",
            b.html
        );
        assert!(b.html.contains("<h2 id=\"s-h-heading\">H <b>1</b></h2>"), "{}", b.html);
    }
}
