//! Reads the text and tables of HTML with a tokenizer that follows the HTML standard.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::{Grid, MAX_COLUMNS, is_numeric, plain};
use crate::tables::blocks::{BlockCollector, BlockKind};

/// Elements whose content is not visible text.
const HIDDEN: [&str; 7] = ["script", "style", "head", "template", "noscript", "svg", "textarea"];

/// Elements that end the block before them and inside them.
const BLOCKS: [&str; 28] = [
    "p",
    "div",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "li",
    "blockquote",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "form",
    "center",
    "figure",
    "figcaption",
    "hr",
    "address",
    "nav",
    "aside",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "body",
];

/// Maximum number of columns or rows that a cell spans; larger spans are reduced to it.
const MAX_SPAN: usize = 64;

/// A cell that is being read.
struct OpenCell {
    line: usize,
    text: String,
    columns: usize,
    rows: usize,
}

/// A table that is being read.
#[derive(Default)]
struct OpenTable {
    line: usize,
    caption: Option<String>,
    in_caption: bool,
    rows: Vec<(usize, Vec<String>, bool)>,
    cell: Option<OpenCell>,
    /// For each column, the number of further rows that a cell from above spans, and its text.
    reaching: Vec<(usize, String)>,
    /// True if the table contains another table, and so serves for layout.
    layout: bool,
}

impl OpenTable {
    fn start_row(&mut self, line: usize) {
        self.end_cell();
        self.rows.push((line, Vec::new(), true));
    }

    fn start_cell(&mut self, line: usize, heading: bool) {
        self.end_cell();
        if self.rows.is_empty() {
            self.start_row(line);
        }
        if let Some((_, _, all_headings)) = self.rows.last_mut() {
            *all_headings &= heading;
        }
        self.cell = Some(OpenCell { line, columns: 1, rows: 1, text: String::new() });
    }

    fn end_cell(&mut self) {
        let (Some(cell), Some((_, cells, headings))) = (self.cell.take(), self.rows.last_mut())
        else {
            return;
        };
        fill(cells, &mut self.reaching);
        for i in 0..cell.columns {
            // A heading applies to all columns that it spans, a value only to the first one.
            let text = if i == 0 || *headings { cell.text.clone() } else { String::new() };
            if self.reaching.len() <= cells.len() {
                self.reaching.resize(cells.len() + 1, (0, String::new()));
            }
            self.reaching[cells.len()] = (cell.rows - 1, text.clone());
            if cells.len() < MAX_COLUMNS {
                cells.push(text);
            } else {
                break;
            }
        }
        // Add cells from above that span into the next columns.
        fill(cells, &mut self.reaching);
    }

    fn end(mut self, reader: &mut BlockCollector) {
        self.end_cell();
        self.rows.retain(|(_, cells, _)| cells.iter().any(|c| !c.trim().is_empty()));
        let is_data = |cells: &[String]| cells.iter().any(|c| is_numeric(c.trim()));
        let headers = self.rows.iter().take_while(|(_, _, heading)| *heading).count();
        let unmarked = headers == 0
            && self.rows.len() > 1
            && !is_data(&self.rows[0].1)
            && self.rows[1..].iter().any(|(_, cells, _)| is_data(cells));
        let mut header: Vec<String> = Vec::new();
        let body = self.rows.split_off(if unmarked { 1 } else { headers });
        for (_, cells, _) in self.rows {
            header.resize(header.len().max(cells.len()), String::new());
            for (title, cell) in header.iter_mut().zip(&cells) {
                if title.trim() != cell.trim() {
                    title.push(' ');
                    title.push_str(cell);
                }
            }
        }
        let rows: Vec<(usize, Vec<String>)> =
            body.into_iter().map(|(l, cells, _)| (l, cells)).collect();
        let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        if self.layout || columns < 2 {
            for (line, cells) in rows {
                for cell in cells {
                    reader.push(&cell, line);
                    reader.end();
                }
            }
            return;
        }
        let title = self.caption.map(|c| super::normalized(&c));
        reader.grid(Grid { title, line: self.line, header, rows });
    }
}

/// Adds the texts of cells from above that span into the next columns of a row.
fn fill(cells: &mut Vec<String>, reaching: &mut [(usize, String)]) {
    while let Some((rows, text)) = reaching.get_mut(cells.len()).filter(|(rows, _)| *rows > 0) {
        *rows -= 1;
        cells.push(text.clone());
    }
}

/// State of the reader of a page.
struct PageReader<'a> {
    reader: &'a mut BlockCollector,
    tables: Vec<OpenTable>,
    hidden: Option<String>,
    pre: Option<(usize, String)>,
    attribute: Option<bool>,
    error: Option<(usize, String)>,
}

