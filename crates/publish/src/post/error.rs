//! Errors in a template, with their places.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet, renderer::DecorStyle};
use assay_model::nearest;

/// The result of reading or evaluating a template.
pub(super) type Result<T, E = PostError> = std::result::Result<T, E>;

/// The lines of a template that contain an error.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ErrorExcerpt {
    /// Number of the first line.
    first: usize,
    lines: String,
    /// Bytes of `lines` that are wrong.
    span: Range<usize>,
}

/// An error in a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct PostError {
    /// Name of the template as the user gave it.
    pub file: String,
    /// Line and column (in characters) of the error, from 1; `None` for an error about the whole
    /// file.
    pub place: Option<(usize, usize)>,
    /// Description of the error.
    pub message: String,
    /// Suggested correction; empty if the message contains it.
    pub help: String,
    /// Bytes of the error; empty for an error about the whole file.
    pub(super) span: Range<usize>,
    shown: Option<Box<ErrorExcerpt>>,
}

impl PostError {
    /// Formats the error with the lines of the template that contain it.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = match &self.shown {
            Some(shown) => title.element(
                Snippet::source(shown.lines.as_str())
                    .path(self.file.as_str())
                    .line_start(shown.first)
                    .annotation(AnnotationKind::Primary.span(shown.span.clone())),
            ),
            None => title.element(Level::NOTE.message(format!("in {}", self.file))),
        };
        if !self.help.is_empty() {
            group = group.element(Level::HELP.message(self.help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// Name and text of a template, for locating errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct TemplateText<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

/// Bytes of a line that are shown before and after an error.
const SHOWN: usize = 240;

impl TemplateText<'_> {
    /// Creates an error about these bytes of the text.
    pub(super) fn error(
        self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> PostError {
        let start = floor(self.text, span.start);
        let end = floor(self.text, span.end.max(start)).max(start);
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        let from =
            if start - line_start > SHOWN { floor(self.text, start - SHOWN) } else { line_start };
        let to = if line_end - start > SHOWN { floor(self.text, start + SHOWN) } else { line_end };
        let place = self.place(start);
        let inside = start - from..end.min(to).max(start) - from;
        PostError {
            file: self.name.to_owned(),
            place: Some(place),
            span: start..end,
            message: message.into(),
            help: help.into(),
            shown: Some(Box::new(ErrorExcerpt {
                first: place.0,
                lines: self.text[from..to].to_owned(),
                span: inside,
            })),
        }
    }

    /// Creates an error about the file as a whole.
    pub(super) fn whole(self, message: impl Into<String>, help: impl Into<String>) -> PostError {
        PostError {
            file: self.name.to_owned(),
            place: None,
            span: 0..0,
            message: message.into(),
            help: help.into(),
            shown: None,
        }
    }

    /// Returns the bytes of a key of the front matter.
    pub(super) fn key(self, key: &str) -> Range<usize> {
        let at = self.text.find(&format!("\n{key}")).map_or(0, |at| at + 1);
        at..at + key.len()
    }

    /// Returns the line and column (in characters), from 1, of a byte of the text.
    pub(super) fn place(self, at: usize) -> (usize, usize) {
        let before = &self.text[..floor(self.text, at)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

/// Returns the nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns `did you mean ...?`, or the known words if they are few.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None if known.len() <= 30 => format!("use one of {}", known.join(", ")),
        None => String::new(),
    }
}
