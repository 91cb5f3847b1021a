//! HTML as tags and the text between them, by the tokenizer of the HTML standard.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

pub(crate) enum Piece<'a> {
    /// Text as the page has it, with its entities, and where it stands.
    Text { at: usize, text: &'a str },
    /// A tag, and how many columns and rows it spans.
    Tag { name: String, closing: bool, columns: usize, rows: usize },
}

/// What an attribute tells of a cell.
#[derive(PartialEq)]
enum Spans {
    Nothing,
    Columns,
    Rows,
}

/// The longest entity has 33 bytes.
const MAX_ENTITY: usize = 33;

/// Splits HTML into tags and the text between them; comments and declarations are dropped.
pub(crate) fn pieces(html: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut spans = Spans::Nothing;
    tokens(html, |event, span| match event {
        CallbackEvent::String { .. } => {
            let text = html.get(span.start..span.end).unwrap_or_default();
            pieces.push(Piece::Text { at: span.start, text });
        }
        CallbackEvent::OpenStartTag { name } => pieces.push(tag(name, false)),
        CallbackEvent::EndTag { name } => pieces.push(tag(name, true)),
        CallbackEvent::AttributeName { name } => {
            spans = match name {
                b"colspan" => Spans::Columns,
                b"rowspan" => Spans::Rows,
                _ => Spans::Nothing,
            }
        }
        CallbackEvent::AttributeValue { value } if spans != Spans::Nothing => {
            if let Some(Piece::Tag { columns, rows, .. }) = pieces.last_mut() {
                let number = str::from_utf8(value).ok().and_then(|v| v.trim().parse().ok());
                let number = number.map_or(1, |n: usize| n.clamp(1, 64));
                *(if spans == Spans::Rows { rows } else { columns }) = number;
            }
        }
        _ => {}
    });
    pieces
}

/// The entity at the start of `text` (which starts with `&`): its length and what it stands for.
pub(crate) fn entity(text: &str) -> (usize, String) {
    let bare = (1, "&".to_owned());
    let Some(end) = text.bytes().take(MAX_ENTITY).position(|b| b == b';') else { return bare };
    let mut read = Vec::new();
    tokens(&text[..=end], |event, _| {
        if let CallbackEvent::String { value } = event {
            read.extend_from_slice(value);
        }
    });
    match String::from_utf8(read) {
        Ok(read) if read.len() <= end && !read.contains(|c: char| c.is_control() && c != '\n') => {
            (end + 1, read)
        }
        _ => bare,
    }
}

fn tag(name: &[u8], closing: bool) -> Piece<'static> {
    Piece::Tag { name: String::from_utf8_lossy(name).into_owned(), closing, columns: 1, rows: 1 }
}

fn tokens(html: &str, mut each: impl FnMut(CallbackEvent<'_>, Span<usize>)) {
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, span: Span<usize>| {
        each(event, span);
        None::<Infallible>
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
}