/// Reads a page whose first line is line number `line` of the source. A table or tag that is never
/// closed is an error, because it would silently swallow the rest of the text.
pub(crate) fn read(
    reader: &mut BlockCollector,
    source: &str,
    line: usize,
) -> Result<(), (usize, String)> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(source.match_indices('\n').map(|(i, _)| i + 1)).collect();
    let line_at = |at: usize| line + starts.partition_point(|s| *s <= at) - 1;
    let mut page = PageReader {
        reader,
        tables: Vec::new(),
        hidden: None,
        pre: None,
        attribute: None,
        error: None,
    };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, span: Span<usize>| {
        page.event(&event, line_at(span.start));
        None::<Infallible>
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(source, emitter).finish();
    page.reader.end();
    if let Some(open) = page.tables.first() {
        return Err((open.line, "this <table> is never closed: add </table>".to_owned()));
    }
    if let Some((line, _)) = page.pre {
        return Err((line, "this <pre> is never closed: add </pre>".to_owned()));
    }
    page.error.map_or(Ok(()), Err)
}

impl PageReader<'_> {
    fn event(&mut self, event: &CallbackEvent<'_>, line: usize) {
        match event {
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value), line),
            CallbackEvent::OpenStartTag { name } => {
                self.attribute = None;
                self.start(&String::from_utf8_lossy(name), line);
            }
            CallbackEvent::EndTag { name } => self.end(&String::from_utf8_lossy(name), line),
            CallbackEvent::AttributeName { name } => {
                self.attribute = match *name {
                    b"colspan" => Some(true),
                    b"rowspan" => Some(false),
                    _ => None,
                };
            }
            CallbackEvent::AttributeValue { value } => {
                let span = str::from_utf8(value).ok().and_then(|v| v.trim().parse::<usize>().ok());
                let cell = self.tables.last_mut().and_then(|t| t.cell.as_mut());
                if let (Some(columns), Some(cell)) = (self.attribute, cell) {
                    let span = span.unwrap_or(1).clamp(1, MAX_SPAN);
                    *(if columns { &mut cell.columns } else { &mut cell.rows }) = span;
                }
            }
            CallbackEvent::Error(error) if error.to_string().starts_with("eof-in") => {
                let message = "the file ends inside of a tag or comment: close it".to_owned();
                self.error.get_or_insert((line, message));
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, line: usize) {
        if self.hidden.is_some() {
            return;
        }
        if let Some((_, own)) = &mut self.pre {
            own.push_str(text);
            return;
        }
        match self.tables.last_mut() {
            Some(OpenTable { cell: Some(cell), .. }) => cell.text.push_str(text),
            Some(OpenTable { in_caption: true, caption, .. }) => {
                caption.get_or_insert_default().push_str(text);
            }
            Some(_) if text.trim().is_empty() => {}
            _ => self.reader.push(text, line),
        }
    }

    fn start(&mut self, name: &str, line: usize) {
        if self.hidden.is_some() {
            return;
        }
        if HIDDEN.contains(&name) {
            self.hidden = Some(name.to_owned());
            return;
        }
        match name {
            "table" => {
                self.reader.end();
                if let Some(outer) = self.tables.last_mut() {
                    outer.layout = true;
                    if let Some(cell) = &mut outer.cell {
                        self.reader.push(&std::mem::take(&mut cell.text), cell.line);
                        self.reader.end();
                    }
                }
                self.tables.push(OpenTable { line, ..OpenTable::default() });
            }
            "pre" if self.pre.is_none() => {
                self.reader.end();
                self.pre = Some((line, String::new()));
            }
            "br" => self.text("\n", line),
            _ => match self.tables.last_mut() {
                Some(table) => match name {
                    "tr" => table.start_row(line),
                    "td" | "th" => table.start_cell(line, name == "th"),
                    "caption" => table.in_caption = true,
                    _ if BLOCKS.contains(&name) => self.text(" ", line),
                    _ => {}
                },
                None if BLOCKS.contains(&name) => self.reader.end(),
                None => {}
            },
        }
    }

    fn end(&mut self, name: &str, line: usize) {
        if self.hidden.is_some() {
            self.hidden.take_if(|hidden| hidden.as_str() == name);
            return;
        }
        match name {
            "table" => {
                if let Some(table) = self.tables.pop() {
                    table.end(self.reader);
                }
            }
            "pre" => {
                if let Some((from, text)) = self.pre.take() {
                    if self.tables.is_empty() {
                        plain::read(self.reader, &text, from, BlockKind::Data);
                    } else {
                        self.text(&text, line);
                    }
                }
            }
            _ => match self.tables.last_mut() {
                Some(table) => match name {
                    "td" | "th" | "tr" => table.end_cell(),
                    "caption" => table.in_caption = false,
                    _ if BLOCKS.contains(&name) => self.text(" ", line),
                    _ => {}
                },
                None if BLOCKS.contains(&name) => self.reader.end(),
                None => {}
            },
        }
    }
}
