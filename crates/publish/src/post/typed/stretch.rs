//! Text that is read in one piece after Markdown was rendered: a paragraph, a heading, an item or a
//! cell, with the event and the bytes that each part comes from.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::post::read::{CLOSE, MarkdownPlace, OPEN};

/// Placeholder for a computed number in the text of a stretch.
pub(in crate::post) const NUMBER: char = '\u{E002}';

/// The kind of text that a stretch holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::post) enum StretchKind {
    Text,
    Heading,
    Cell,
    Code,
}

assay_model::names! {
    pub(in crate::post) StretchKind::name: Text = "text", Heading = "heading",
        Cell = "cell of a table", Code = "code"
}

/// A part of a stretch that comes from one event.
#[derive(Debug, Clone)]
struct Segment {
    /// Byte range in the stretch.
    own: Range<usize>,
    event: usize,
    /// Offset in the text of the event.
    offset: usize,
    /// Byte range in the Markdown.
    source: Range<usize>,
    /// True if the source equals the text, byte for byte.
    exact: bool,
}

/// A computed number in a stretch.
#[derive(Debug, Clone)]
pub(in crate::post) struct PlacedNumber {
    /// Byte offset in the text.
    pub(in crate::post) at: usize,
    pub(in crate::post) number: usize,
    /// Surrounding markup, if a statement is not allowed in it.
    pub(in crate::post) within: Option<&'static str>,
}

/// A text that is read in one piece.
#[derive(Debug, Clone)]
pub(in crate::post) struct Stretch {
    pub(in crate::post) text: String,
    pub(in crate::post) kind: StretchKind,
    /// Title of the column, for a cell.
    pub(in crate::post) title: String,
    pub(in crate::post) numbers: Vec<PlacedNumber>,
    /// Byte range of a fenced block of code in the Markdown.
    pub(super) fenced: Option<Range<usize>>,
    segments: Vec<Segment>,
}

/// A place in the text of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventSpan {
    pub(super) event: usize,
    pub(super) span: Range<usize>,
}

impl Stretch {
    fn new(kind: StretchKind) -> Self {
        Stretch {
            text: String::new(),
            kind,
            title: String::new(),
            numbers: Vec::new(),
            fenced: None,
            segments: Vec::new(),
        }
    }

    fn touching(&self, span: &Range<usize>) -> impl Iterator<Item = (&Segment, Range<usize>)> {
        let from = self.segments.partition_point(|s| s.own.end <= span.start);
        let near = self.segments[from..].iter().take_while(|s| s.own.start < span.end);
        near.map(|s| {
            (s, span.start.max(s.own.start) - s.own.start..span.end.min(s.own.end) - s.own.start)
        })
    }

    /// Returns the places in events that a span of the text comes from.
    pub(super) fn parts(&self, span: &Range<usize>) -> Vec<EventSpan> {
        let part = |(s, own): (&Segment, Range<usize>)| EventSpan {
            event: s.event,
            span: s.offset + own.start..s.offset + own.end,
        };
        self.touching(span).map(part).collect()
    }

    /// Returns the bytes of the Markdown that a span comes from. Where the Markdown differs from
    /// the text (entities, code), that is the whole source of the event.
    pub(in crate::post) fn source(&self, span: &Range<usize>) -> Range<usize> {
        let source = |(s, own): (&Segment, Range<usize>)| {
            let start = s.source.start;
            if s.exact { start + own.start..start + own.end } else { s.source.clone() }
        };
        let all = self.touching(span).map(source);
        all.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0)
    }

    fn push(
        &mut self,
        text: &str,
        event: usize,
        source: &Range<usize>,
        within: Option<&'static str>,
    ) {
        let exact = source.len() == text.len();
        let mut at = 0;
        for (n, part) in text.split(OPEN).enumerate() {
            let plain = if n == 0 {
                part
            } else {
                let Some((place, rest)) = part.split_once(CLOSE) else { continue };
                match MarkdownPlace::read(place) {
                    Some(MarkdownPlace::Number(number)) => {
                        self.numbers.push(PlacedNumber { at: self.text.len(), number, within });
                        self.text.push(NUMBER);
                    }
                    _ => self.text.push('\n'),
                }
                at += OPEN.len_utf8() + place.len() + CLOSE.len_utf8();
                rest
            };
            if !plain.is_empty() {
                let start = source.start + at;
                let source = if exact { start..start + plain.len() } else { source.clone() };
                let own = self.text.len()..self.text.len() + plain.len();
                self.segments.push(Segment { own, event, offset: at, source, exact });
                self.text.push_str(plain);
            }
            at += plain.len();
        }
    }
}

/// Parser options for the Markdown of posts.
pub(in crate::post) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Parses a post's Markdown into events, each with the bytes that it comes from.
pub(in crate::post) fn events(markdown: &str) -> Vec<(Event<'_>, Range<usize>)> {
    Parser::new_ext(markdown, OPTIONS).into_offset_iter().collect()
}

/// Splits the text of a post into stretches.
pub(in crate::post) fn stretches(events: &[(Event<'_>, Range<usize>)]) -> Vec<Stretch> {
    let mut out = Vec::new();
    let mut open = Stretch::new(StretchKind::Text);
    let mut titles: Vec<String> = Vec::new();
    let mut within: Vec<&'static str> = Vec::new();
    let (mut in_head, mut column) = (false, 0);
    for (i, (event, source)) in events.iter().enumerate() {
        let next = match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                open.push(text, i, source, within.last().copied());
                continue;
            }
            Event::Code(text) => {
                open.push(text, i, source, Some("code"));
                continue;
            }
            Event::SoftBreak | Event::HardBreak => {
                open.text.push('\n');
                continue;
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => {
                within.push("a link");
                continue;
            }
            Event::Start(Tag::Strikethrough) => {
                within.push("struck text");
                continue;
            }
            Event::End(TagEnd::Link | TagEnd::Image | TagEnd::Strikethrough) => {
                within.pop();
                continue;
            }
            Event::Start(Tag::Emphasis | Tag::Strong)
            | Event::End(TagEnd::Emphasis | TagEnd::Strong) => continue,
            Event::Start(Tag::Heading { .. }) => StretchKind::Heading,
            Event::Start(Tag::CodeBlock(_)) => StretchKind::Code,
            Event::Start(Tag::TableCell) => StretchKind::Cell,
            _ => StretchKind::Text,
        };
        match event {
            Event::Start(Tag::Table(_)) => titles.clear(),
            Event::Start(Tag::TableHead) => in_head = true,
            Event::End(TagEnd::TableHead) => in_head = false,
            Event::Start(Tag::TableRow) => column = 0,
            Event::End(TagEnd::TableCell) if in_head => titles.push(open.text.clone()),
            _ => {}
        }
        out.push(std::mem::replace(&mut open, Stretch::new(next)));
        if next == StretchKind::Cell && !in_head {
            open.title = titles.get(column).cloned().unwrap_or_default();
            column += 1;
        }
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event {
            open.fenced = Some(source.clone());
        }
        within.clear();
        within.extend(match next {
            StretchKind::Heading => Some("a heading"),
            StretchKind::Code => Some("code"),
            _ => None,
        });
    }
    out.push(open);
    out.retain(|s| !s.text.trim().is_empty());
    out
}
