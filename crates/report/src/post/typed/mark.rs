//! Places of what was typed, kept with a post, and restored into its events and its Markdown.

use pulldown_cmark::Event;

use super::stretch::{Kind, Part, Stretch, events, with_places};

/// The places of typed quantities (`t0`) and comparing words (`c0`) in a post's Markdown.
#[derive(Debug, Clone, Default)]
pub(in crate::post) struct Marks(Vec<Mark>);

#[derive(Debug, Clone)]
struct Mark {
    what: String,
    parts: Vec<Part>,
    /// Where it ends in the Markdown; `None` in a block of code, which stays as it is.
    end: Option<usize>,
}

impl Marks {
    /// Keeps a place of a stretch.
    pub(in crate::post) fn add(
        &mut self,
        stretch: &Stretch,
        span: &std::ops::Range<usize>,
        what: String,
    ) {
        let end = (stretch.kind != Kind::Code).then(|| stretch.source(span).end);
        self.0.push(Mark { what, parts: stretch.parts(span), end });
    }
}

/// The events of a post with places around what was typed.
pub(in crate::post) fn events_of<'a>(markdown: &'a str, marks: &Marks) -> Vec<Event<'a>> {
    let parts =
        marks.0.iter().flat_map(|m| m.parts.iter().map(|p| (p.clone(), m.what.clone()))).collect();
    with_places(events(markdown), parts)
}

/// The Markdown with a dagger behind what was typed and nothing decides.
pub(in crate::post) fn daggers(
    markdown: &str,
    marks: &Marks,
    dagger: impl Fn(&str) -> bool,
) -> String {
    let mut ends: Vec<usize> =
        marks.0.iter().filter(|m| dagger(&m.what)).filter_map(|m| m.end).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut out = String::with_capacity(markdown.len() + ends.len() * 3);
    let mut at = 0;
    for end in ends.into_iter().filter(|e| markdown.is_char_boundary(*e)) {
        out.push_str(&markdown[at..end]);
        out.push('†');
        at = end;
    }
    out.push_str(&markdown[at..]);
    out
}
