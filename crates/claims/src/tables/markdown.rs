//! Reads Markdown: its tables, the tables in its code blocks, and its HTML.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{Grid, csv, html, plain};
use crate::tables::blocks::{BlockCollector, BlockKind};

/// Reads a Markdown text.
pub(crate) fn read(reader: &mut BlockCollector, source: &str) -> Result<(), (usize, String)> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(source.match_indices('\n').map(|(i, _)| i + 1)).collect();
    let line = |at: usize| starts.partition_point(|s| *s <= at);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut grid: Option<Grid> = None;
    let mut code: Option<(Option<String>, usize, String)> = None;
    let mut page: Option<(usize, String, usize)> = None;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        let at = line(range.start);
        // Consecutive blocks of HTML form one page, because a table may contain blank lines.
        let in_html = matches!(
            event,
            Event::Html(_) | Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock)
        );
        if !in_html && let Some((from, text, _)) = page.take() {
            html::read(reader, &text, from)?;
        }
        match event {
            Event::Start(Tag::Table(_)) => {
                reader.end();
                grid = Some(Grid { line: at, ..Grid::default() });
            }
            Event::End(TagEnd::Table) => {
                if let Some(grid) = grid.take() {
                    reader.grid(grid);
                }
            }
            Event::Start(Tag::TableRow) => {
                if let Some(grid) = &mut grid {
                    grid.rows.push((at, Vec::new()));
                }
            }
            Event::Start(Tag::TableCell) => {
                if let Some(cells) = grid.as_mut().map(cells) {
                    cells.push(String::new());
                }
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                reader.end();
                let (info, from) = match kind {
                    CodeBlockKind::Fenced(info) => (Some(info.to_string()), at + 1),
                    CodeBlockKind::Indented => (None, at),
                };
                code = Some((info, from, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((info, from, text)) = code.take() {
                    match info.as_deref().map(str::trim) {
                        Some("csv" | "tsv") => csv::read(reader, &text, from),
                        _ => plain::read(reader, &text, from, BlockKind::Data),
                    }
                }
            }
            Event::Html(text) => {
                let (_, page, next) = page.get_or_insert_with(|| (at, String::new(), at));
                // Add the blank lines between two blocks of HTML.
                page.extend(std::iter::repeat_n('\n', at.saturating_sub(*next)));
                page.push_str(&text);
                *next = at.max(*next) + text.matches('\n').count();
            }
            Event::Text(text) | Event::Code(text) => match (&mut code, &mut grid) {
                (Some((.., own)), _) => own.push_str(&text),
                (None, Some(grid)) => {
                    if let Some(cell) = cells(grid).last_mut() {
                        cell.push_str(&text);
                    }
                }
                (None, None) => reader.push(&text, at),
            },
            Event::SoftBreak | Event::HardBreak | Event::InlineHtml(_) => match &mut grid {
                Some(grid) => {
                    if let Some(cell) = cells(grid).last_mut() {
                        cell.push(' ');
                    }
                }
                // The text after a break has its own line number.
                None if !matches!(event, Event::InlineHtml(_)) => reader.push(" ", at),
                None => {}
            },
            Event::Start(Tag::Paragraph | Tag::Item | Tag::Heading { .. } | Tag::BlockQuote(_))
            | Event::End(
                TagEnd::Paragraph | TagEnd::Item | TagEnd::Heading(_) | TagEnd::BlockQuote(_),
            )
            | Event::Rule => reader.end(),
            _ => {}
        }
    }
    match page {
        Some((from, text, _)) => html::read(reader, &text, from),
        None => Ok(()),
    }
}

/// Returns the cells of the current row, or of the header if no row has begun.
fn cells(grid: &mut Grid) -> &mut Vec<String> {
    match grid.rows.last_mut() {
        Some((_, cells)) => cells,
        None => &mut grid.header,
    }
}
