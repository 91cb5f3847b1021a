//! Marks the places of typed quantities in a post's events and in its Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event};

use super::stretch::{EventSpan, Stretch, events};
use crate::post::read::{CLOSE, OPEN};
use assay_report::document::markdown::line;

/// The places of typed quantities in a post's Markdown.
#[derive(Debug, Clone, Default)]
pub(in crate::post) struct Marks {
    parts: Vec<EventSpan>,
    /// Offsets in the Markdown at which a dagger is written.
    ends: Vec<usize>,
    /// Quantities in blocks of code, by the bytes of the block. The text of the block is unchanged;
    /// a line after it lists the quantities.
    fenced: BTreeMap<(usize, usize), Vec<String>>,
}

impl Marks {
    /// Records the place of a quantity.
    pub(in crate::post) fn add(&mut self, stretch: &Stretch, span: &Range<usize>) {
        self.parts.extend(stretch.parts(span));
        match &stretch.fenced {
            Some(block) => {
                let all = self.fenced.entry((block.start, block.end)).or_default();
                all.push(stretch.text[span.clone()].to_owned());
            }
            None => self.ends.push(stretch.source(span).end),
        }
    }
}

/// Returns the events of a post with places around typed quantities.
pub(in crate::post) fn events_of<'a>(markdown: &'a str, marks: &Marks) -> Vec<Event<'a>> {
    let mut parts = marks.parts.clone();
    parts.sort_by_key(|part| (part.event, part.span.start));
    let mut events: Vec<Event<'a>> = events(markdown).into_iter().map(|(e, _)| e).collect();
    for of_event in parts.chunk_by(|a, b| a.event == b.event) {
        let mark = |text: &CowStr<'a>| -> CowStr<'a> {
            let mut out = String::with_capacity(text.len() + of_event.len() * 12);
            let mut done = 0;
            for span in of_event.iter().map(|part| &part.span).filter(|span| span.end <= text.len())
            {
                out.push_str(&text[done..span.start]);
                let _ = write!(out, "{OPEN}t{CLOSE}{}{OPEN}/{CLOSE}", &text[span.clone()]);
                done = span.end;
            }
            out.push_str(&text[done..]);
            out.into()
        };
        let event = &mut events[of_event[0].event];
        match event {
            Event::Text(t) | Event::Html(t) | Event::InlineHtml(t) | Event::Code(t) => *t = mark(t),
            _ => {}
        }
    }
    events
}

/// Returns the Markdown with a dagger after every typed quantity.
pub(in crate::post) fn daggers(markdown: &str, marks: &Marks) -> String {
    let dagger = |at: &usize| (*at, "†".to_owned());
    let mut added: BTreeMap<usize, String> = marks.ends.iter().map(dagger).collect();
    for ((start, end), typed) in &marks.fenced {
        // The block may be inside lists and quotations; the line after it must be inside the same.
        let first = markdown[..*start].rfind('\n').map_or(0, |at| at + 1);
        let outer: String = markdown[first..*start]
            .chars()
            .map(|c| if matches!(c, '>' | '\t') { c } else { ' ' })
            .collect();
        let newline = if markdown[..*end].ends_with('\n') { "" } else { "\n" };
        let words = line(&typed.join(", "));
        added.insert(
            *end,
            format!("{newline}{outer}\n{outer}† typed in the block above: {words}\n{outer}\n"),
        );
    }
    let mut out = String::with_capacity(markdown.len() + added.len() * 3);
    let mut at = 0;
    for (end, text) in added {
        out.push_str(&markdown[at..end]);
        out.push_str(&text);
        at = end;
    }
    out + &markdown[at..]
}
