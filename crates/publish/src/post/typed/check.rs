//! Records the quantities that were typed in a post's text, in the texts of its calls and in its
//! front matter.

use std::ops::Range;

use super::Marks;
use super::detect::find;
use super::stretch::{NUMBER, Stretch};
use crate::post::arguments::Arguments;
use crate::post::document::TypedQuantity;
use crate::post::error::Result;
use crate::post::evaluator::Evaluator;
use crate::post::front::FrontMatter;

/// Largest number of typed quantities in a post: each is kept with its sentence and its place.
const MAX_TYPED: usize = 50_000;
/// Number of characters on each side of a quantity that are cited with it.
const CITED: usize = 60;

impl Evaluator<'_> {
    /// Records the quantities of the text, and returns their places.
    ///
    /// # Errors
    /// There are more than 50,000.
    pub(in crate::post) fn typed(&mut self, all: &[Stretch]) -> Result<Marks> {
        let mut marks = Marks::default();
        for stretch in all {
            let place = stretch.kind.name();
            for span in find(&stretch.text, &self.exempt) {
                if self.typed.len() == MAX_TYPED {
                    let message = format!("more than {MAX_TYPED} numbers are typed in the text");
                    return Err(self.text.whole(message, "make several posts of it"));
                }
                let at = self.at(stretch.source(&span).start);
                self.typed.push(quantity(&stretch.text, &span, place, Some(at)));
                marks.add(stretch, &span);
            }
        }
        Ok(marks)
    }

    /// Records the quantities of a text outside of the Markdown (a title, a caption, a name), and
    /// returns the text with a dagger after each.
    pub(in crate::post) fn typed_text(
        &mut self,
        text: &str,
        place: &'static str,
        at: Option<Range<usize>>,
    ) -> String {
        let at = at.map(|span| self.text.place(span.start));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for span in find(text, &self.exempt) {
            self.typed.push(quantity(text, &span, place, at));
            out.push_str(&text[done..span.end]);
            out.push('†');
            done = span.end;
        }
        out + &text[done..]
    }

    /// Returns the text of an argument with a dagger after each quantity, and records the
    /// quantities; `None` if the argument is not given.
    pub(in crate::post) fn typed_argument(
        &mut self,
        a: &Arguments<'_>,
        name: &str,
        place: &'static str,
    ) -> Result<Option<String>> {
        let text = a.text(name)?;
        Ok(text.map(|text| self.typed_text(text, place, Some(a.span_of(name)))))
    }

    /// Returns the front matter as it is printed: its quantities are recorded and marked.
    pub(in crate::post) fn front_words(&mut self) -> FrontMatter {
        let mut front = self.front.clone();
        let at = |key: &str| Some(self.text.key(key));
        let (title, summary, tags) = (at("title"), at("summary"), at("tags"));
        let (sources, trademarks, licensee) = (at("sources"), at("trademarks"), at("licensee"));
        front.title = self.typed_text(&front.title, "title", title);
        front.summary = self.typed_text(&front.summary, "summary", summary);
        for tag in &mut front.tags {
            *tag = self.typed_text(tag, "tag", tags.clone());
        }
        for (at, lines) in [(sources, &mut front.sources), (trademarks, &mut front.trademarks)] {
            for line in lines {
                *line = self.typed_text(line, "disclosure", at.clone());
            }
        }
        front.licensee = front.licensee.map(|who| self.typed_text(&who, "disclosure", licensee));
        front
    }

    /// Returns the line and column in the template for a byte of the Markdown.
    pub(in crate::post) fn at(&mut self, markdown: usize) -> (usize, usize) {
        let there = self.template_byte(markdown);
        // Counts on from the last place, if that is before this one.
        let (from, (line, column)) = self.cursor;
        let place = match self.text.text.get(from..there) {
            Some(since) => match since.rsplit_once('\n') {
                None => (line, column + since.chars().count()),
                Some((before, last)) => {
                    (line + before.matches('\n').count() + 1, last.chars().count() + 1)
                }
            },
            None => self.text.place(there),
        };
        self.cursor = (there, place);
        place
    }
}

fn quantity(
    text: &str,
    span: &Range<usize>,
    place: &'static str,
    at: Option<(usize, usize)>,
) -> TypedQuantity {
    let ends = |c: &char| matches!(c, '.' | '!' | '?');
    let before: Vec<char> = text[..span.start].chars().rev().take(CITED).collect();
    let stop =
        |i: usize| ends(&before[i]) && i.checked_sub(1).is_none_or(|j| before[j].is_whitespace());
    let from = (0..before.len()).find(|i| stop(*i)).unwrap_or(before.len());
    let after: String = text[span.end..].chars().take(CITED).collect();
    let ends_here = |(i, c): &(usize, char)| {
        ends(c) && !after[i + 1..].starts_with(|c: char| !c.is_whitespace())
    };
    let to = after.char_indices().find(ends_here);
    let sentence: String = before[..from].iter().rev().collect::<String>()
        + &text[span.clone()]
        + &after[..to.map_or(after.len(), |(i, _)| i + 1)];
    let words: Vec<&str> = sentence.split_whitespace().collect();
    TypedQuantity {
        text: text[span.clone()].to_owned(),
        place,
        line: at.map(|a| a.0),
        column: at.map(|a| a.1),
        sentence: words.join(" ").replace(NUMBER, "…"),
    }
}
