//! What a reader reads in a row: the text of a paragraph, a heading, an item or a cell after Markdown was
//! rendered, with the way back to the event and the byte that each part comes from.

use std::fmt::Write as _;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

use super::atoms::{COMPARING, COMPUTED};
use crate::post::read::{CLOSE, OPEN};

/// What a stretch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::post) enum Kind {
    Text,
    Heading,
    Cell,
    Code,
}

/// A part of a stretch that one event made.
#[derive(Debug, Clone)]
struct Segment {
    /// Where it begins in the stretch.
    at: usize,
    len: usize,
    event: usize,
    /// Where it begins in the text of the event.
    offset: usize,
    /// Its bytes in the Markdown.
    source: Range<usize>,
    /// Whether it is code within a line.
    code: bool,
}

/// A stretch.
#[derive(Debug, Clone)]
pub(in crate::post) struct Stretch {
    pub(in crate::post) text: String,
    pub(in crate::post) kind: Kind,
    segments: Vec<Segment>,
    /// The head of the column that a cell stands in.
    pub(in crate::post) context: String,
    /// Computed numbers by their offsets in the text.
    pub(in crate::post) computed: Vec<(usize, usize)>,
}

/// A place in the text of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) event: usize,
    pub(super) span: Range<usize>,
}

impl Stretch {
    fn new(kind: Kind) -> Self {
        Stretch {
            text: String::new(),
            kind,
            segments: Vec::new(),
            context: String::new(),
            computed: Vec::new(),
        }
    }

    fn touching(&self, span: &Range<usize>) -> impl Iterator<Item = (&Segment, Range<usize>)> {
        let from = self.segments.partition_point(|s| s.at + s.len <= span.start);
        let near = self.segments[from..].iter().take_while(|s| s.at < span.end);
        near.filter_map(move |s| {
            let own = span.start.max(s.at)..span.end.min(s.at + s.len);
            (own.start < own.end).then_some((s, own))
        })
    }

    /// The places in events that a span of the text comes from.
    pub(super) fn parts(&self, span: &Range<usize>) -> Vec<Part> {
        self.touching(span)
            .map(|(s, own)| {
                let back = |at: usize| at - s.at + s.offset;
                Part { event: s.event, span: back(own.start)..back(own.end) }
            })
            .collect()
    }

    /// Where a span begins and ends in the Markdown. Where an event is not written as it reads (entities, code),
    /// the whole of it stands for a part.
    pub(in crate::post) fn source(&self, span: &Range<usize>) -> Range<usize> {
        let mut out: Option<Range<usize>> = None;
        for (s, own) in self.touching(span) {
            let exact = s.source.len() == s.len && !s.code;
            let here = if exact {
                s.source.start + (own.start - s.at)..s.source.start + (own.end - s.at)
            } else {
                s.source.clone()
            };
            out = Some(match out {
                None => here,
                Some(o) => o.start.min(here.start)..o.end.max(here.end),
            });
        }
        out.unwrap_or(0..0)
    }

    /// Whether all of a span is code within a line, and not all of that code.
    pub(in crate::post) fn within_code(&self, span: &Range<usize>) -> bool {
        let mut any = false;
        for (s, _) in self.touching(span) {
            any = true;
            let own = self.text[s.at..s.at + s.len].trim();
            let whole = own.len() <= self.text[span.clone()].trim().len() + 1;
            if !s.code || whole {
                return false;
            }
        }
        any
    }

    fn push(&mut self, text: &str, mut segment: Segment, compares: &impl Fn(usize) -> bool) {
        let whole = segment.source.clone();
        let exact = whole.len() == text.len();
        let mut at = 0;
        for (n, part) in text.split(OPEN).enumerate() {
            let plain = if n == 0 {
                part
            } else {
                let Some((place, rest)) = part.split_once(CLOSE) else { continue };
                if let Some(number) = place.strip_prefix('n').and_then(|n| n.parse().ok()) {
                    self.computed.push((self.text.len(), number));
                    self.text.push(if compares(number) { COMPARING } else { COMPUTED });
                } else {
                    self.text.push('\n');
                }
                at += OPEN.len_utf8() + place.len() + CLOSE.len_utf8();
                rest
            };
            if !plain.is_empty() {
                let source = if exact {
                    whole.start + at..whole.start + at + plain.len()
                } else {
                    whole.clone()
                };
                segment = Segment {
                    at: self.text.len(),
                    len: plain.len(),
                    offset: at,
                    source,
                    ..segment
                };
                self.segments.push(segment.clone());
                self.text.push_str(plain);
            }
            at += plain.len();
        }
    }
}

/// The events of a post's Markdown, with the bytes that they come from.
pub(in crate::post) fn events(markdown: &str) -> Vec<(Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(markdown, options).into_offset_iter().collect()
}

/// What is read in a row. `compares` says which computed numbers compare.
pub(in crate::post) fn stretches(
    events: &[(Event<'_>, Range<usize>)],
    compares: impl Fn(usize) -> bool,
) -> Vec<Stretch> {
    let mut out = Vec::new();
    let mut open = Stretch::new(Kind::Text);
    let mut kind = Kind::Text;
    let mut heads: Vec<String> = Vec::new();
    let (mut in_head, mut column) = (false, 0);
    for (i, (event, source)) in events.iter().enumerate() {
        let segment =
            |code| Segment { at: 0, len: 0, event: i, offset: 0, source: source.clone(), code };
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                open.push(text, segment(false), &compares);
            }
            Event::Code(text) => open.push(text, segment(true), &compares),
            Event::SoftBreak | Event::HardBreak => open.text.push('\n'),
            Event::Start(tag) => {
                match tag {
                    Tag::Table(_) => heads.clear(),
                    Tag::TableHead => in_head = true,
                    Tag::TableRow => column = 0,
                    _ => {}
                }
                let next = match tag {
                    Tag::Heading { .. } => Some(Kind::Heading),
                    Tag::TableCell => Some(Kind::Cell),
                    Tag::CodeBlock(_) => Some(Kind::Code),
                    Tag::Emphasis
                    | Tag::Strong
                    | Tag::Strikethrough
                    | Tag::Link { .. }
                    | Tag::Image { .. } => None,
                    _ => Some(Kind::Text),
                };
                if let Some(next) = next {
                    out.push(std::mem::replace(&mut open, Stretch::new(next)));
                    kind = next;
                }
                if matches!(tag, Tag::TableCell) && !in_head {
                    open.context = heads.get(column).cloned().unwrap_or_default();
                    column += 1;
                }
            }
            Event::End(tag) => {
                match tag {
                    TagEnd::TableCell if in_head => heads.push(open.text.clone()),
                    TagEnd::TableHead => in_head = false,
                    _ => {}
                }
                if !matches!(
                    tag,
                    TagEnd::Emphasis
                        | TagEnd::Strong
                        | TagEnd::Strikethrough
                        | TagEnd::Link
                        | TagEnd::Image
                ) {
                    out.push(std::mem::replace(&mut open, Stretch::new(Kind::Text)));
                    kind = Kind::Text;
                }
            }
            _ => {}
        }
        open.kind = kind;
    }
    out.push(open);
    out.retain(|s| !s.text.trim().is_empty());
    out
}

/// The events with places around the parts: what opens one says which it is.
pub(super) fn with_places<'a>(
    events: Vec<(Event<'a>, Range<usize>)>,
    mut parts: Vec<(Part, String)>,
) -> Vec<Event<'a>> {
    parts.sort_by_key(|(part, _)| (part.event, part.span.start));
    let mut events: Vec<Event<'a>> = events.into_iter().map(|(e, _)| e).collect();
    for of_event in parts.chunk_by(|(a, _), (b, _)| a.event == b.event) {
        let at = of_event[0].0.event;
        let mark = |text: &CowStr<'a>| -> CowStr<'a> {
            let mut out = String::with_capacity(text.len() + of_event.len() * 12);
            let mut done = 0;
            // Places do not stand inside each other: a word that compares is no quantity.
            for (part, what) in of_event.iter().filter(|(part, _)| part.span.end <= text.len()) {
                let span = part.span.start.max(done)..part.span.end;
                if span.is_empty() {
                    continue;
                }
                out.push_str(&text[done..span.start]);
                let _ = write!(out, "{OPEN}{what}{CLOSE}{}{OPEN}/{CLOSE}", &text[span.clone()]);
                done = span.end;
            }
            out.push_str(&text[done..]);
            out.into()
        };
        let marked = match &events[at] {
            Event::Text(t) | Event::Html(t) | Event::InlineHtml(t) => Event::Text(mark(t)),
            Event::Code(t) => Event::Code(mark(t)),
            _ => continue,
        };
        events[at] = marked;
    }
    events
}
